// Small things that the other parts build with. Everything from a run is inserted as text,
// never as markup.

"use strict";

const byId = (id) => document.getElementById(id);

// Attributes first, then children: strings become text nodes.
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
const text = (content) => el("p", { class: "text", dir: "auto" }, content);
const note = (content) => el("p", { class: "note" }, content);
const list = (entries) => el("ul", { class: "plainlist" }, ...entries.map((e) => el("li", {}, ...[e].flat())));
const badge = (content, css = "plain") => el("span", { class: `badge ${css}` }, content);
const count = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
const share = (value) => (value === 1 ? "1.000" : value.toFixed(3).replace(/^0/, ""));
const brief = (uid) => (uid.length > 16 ? `${uid.slice(0, 8)}…${uid.slice(-4)}` : uid);
const when = (stamp) => (stamp ? stamp.replace("T", " ").replace("Z", " UTC") : "no date");
