// One item at a time; every change is kept at once. Texts are inserted as text.

const items = JSON.parse(byId("items").textContent);
const sheet = document.body.dataset;
const STORE = `stateauditor-sheet-${sheet.sheet}`;
const TEXTS = ["question", "old_state", "new_state", "rule", "answer"];
const choices = [...document.querySelectorAll("input[name=label]")];
const comment = byId("comment");

// --- what was given so far: id -> {label, comment} --------------------------------------

const given = Object.assign(Object.create(null), restored());
let unsaved = false;

function restored() {
  const kept = {};
  try {
    const stored = JSON.parse(localStorage.getItem(STORE) || "{}");
    for (const { id } of items) {
      const { label = "", comment = "" } = stored[id] || {};
      if (label === "" || choices.some((c) => c.value === label)) {
        kept[id] = { label, comment: String(comment) };
      }
    }
  } catch {
    return kept;  // keeping will fail too, and then it is said
  }
  return kept;
}

function keep(id, change) {
  given[id] = { label: "", comment: "", ...given[id], ...change };
  try {
    localStorage.setItem(STORE, JSON.stringify(given));
    unsaved = false;
  } catch {
    unsaved = true;
  }
  warn();
  showProgress();
}

function warn() {
  byId("trouble").hidden = !unsaved;
  byId("trouble").textContent = unsaved
    ? "This browser does not keep labels: download them before you close the page." : "";
}

window.addEventListener("beforeunload", (event) => { if (unsaved) event.preventDefault(); });

// --- one item -----------------------------------------------------------------------

const labelOf = (item) => (given[item.id] || {}).label || "";
const firstOpen = (from) => {
  const order = items.map((_, i) => (from + i) % items.length);
  return order.find((i) => labelOf(items[i]) === "");
};
let at = firstOpen(0) ?? 0;

function showItem({ focus = true } = {}) {
  const item = items[at];
  for (const name of TEXTS) byId(name).textContent = item[name];
  for (const choice of choices) choice.checked = choice.value === labelOf(item);
  comment.value = (given[item.id] || {}).comment || "";
  byId("place").textContent = `Item ${at + 1} of ${items.length}`;
  byId("previous").disabled = at === 0;
  byId("next").disabled = at === items.length - 1;
  showProgress();
  if (focus) {
    byId("place").focus({ preventScroll: true });
    byId("place").scrollIntoView({ block: "start" });
  }
}

function showProgress() {
  const done = items.filter((item) => labelOf(item) !== "").length;
  byId("bar").value = done;
  byId("count").textContent = `${done} of ${items.length} labelled`;
  byId("open").disabled = firstOpen(at + 1) === undefined;
}

function choose(label) {
  keep(items[at].id, { label });
  for (const choice of choices) choice.checked = choice.value === label;
}

function go(to) {
  if (to === undefined || to < 0 || to >= items.length) return;
  at = to;
  showItem();
}

for (const choice of choices) choice.addEventListener("change", () => choose(choice.value));
comment.addEventListener("input", () => keep(items[at].id, { comment: comment.value }));
byId("clear").addEventListener("click", () => choose(""));
byId("previous").addEventListener("click", () => go(at - 1));
byId("next").addEventListener("click", () => go(at + 1));
byId("open").addEventListener("click", () => go(firstOpen(at + 1)));

const KEYS = {
  p: () => choose("pass"), f: () => choose("fail"), u: () => choose("unsure"), x: () => choose(""),
  j: () => go(at + 1), ArrowRight: () => go(at + 1), k: () => go(at - 1), ArrowLeft: () => go(at - 1),
  n: () => go(firstOpen(at + 1)), c: () => comment.focus(),
};
document.addEventListener("keydown", (event) => {
  if (event.target === comment) {
    if (event.key === "Escape") byId("place").focus();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
  // Arrows move within the labels while one of them has the focus.
  if (event.key.startsWith("Arrow") && event.target.type === "radio") return;
  event.preventDefault();
  KEYS[event.key]();
});

// --- out ----------------------------------------------------------------------------

// What a spreadsheet could take for a formula gets an apostrophe, as in the sheets.
const guarded = (value) => (/^[=+\-@\t\r\n＝＋－＠']/.test(value) ? `'${value}` : value);
const field = (value) => `"${value.replaceAll('"', '""')}"`;

byId("download").addEventListener("click", () => {
  const rows = items.map((item) => {
    const { label, comment } = { label: "", comment: "", ...given[item.id] };
    return [item.id, label, guarded(comment)];
  });
  const lines = [JSON.parse(sheet.columns), ...rows].map((row) => row.map(field).join(",") + "\r\n");
  const file = new Blob(["\ufeff", ...lines], { type: "text/csv;charset=utf-8" });
  const link = el("a", { href: URL.createObjectURL(file), download: `labels_${sheet.annotator}.csv` });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  unsaved = false;
});

byId("instructions").open = !items.some((item) => labelOf(item) !== "");
if (items.length) showItem({ focus: false });
