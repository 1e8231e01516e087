// The memory of one probe: its lines by date, with the quoted spans marked.

// The spans of one line: code points, as the records count them.
function spansOf(probe) {
  const spans = new Map();
  for (const t of probe.transitions || []) {
    for (const side of ["old", "new"]) {
      const { entry_id: entry, start, end } = t[side];
      if (!entry || start === undefined || end === undefined) continue;
      if (!spans.has(entry)) spans.set(entry, []);
      spans.get(entry).push({ id: t.id, side, start, end, proved: t.status === "verified" });
    }
  }
  return spans;
}

// Whether spans are of the old or the new state; what was verified decides where it can.
function sidesOf(spans) {
  const proved = spans.filter((s) => s.proved);
  return [...new Set((proved.length ? proved : spans).map((s) => s.side))];
}

function marked(line, spans) {
  const points = Array.from(line);
  const cuts = [...new Set([0, points.length, ...spans.flatMap((s) => [s.start, s.end])])].sort((a, b) => a - b);
  const parts = [];
  for (let i = 0; i + 1 < cuts.length; i += 1) {
    const piece = points.slice(cuts[i], cuts[i + 1]).join("");
    const over = spans.filter((s) => s.start <= cuts[i] && s.end >= cuts[i + 1]);
    if (!over.length) { parts.push(piece); continue; }
    const css = sidesOf(over).join(" ") + (over.some((s) => s.proved) ? "" : " unproved");
    parts.push(el("mark", { class: css, "data-spans": over.map((s) => `${s.id}-${s.side}`).join(" ") }, piece));
    for (const s of over.filter((span) => span.end === cuts[i + 1])) {
      parts.push(el("span", { class: "tag" }, `${s.side} ${s.id}${s.proved ? "" : ", rejected"}`));
    }
  }
  return parts;
}

function readoutSection(item, probe) {
  if (!probe.readout) return [];
  const lines = probe.readout.map(([id, at, step]) => {
    const [date, content, role, session, turn] = item.lines[at];
    return { id, date, content, role, session, turn, step };
  });
  const cited = new Set(probe.cited || []);
  const spans = spansOf(probe);
  const drawn = el("ol", { class: "lines", "aria-label": "Readout, oldest first" }, ...lines.map((line) => el(
    "li", { class: cited.has(line.id) ? "cited" : null, "data-line": line.id, tabindex: "-1" },
    el("span", { class: "id" }, line.id),
    el("span", { class: "when" }, when(line.date)),
    el("span", { class: "what", dir: "auto" }, ...(line.role === "assistant" ? ["(assistant) "] : []), ...marked(line.content, spans.get(line.id) || [])),
  )));
  const quiet = lines.length - lines.filter((line) => cited.has(line.id)).length;
  const rest = el("input", { type: "checkbox" });
  const apply = () => drawn.querySelectorAll("li:not(.cited)").forEach((li) => { li.hidden = !rest.checked; });
  rest.addEventListener("change", apply);
  rest.checked = quiet <= 20;
  apply();
  return [
    el("h4", {}, "Memory timeline and readout"),
    note(`${count(lines.length, "line")}${probe.tokens ? `, about ${probe.tokens.toLocaleString("en")} tokens` : ""}; ${lines.length - quiet} cited by a finding.`
      + (probe.left_out ? ` ${count(probe.left_out, "line")} that no finding cites left out to keep this file small.` : "")),
    ...strip(lines, cited, spans, drawn),
    quiet ? el("label", {}, el("span", {}, rest, ` show the ${count(quiet, "line")} that no finding cites`)) : null,
    spans.size ? note("Old quotations are dotted, new ones solid and bold; each is labelled with its transition.") : null,
    drawn,
  ].filter(Boolean);
}

// One tick a line along the dates; cited lines are buttons that lead to their text.
function strip(lines, cited, spans, drawn) {
  const dated = lines.filter((line) => line.date).map((line) => ({ ...line, time: Date.parse(line.date) }));
  if (dated.length < 2) return [];
  const [first, last] = [dated[0].time, dated[dated.length - 1].time];
  const at = (line) => `${last > first ? (100 * (line.time - first)) / (last - first) : 50}%`;
  const line = el("div", { class: "strip", role: "group", "aria-label": "Cited lines by date" });
  for (const entry of dated) {
    const sides = sidesOf(spans.get(entry.id) || []);
    const made = cited.has(entry.id)
      ? el("button", { type: "button", class: sides.join(" "), "aria-label": `${entry.id}, ${when(entry.date)}${sides.length ? `, ${sides.join(" and ")} quotation` : ""}` }, [entry.id, ...sides].join(" "))
      : el("i", { "aria-hidden": "true" });
    made.style.left = at(entry);
    if (cited.has(entry.id)) {
      made.addEventListener("click", () => {
        const target = [...drawn.children].find((li) => li.dataset.line === entry.id);
        target.focus();
        target.scrollIntoView({ block: "center" });
      });
    }
    line.append(made);
  }
  return [line, el("p", { class: "ends" }, el("span", {}, when(dated[0].date).slice(0, 10)), el("span", {}, when(dated[dated.length - 1].date).slice(0, 10)))];
}
