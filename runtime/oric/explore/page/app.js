"use strict";
/* The page: what is chosen, and the panes that show it. */

const KEYS = [
  ["n  p", "next, previous phase that changes something"], ["d", "difference to the phase before, on or off"], ["/", "filter"],
  ["1 … 5", "show or hide a pane"], ["↑ ↓", "move the pinned line, in a list"], ["Esc", "let go of the pinned line, clear the filter"], ["?", "these keys"],
];

class View {
  constructor(doc) {
    this.hovered = this.pinned = null;
    this.base = "off";
    this.filter = () => true;
    this.panes = {};
    for (const pane of [new PtxPane(this), new OriPane(this), new SassPane(this)]) this.panes[pane.id] = pane;
    this.panes.other = new OtherPane(this, this.panes.sass);
    this.panes.graph = new GraphPane(this);
    document.getElementById("panes").append(...Object.values(this.panes).map((pane) => pane.root));
    this.panes.graph.root.hidden = true;
    this.buttons();
    this.inputs();
    this.take(doc);
  }

  /* Show a document; function, phase and difference stay where they can. */
  take(doc) {
    const before = this.unit && { label: this.unit.label, phase: this.unit.phases.length ? this.unit.phases[this.phase].index : -1, last: this.phase === this.unit.phases.length - 1 };
    this.doc = doc;
    this.units = doc.units.map((data) => new Unit(data));
    document.title = `${doc.file} – Oric explorer`;
    document.getElementById("file").textContent = doc.file;
    document.getElementById("target").textContent = `${doc.arch}  -O${doc.level}`;
    const error = document.getElementById("error");
    error.textContent = doc.error || doc.warnings.join("\n");
    error.hidden = !error.textContent;
    const picker = document.getElementById("unit");
    picker.replaceChildren(...this.units.map(({ label }, at) => element("option", { value: `${at}` }, label)));
    picker.disabled = this.units.length < 2;
    const same = this.units.findIndex((unit) => before && unit.label === before.label);
    this.choose(Math.max(0, same), same >= 0 && !before.last ? before.phase : -1);
  }

  choose(at, index = -1) {
    this.unit = this.units[at] || null;
    document.getElementById("unit").value = `${at}`;
    const phases = this.unit ? this.unit.phases : [];
    const found = phases.findIndex((phase) => phase.index === index);
    this.phase = found >= 0 ? found : this.unit && phases.length ? this.unit.source(phases.length - 1) : 0;
    if (!["off", "previous"].includes(this.base)) this.base = "off";
    this.hovered = this.pinned = null;
    const other = Boolean(this.doc.other);
    this.panes.other.root.hidden = !other;
    document.querySelector('[data-pane="other"]').hidden = !other;
    document.querySelector('[data-pane="other"]').setAttribute("aria-pressed", String(other));
    this.totals();
    this.update();
  }

  update() {
    for (const pane of Object.values(this.panes)) pane.update();
    this.found();
  }

  goto(phase) {
    this.phase = phase;
    this.panes.ori.update();
    this.panes.graph.update();
    this.found();
  }

  /* To the next or previous phase that changes something. */
  step(by) {
    if (!this.unit) return;
    const { changes } = this.unit;
    const next = by > 0 ? changes.find((at) => at > this.phase) : changes.filter((at) => at < this.phase).pop();
    if (next !== undefined) this.goto(next);
  }

  against(base) { this.base = ["off", "previous"].includes(base) ? base : Number(base); this.goto(this.phase); }

  /* The code that the phase is compared with, null for none. */
  baseSnapshot() {
    if (this.base === "off" || !this.unit) return null;
    if (this.base !== "previous") return this.unit.snapshot(this.base);
    const at = this.unit.source(this.phase);
    return at !== this.phase ? this.unit.snapshot(at) : at > 0 ? this.unit.snapshot(at - 1) : null;
  }

  hover(tie) { this.hovered = tie; this.mark(); }

  pin(tie, from) {
    this.pinned = tie;
    for (const pane of this.coded()) if (pane !== from) pane.show(tie);
    this.mark();
    if (tie.key !== -1) this.panes.graph.at(this.blockOf(tie.key));
  }

  blockOf(key) {
    let block = -1;
    for (const row of this.unit.snapshot(this.phase).rows) {
      if (this.unit.isBlock(row)) block = this.unit.block(row);
      if (this.unit.keys[row] === key) return block;
    }
    return -1;
  }

  /* Go to a block in the code, and to its first instruction in the machine code. */
  showBlock(block) {
    const { ori, sass, ptx } = this.panes, { unit } = this;
    const at = ori.shown.findIndex(({ row, kind }) => kind !== "removed" && unit.isBlock(row) && unit.block(row) === block);
    ori.list.reveal(at);
    if (at < 0) return;
    this.pinned = ori.tie(ori.shown[at]);
    const first = ori.shown.slice(at + 1).find(({ row }) => unit.isInstruction(row));
    if (first) { sass.show(ori.tie(first)); ptx.show(ori.tie(first)); }
    this.mark();
  }

  coded() { return ["ptx", "ori", "sass"].map((id) => this.panes[id]).filter((pane) => !pane.root.hidden); }

  mark() { for (const pane of Object.values(this.panes)) if (pane.mark && pane.list) pane.mark(); }

  totals() {
    const host = document.getElementById("totals"), { unit } = this;
    host.replaceChildren();
    if (!unit) return;
    const say = (name, value, kind = "") => host.append(element("span", { class: kind }, `${name} `, element("b", {}, `${value}`)));
    const { facts, occupancy, warps } = unit.data;
    if (unit.sass) say("instructions", unit.sass.data.totals.instructions);
    for (const [name, value] of Object.entries(facts)) {
      if (name === "registers") { say(name, value); const share = occupancy[Math.min(255, value)]; say("occupancy by registers", `${Math.round(100 * share)}% (${Math.round(warps * share)} warps)`); }
      else if (name === "limit" ? value < 255 : value) say(name.startsWith("spill") ? `${name} (bytes)` : name, value, name.startsWith("spill") ? "spill" : "");
    }
    if (unit.sass) { say("stall cycles", unit.sass.data.totals["stall cycles"]); say("scoreboard waits", unit.sass.data.totals["scoreboard waits"]); }
    if (unit.sass && unit.sass.data.run) { const { run } = unit.sass.data; say(`cycles on ${run.machine}`, `${run.cycles} (${run.launches} ${run.launches === 1 ? "launch" : "launches"})`); }
    say("phases that change it", `${unit.changes.length} of ${unit.phases.length}`);
  }

  found() {
    const words = document.getElementById("filter").value;
    const counts = ["ptx", "ori", "sass"].map((id) => `${this.panes[id].title} ${this.panes[id].shown.length}`);
    document.getElementById("found").textContent = words ? counts.join("  ") : "";
  }

  buttons() {
    const host = document.getElementById("shown");
    for (const pane of Object.values(this.panes)) {
      const made = element("button", { type: "button", "data-pane": pane.id, "aria-pressed": String(!pane.root.hidden) }, pane.title);
      made.addEventListener("click", () => {
        pane.root.hidden = !pane.root.hidden;
        made.setAttribute("aria-pressed", String(!pane.root.hidden));
        pane.update();
      });
      host.append(made);
    }
  }

  inputs() {
    const filter = document.getElementById("filter");
    filter.addEventListener("input", () => {
      let made = null;
      try { made = new RegExp(filter.value, "i"); filter.classList.remove("wrong"); filter.title = ""; } catch (problem) { filter.classList.add("wrong"); filter.title = problem.message; return; }
      this.filter = filter.value ? (text) => made.test(text) : () => true;
      this.update();
    });
    document.getElementById("unit").addEventListener("change", (event) => this.choose(Number(event.target.value)));
    const keys = document.getElementById("keys"), help = document.getElementById("help");
    keys.append(...KEYS.map(([key, what]) => element("div", {}, element("kbd", {}, key), what)));
    help.addEventListener("click", () => { keys.hidden = !keys.hidden; help.setAttribute("aria-expanded", String(!keys.hidden)); });
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const filter = document.getElementById("filter");
    if (event.key === "Escape") {
      if (filter.value) { filter.value = ""; filter.dispatchEvent(new Event("input")); }
      filter.blur();
      this.pinned = null;
      this.mark();
      return;
    }
    if (event.target.closest("input:not([type=checkbox])") || event.ctrlKey || event.metaKey || event.altKey) return;
    const pane = "12345".includes(event.key) ? document.querySelectorAll("#shown button:not([hidden])")[Number(event.key) - 1] : null;
    const does = {
      n: () => this.step(1), p: () => this.step(-1), d: () => this.against(this.base === "off" ? "previous" : "off"),
      "/": () => filter.focus(), "?": () => document.getElementById("help").click(),
    }[event.key] || (pane ? () => pane.click() : null);
    if (!does) return;
    event.preventDefault();
    does();
  }
}

async function start() {
  const settings = document.getElementById("controls").textContent;
  const view = new View(await unpack(document.getElementById("data").textContent));
  if (settings) view.controls = new Controls(document.getElementById("served"), JSON.parse(settings), (doc) => view.take(doc));
  view.panes.ori.off.hidden = !view.controls;
  globalThis.view = view; // for the console
  document.documentElement.dataset.ready = "yes";
  requestAnimationFrame(() => performance.mark("shown"));
}

start().catch((problem) => {
  const error = document.getElementById("error");
  error.textContent = `This page cannot be shown: ${problem.message}`;
  error.hidden = false;
});
