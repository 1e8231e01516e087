// The item browser: its data, its list, its filters and its keys.

const items = JSON.parse(byId("items").textContent);
const probes = items.flatMap((item) => item.probes.map((probe) => ({ item, probe })));

const OUTCOMES = {
  error: ["error", "bad"], failed_open: ["failed open", "warn"], repaired: ["repaired", "good"],
  untouched: ["untouched", "plain"], true_change: ["key: true change", "good"],
  missed_change: ["key: missed", "bad"], off_target: ["key: off target", "warn"],
  false_invalidation: ["key: false invalidation", "bad"],
};

function badges(probe) {
  const known = probe.tags.filter((tag) => OUTCOMES[tag]).map((tag) => badge(...OUTCOMES[tag]));
  const control = probe.tags.includes("control") ? [badge("control")] : [];
  const judged = (probe.judged || []).map((j) =>
    badge(`${j.judge}: ${j.passed ? "pass" : "fail"}`, j.passed ? "good" : "bad"));
  return [...control, ...known, ...judged].flatMap((one) => [one, " "]);  // read as words
}

const listbox = byId("list");
const detail = byId("detail");
const rows = probes.map(({ item, probe }, index) => el(
  "li", { role: "option", id: `probe-${index}`, "aria-selected": "false", "data-index": index },
  el("span", { class: "name", dir: "auto" }, [brief(item.uid), item.type, probe.dimension].filter(Boolean).join(" · ")), " ",
  ...badges(probe),
  el("span", { class: "question", dir: "auto" }, probe.question || item.error || ""),
));
listbox.append(...rows);

const searched = new Map();
function haystack(index) {
  if (!searched.has(index)) {
    const { item, probe } = probes[index];
    const said = [
      item.uid, item.error, probe.question, probe.draft, probe.reply, probe.error,
      ...(probe.premises || []).flatMap((p) => [p.text, p.old_value, p.current_value]),
      ...(probe.transitions || []).flatMap((t) => [t.attribute, t.old_value, t.new_value, t.old.quote, t.new.quote]),
      ...(probe.judged || []).map((j) => j.reason),
    ];
    searched.set(index, said.filter(Boolean).join("\n").toLowerCase());
  }
  return searched.get(index);
}

let shown = [];
let chosen = -1;

function filter() {
  const value = (id) => byId(id).value;
  const [type, dimension] = [value("f-type"), value("f-dimension")];
  const tags = [value("f-kind"), value("f-outcome")].filter(Boolean);
  const wanted = value("f-text").trim().toLowerCase();
  shown = probes.map((_, index) => index).filter((index) => {
    const { item, probe } = probes[index];
    return (!type || item.type === type) && (!dimension || probe.dimension === dimension)
      && tags.every((tag) => probe.tags.includes(tag))
      && (!wanted || haystack(index).includes(wanted));
  });
  const kept = new Set(shown);
  rows.forEach((row, index) => { row.hidden = !kept.has(index); });
  const scenarios = new Set(shown.map((index) => probes[index].item.uid)).size;
  byId("count").textContent =
    `${count(shown.length, "entry").replace("entrys", "entries")} of ${probes.length}, from ${count(scenarios, "scenario")}`;
  if (!kept.has(chosen)) choose(shown.length ? shown[0] : -1);
}

function choose(index) {
  if (chosen >= 0) rows[chosen].setAttribute("aria-selected", "false");
  chosen = index;
  if (index < 0) {
    listbox.removeAttribute("aria-activedescendant");
    detail.replaceChildren(note("No probe fits these filters."));
    return;
  }
  rows[index].setAttribute("aria-selected", "true");
  listbox.setAttribute("aria-activedescendant", rows[index].id);
  const row = rows[index];
  if (row.offsetTop < listbox.scrollTop) listbox.scrollTop = row.offsetTop;
  const below = row.offsetTop + row.offsetHeight - listbox.clientHeight;
  if (below > listbox.scrollTop) listbox.scrollTop = below;
  showDetail(probes[index]);
}

function move(steps) {
  if (!shown.length) return;
  const at = Math.min(Math.max(shown.indexOf(chosen) + steps, 0), shown.length - 1);
  choose(shown[at]);
}

const KEYS = {
  ArrowDown: () => move(1), j: () => move(1), ArrowUp: () => move(-1), k: () => move(-1),
  PageDown: () => move(10), PageUp: () => move(-10),
  Home: () => move(-Infinity), End: () => move(Infinity), Enter: () => openDetail(),
};
listbox.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
  event.preventDefault();
  KEYS[event.key]();
});
listbox.addEventListener("click", (event) => {
  const row = event.target.closest("li");
  if (!row) return;
  choose(Number(row.dataset.index));
  if (getComputedStyle(byId("back")).display !== "none") openDetail();
});
detail.addEventListener("keydown", (event) => { if (event.key === "Escape") backToList(); });
function openDetail() { detail.focus(); detail.scrollIntoView({ block: "start" }); }
function backToList() { listbox.focus(); listbox.scrollIntoView({ block: "nearest" }); }

const form = byId("filters");
form.addEventListener("input", filter);
form.addEventListener("change", filter);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(filter));

filter();
