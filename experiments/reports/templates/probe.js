// One probe in full: what was found, what it led to, and what it cost.

function showDetail({ item, probe }) {
  const back = el("button", { type: "button", id: "back" }, "← Back to the list");
  back.addEventListener("click", backToList);
  const name = [item.type, probe.dimension, item.control ? "control" : "conflict"].filter(Boolean).join(" · ");
  detail.replaceChildren(
    el("h3", {}, name), back, el("p", { class: "note", dir: "auto" }, item.uid), el("p", {}, ...badges(probe)),
    ...problems(item, probe),
    ...(probe.question ? [el("h4", {}, "Question"), text(probe.question)] : []),
    ...replySection(probe),
    ...judgeSection(item, probe),
    ...directiveSection(probe),
    ...transitionSection(probe),
    ...premiseSection(probe),
    ...timelineSection(probe),
    ...readoutSection(item, probe),
    ...callSection(item, probe),
  );
}

function problems(item, probe) {
  const found = [
    ...[item.error, probe.error].filter(Boolean).map((error) => ["error: ", error]),
    ...(probe.failed || []).map((f) => [`${f.role} failed open: `, f.reason]),
    ...(item.judges || []).map((j) => [`judge ${j.judge}: `, j.error]),
  ];
  return found.length ? [el("h4", {}, "Failures"), list(found)] : [];
}

function replySection(probe) {
  if (probe.draft === undefined) return [];
  if (probe.reply === undefined) {
    return [el("h4", {}, "Reply"), note("The reply is the draft, byte for byte."), text(probe.draft)];
  }
  const diff = el("p", { class: "text diff", dir: "auto" });
  for (const [kind, part] of wordDiff(probe.draft, probe.reply)) diff.append(kind ? el(kind, {}, part) : part);
  return [
    el("h4", {}, "Draft against final reply"),
    note("Struck out: only in the draft. Underlined and bold: only in the reply."), diff,
    el("details", {}, el("summary", {}, "The reply alone"), text(probe.reply)),
  ];
}

function judgeSection(item, probe) {
  const found = [];
  if (probe.judged) {
    found.push(el("h4", {}, "Judges"), list(probe.judged.map((j) => [
      badge(`${j.judge}: ${j.passed ? "pass" : "fail"}`, j.passed ? "good" : "bad"), " ",
      typeof j.grounded === "boolean" ? badge(`grounded: ${j.grounded ? "pass" : "fail"}`, j.grounded ? "good" : "bad") : "", " ",
      el("span", { dir: "auto" }, j.reason || "no reason given"),
    ])));
  }
  if (probe.key) {
    const said = Object.entries(probe.key).map(([name, value]) => `${name.replaceAll("_", " ")}: ${value === true ? "yes" : value === false ? "no" : value}`);
    found.push(el("h4", {}, "Key judge (deterministic), not Stale accuracy"), note(said.join(" · ")));
  }
  if (probe.recall) {
    const yes = (value) => (value ? "found" : "not found");
    found.push(note(`Retrieval (offline analysis): old statement ${yes(probe.recall.found_old)}, new statement ${yes(probe.recall.found_new)} in the readout.`));
  }
  return found;
}

const change = (attribute, old, current) => `${attribute || "state"}: ${old || "unknown"} → ${current || "unknown"}`;

function directiveSection(probe) {
  const directives = probe.directives || [];
  if (!directives.length) return probe.transitions || probe.premises ? [el("h4", {}, "Directives"), note("None: nothing had the authority to change the draft.")] : [];
  return [el("h4", {}, "Directives"), list(directives.map((d) => [
    badge(d.kind.replaceAll("_", " "), "good"), " ",
    el("span", { dir: "auto" }, change(d.attribute, d.old_value, d.current_value)), ` (${d.authority})`,
  ]))];
}

const REASONS = {
  ungrounded_old: "the old quotation stands in no line", ungrounded_new: "the new quotation stands in no line",
  cross_entry: "a quotation is put together from two lines", not_newer: "the new evidence is not later than the old",
  missing_value: "a value is missing", same_value: "old and new value are the same",
  not_material: "it does not bear on this reply", short_path: "the causal path has fewer than two steps",
  semantic_gate: "the semantic gate did not agree",
};

function transitionSection(probe) {
  if (!probe.transitions) return [];
  return [el("h4", {}, `Transitions (${probe.transitions.length})`), ...probe.transitions.map((t) => el(
    "div", { class: `card ${t.status}` },
    el("p", {}, badge(t.status, t.status === "verified" ? "good" : "bad"), " ", el("strong", { dir: "auto" }, `${t.id} ${change(t.attribute, t.old_value, t.new_value)}`)),
    quotation("was", t.old), quotation("now", t.new),
    t.path ? el("ol", { class: "path", "aria-label": "Causal path" }, ...t.path.map((step) => el("li", { dir: "auto" }, step))) : note("No causal path."),
    t.reasons ? el("div", {}, el("p", {}, "Rejected because"), list(t.reasons.map((reason) => `${REASONS[reason] || reason} (${reason})`))) : null,
  ))];
}

function quotation(word, match) {
  const place = match.entry_id ? `${match.entry_id}, ${when(match.timestamp)}, ${match.coverage === 1 ? "all" : share(match.coverage || 0)} of its words` : "stands in no line";
  return el("p", {}, `${word} `, el("q", { dir: "auto" }, match.quote || ""), ` (${place})`);
}

const VERDICTS = { VALID: "good", STALE: "bad", UNKNOWN: "warn" };
function premiseSection(probe) {
  if (!probe.premises) return [];
  return [el("h4", {}, `Premises (${probe.premises.length})`), list(probe.premises.map((p) => [
    badge(p.verdict, VERDICTS[p.verdict]), " ", el("span", { dir: "auto" }, p.text),
    p.current_value ? el("span", { dir: "auto" }, ` → ${p.current_value}`) : "",
    ` (from ${p.origin}${p.material ? "" : ", not material"}${p.evidence ? `; ${p.evidence.join(", ")}` : ""})`,
  ]))];
}

function timelineSection(probe) {
  if (!probe.timeline) return [];
  return [el("h4", {}, "Attributes over time"), list(probe.timeline.map((t) => [
    badge(t.status), " ", el("span", { dir: "auto" }, change(t.attribute, t.previous_value, t.current_value)),
    t.evidence ? ` (${t.evidence.join(", ")})` : "",
  ]))];
}

function callSection(item, probe) {
  const calls = [...(probe.calls || []).map((c) => [c, "audit"]), ...(item.calls || []).map((c) => [c, "scenario"])];
  if (!calls.length) return [];
  const cell = (content, css) => el("td", { class: css }, content);
  const money = (cost) => (cost === undefined || cost === null ? "–" : `$${cost.toFixed(4)}`);
  const sum = (field) => calls.reduce((total, [c]) => total + (c[field] || 0), 0);
  const known = calls.every(([c]) => c.cost !== undefined && c.cost !== null);
  const header = ["Role", "Model", "In", "Out", "Cost", "Seconds", "Notes"];
  const row = ([c, place]) => el("tr", {}, el("th", { scope: "row" }, c.role), cell(c.model),
    cell((c.input_tokens || 0).toLocaleString("en"), "number"), cell((c.output_tokens || 0).toLocaleString("en"), "number"),
    cell(money(c.cost), "number"), cell((c.seconds || 0).toFixed(2), "number"),
    cell([place === "scenario" ? "of the scenario" : "", c.cached ? "from the cache" : "", c.dropped ? `${c.dropped} dropped` : "", c.error || ""].filter(Boolean).join("; ")));
  return [
    el("h4", {}, `Calls (${calls.length})`),
    note(`${(sum("input_tokens") + sum("output_tokens")).toLocaleString("en")} tokens, ${known ? money(sum("cost")) : "cost unknown"}, with those of the scenario (generator, judges).`),
    el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": "Calls" }, el("table", {},
      el("thead", {}, el("tr", {}, ...header.map((h) => el("th", { scope: "col" }, h)))),
      el("tbody", {}, ...calls.map(row)))),
  ];
}
