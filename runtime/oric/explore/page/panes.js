"use strict";
/* The panes with code. Each has lines; `shown` are those that the filter leaves, by place. */

class Pane {
  constructor(view, id, title, wide = false) {
    this.view = view;
    this.id = id;
    this.title = title;
    this.root = element("section", { class: wide ? "pane wide" : "pane", id: `pane-${id}`, "aria-label": title });
    this.head = element("div", { class: "head" }, element("h2", {}, title));
    this.list = new List(title, (at) => this.line(this.shown[at], at));
    this.shown = [];
    this.list.ondraw = () => this.mark();
    this.root.append(this.head, this.list.host);
    const at = (event) => { const row = event.target.closest(".row"); return row ? this.shown[Number(row.dataset.at)] : undefined; };
    this.list.host.addEventListener("mouseover", (event) => { const line = at(event); view.hover(line === undefined ? null : this.tie(line)); });
    this.list.host.addEventListener("mouseleave", () => view.hover(null));
    this.list.host.addEventListener("click", (event) => { const line = at(event); if (line !== undefined) view.pin(this.tie(line), this); });
    this.list.host.addEventListener("keydown", (event) => this.key(event));
  }

  /* Arrows move the pinned line, as a click on its neighbour would. */
  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !this.shown.length) return;
    event.preventDefault();
    const now = this.shown.findIndex((line) => this.view.pinned && this.isTwin(line, this.view.pinned));
    const next = Math.min(this.shown.length - 1, Math.max(0, now < 0 ? 0 : now + step));
    this.view.pin(this.tie(this.shown[next]), this);
    this.list.reveal(next);
  }

  /* Take the lines anew; `keep`: those that the filter leaves. */
  fill(lines, keep) {
    this.shown = lines.filter(keep);
    this.list.setCount(this.shown.length);
  }

  mark() {
    const { hovered, pinned } = this.view;
    this.list.mark((at) => {
      const line = this.shown[at], tie = hovered || pinned;
      return {
        hot: Boolean(tie && tie.line && this.tie(line).line === tie.line),
        twin: Boolean(tie && this.isTwin(line, tie)),
        pin: Boolean(pinned && this.isTwin(line, pinned)),
      };
    });
  }

  /* Bring what belongs to a tie into sight: the same instruction, else the first of the same line of the PTX. */
  show(tie) {
    let at = this.shown.findIndex((line) => this.isTwin(line, tie));
    if (at < 0 && tie.line) at = this.shown.findIndex((line) => this.tie(line).line === tie.line);
    this.list.reveal(at);
  }
}

class PtxPane extends Pane {
  constructor(view) { super(view, "ptx", "PTX"); }

  update() {
    const { doc, filter } = this.view;
    this.used = new Set(this.view.unit ? this.view.unit.lines : []);
    this.fill(doc.ptx.map((_, at) => at), (at) => filter(doc.ptx[at]));
  }

  line(at) {
    const row = element("div", { class: "row", style: `border-left-color:${this.used.has(at + 1) ? hue(at + 1) : "transparent"}` });
    row.append(element("span", { class: "no" }, `${at + 1}`), colour(this.view.doc.ptx[at], element("span", { class: "text" })));
    return row;
  }

  tie(at) { return { line: this.used.has(at + 1) ? at + 1 : 0, key: -1, sass: -1, ptx: at }; }

  isTwin(at, tie) { return tie.ptx === at; }
}

/* Marks and control bits behind an instruction. */
const NOTES = / \[\w+=0x[0-9a-f]+(?: \w+=0x[0-9a-f]+)*\]$/;

class OriPane extends Pane {
  constructor(view) {
    super(view, "ori", "Ori", true);
    this.phase = element("select", { "aria-label": "Phase" });
    this.base = element("select", { "aria-label": "Compare with phase" });
    this.hide = element("input", { type: "checkbox" });
    this.hide.checked = true;
    this.declared = element("input", { type: "checkbox", id: "declared" });
    this.note = element("span", { class: "note" });
    const back = element("button", { type: "button", title: "Previous phase that changes something ( p )", "aria-label": "Previous changed phase" }, "◀");
    const on = element("button", { type: "button", title: "Next phase that changes something ( n )", "aria-label": "Next changed phase" }, "▶");
    this.off = element("button", { type: "button", id: "switch", title: "Compile without this phase", hidden: true }, "off");
    this.off.addEventListener("click", () => view.controls.toggle(view.unit.phases[view.phase].index));
    back.id = "previous"; on.id = "next"; this.phase.id = "phase"; this.base.id = "base"; this.hide.id = "hide";
    back.addEventListener("click", () => view.step(-1));
    on.addEventListener("click", () => view.step(1));
    this.phase.addEventListener("change", () => view.goto(Number(this.phase.value)));
    this.base.addEventListener("change", () => view.against(this.base.value));
    this.hide.addEventListener("change", () => this.phases());
    this.declared.addEventListener("change", () => this.update());
    this.head.append(back, this.phase, on, this.off, element("label", {}, this.hide, "changed only"), element("label", {}, "Diff", this.base),
      element("label", { title: "Registers that the heading declares, with their hardware registers" }, this.declared, "registers"), this.note);
    this.chart = new Chart(this, "Live registers in front of every instruction of the Ori code");
    this.root.insertBefore(this.chart.canvas, this.list.host);
    this.lines = [];
  }

  /* The choices of phases; those that change nothing are marked, and can be left out. */
  phases() {
    const { unit, phase } = this.view;
    const option = (at) => {
      const { index, name, edits } = unit.phases[at];
      return element("option", { value: `${at}`, class: edits ? "" : "same" }, `${index} ${name}${edits ? "" : "  (no change)"}`);
    };
    const every = unit ? unit.phases.map((_, at) => at) : [];
    this.phase.replaceChildren(...every.filter((at) => !this.hide.checked || unit.phases[at].edits || at === phase).map(option));
    this.phase.value = `${phase}`;
    const base = this.view.base;
    this.base.replaceChildren(
      element("option", { value: "off" }, "off"), element("option", { value: "previous" }, "phase before"),
      ...every.filter((at) => unit.phases[at].edits).map(option));
    this.base.value = `${base}`;
  }

  update() {
    const { unit, phase, filter } = this.view;
    this.phases();
    this.code = null;
    if (!unit || !unit.phases.length) { this.fill([], () => true); this.note.textContent = ""; this.chart.draw(); return; }
    this.code = unit.snapshot(phase);
    const old = this.view.baseSnapshot();
    this.lines = old ? difference(unit, old, this.code) : Array.from(this.code.rows, (row, at) => ({ kind: "", row, at }));
    if (old) {
      const { added, removed, changed, moved } = tally(this.lines);
      this.note.textContent = `+${added} −${removed} ~${changed} ↕${moved}`;
    } else this.note.textContent = "";
    const wanted = (row) => this.declared.checked || !isDeclaration(unit, row);
    this.fill(this.lines, ({ row }) => wanted(row) && filter(unit.text(row)));
    this.chart.draw();
  }

  line({ kind, row, at }) {
    const { unit } = this.view, code = this.code, text = unit.text(row);
    const instruction = unit.isInstruction(row);
    const type = unit.isBlock(row) ? " block" : instruction ? "" : " head";
    const made = element("div", { class: `row ${kind}${type}`, style: `border-left-color:${hue(unit.lines[row])}` });
    const number = at >= 0 ? code.number[at] : -1;
    made.append(element("span", { class: "mark" }, { added: "+", removed: "−", changed: "~", was: "·", moved: "↕" }[kind] || ""));
    made.append(liveCell(instruction && at >= 0 ? code.live : {}, number, code));
    const notes = instruction ? NOTES.exec(text) : null;
    made.append(colour(notes ? text.slice(0, notes.index) : text, element("span", { class: "text" })));
    if (notes) made.lastChild.append(element("span", { class: "dim" }, notes[0]));
    if (instruction && at >= 0 && code.spills.has(number)) made.append(element("span", { class: "chip" }, "spill"));
    return made;
  }

  tie({ row }) {
    const { unit } = this.view, key = unit.keys[row];
    return { line: unit.lines[row], key, sass: unit.isInstruction(row) && unit.order.has(key) ? unit.order.get(key) : -1, ptx: -1 };
  }

  isTwin({ row, kind }, tie) {
    const { unit } = this.view;
    return kind !== "was" && tie.ptx < 0 && unit.keys[row] === tie.key && (unit.isInstruction(row) || unit.isBlock(row));
  }

  /* For the chart: columns by instruction, and where the line of an instruction is. */
  get columns() { return this.code ? { live: this.code.live, count: this.code.count } : { live: {}, count: 0 }; }

  reveal(number) {
    this.list.reveal(this.shown.findIndex(({ row, at }) => at >= 0 && this.code.number[at] === number && this.view.unit.isInstruction(row)));
  }

  numbersSeen() {
    const [from, to] = this.list.window;
    const seen = this.shown.slice(Math.max(0, Math.floor(from)), Math.ceil(to)).filter(({ at }) => at >= 0).map(({ at }) => this.code.number[at]);
    return seen.length ? [Math.min(...seen), Math.max(...seen)] : [0, 0];
  }
}

/* A line of the heading with registers: there are many of them in long code. */
function isDeclaration(unit, row) { return isHead(unit, row) && unit.text(row).startsWith("    reg "); }

/* Number of live general registers, with a bar. */
function liveCell(live, number, code) {
  const count = live.R ? live.R[number] : undefined;
  const cell = element("span", { class: "live" });
  if (count === undefined) return cell;
  const most = code.peak || (code.peak = largest(live.R));
  cell.style.setProperty("--share", `${Math.round((100 * count) / most)}%`);
  cell.textContent = `${count}`;
  cell.title = Object.entries(live).map(([file, counts]) => `${file} ${counts[number]}`).join(", ");
  return cell;
}

/* Lines of machine code; with another cubin also those that only the other one has, so that both panes go in step. */
class SassPane extends Pane {
  constructor(view) {
    super(view, "sass", "SASS", true);
    this.note = element("span", { class: "note" });
    this.head.append(this.note);
    this.chart = new Chart(this, "Live registers and stalls of the machine code");
    this.columnsLine = element("div", { class: "columns" });
    this.root.insertBefore(this.chart.canvas, this.list.host);
    this.root.insertBefore(this.columnsLine, this.list.host);
  }

  get code() { return this.view.unit ? this.view.unit.sass : null; }

  place(line) { return line.ours; }

  update() {
    const { unit, filter } = this.view, code = this.code;
    this.note.textContent = code ? this.noted(code) : this.missing();
    this.columnsLine.textContent = code ? headings(code) : "";
    this.columnsLine.hidden = !code;
    const lines = unit && unit.sass ? unit.aligned || (unit.aligned = aligned(unit)) : [];
    const text = (machine, at) => (at >= 0 && machine ? machine.data.texts[at] : null);
    this.fill(code ? lines : [], ({ ours, theirs }) => [text(unit.sass, ours), text(unit.other, theirs)].some((one) => one !== null && filter(one)));
    this.chart.draw();
  }

  missing() { return "no machine code"; }

  noted(code) {
    const totals = code.data.totals;
    return `${totals.instructions} instructions, ${totals["stall cycles"]} stall cycles`;
  }

  line(line) {
    const at = this.place(line), code = this.code;
    if (at < 0) return element("div", { class: "row gap" });
    const { data } = code;
    const from = data.lines ? data.lines[at] : 0;
    const made = element("div", { class: `row${line.differs ? " other" : ""}`, style: `border-left-color:${hue(from)}` });
    made.append(
      element("span", { class: "offset" }, (data.begin + 16 * at).toString(16).padStart(4, "0")),
      liveCell(code.live, at, code), controlCell(data, at));
    if (code.waited) made.append(runCell(code, at));
    made.append(colour(data.texts[at], element("span", { class: "text" })));
    for (const label of data.labels[at] || []) made.append(element("span", { class: "l" }, `  ← ${label}`));
    if (code.spills.has(at)) made.append(element("span", { class: "chip" }, "spill"));
    return made;
  }

  tie(line) {
    const at = this.place(line), { unit } = this.view;
    if (at < 0) return { line: 0, key: -1, sass: -1, ptx: -1 };
    const keys = unit.inverse || (unit.inverse = new Map([...unit.order].map(([key, place]) => [place, key])));
    return { line: this.code.data.lines[at], key: keys.has(at) ? keys.get(at) : -1, sass: at, ptx: -1 };
  }

  isTwin(line, tie) { return tie.sass >= 0 && line.ours === tie.sass; }

  get columns() { const code = this.code; return code ? { live: code.live, count: code.count, waited: code.waited, stall: code.data.stall } : { live: {}, count: 0 }; }

  reveal(number) { this.list.reveal(this.shown.findIndex((line) => this.place(line) === number)); }

  numbersSeen() {
    const [from, to] = this.list.window;
    const seen = this.shown.slice(Math.max(0, Math.floor(from)), Math.ceil(to)).map((line) => this.place(line)).filter((at) => at >= 0);
    return seen.length ? [Math.min(...seen), Math.max(...seen)] : [0, 0];
  }
}

function largest(values) { return values.reduce((a, b) => Math.max(a, b), 1); }

function headings(code) { return ` at      live wait  bars  stall${code.waited ? "  waited" : ""} instruction`; }

/* Scoreboards waited for and set, stall cycles. */
function controlCell(data, at) {
  const waits = data.wait[at] ? [...Array(6).keys()].filter((n) => (data.wait[at] >> n) & 1).join("") : "";
  const bars = `${data.write[at] < 7 ? `w${data.write[at]}` : ""}${data.read[at] < 7 ? `r${data.read[at]}` : ""}`;
  const cell = element("span", { class: "control" });
  const stall = data.stall[at];
  cell.append(waits ? element("b", {}, ` ${waits}`.padEnd(7)) : " ".repeat(7), bars.padEnd(5));
  cell.append(stall >= 5 ? element("b", {}, `${stall}`.padStart(2)) : `${stall}`.padStart(2), data.yields[at] ? "y" : " ");
  cell.title = `stall ${stall} cycles${data.yields[at] ? ", yield" : ""}${waits ? `, waits for scoreboards ${waits.split("").join(", ")}` : ""}` +
    `${data.write[at] < 7 ? `, sets scoreboard ${data.write[at]} when written` : ""}${data.read[at] < 7 ? `, sets scoreboard ${data.read[at]} when read` : ""}`;
  return cell;
}

/* Cycles that warps waited before an instruction in the run. */
function runCell({ data: { run }, waited, most }, at) {
  const cell = element("span", { class: "run" }, waited[at] ? `${waited[at]}` : run.issued[at] ? "·" : "");
  const share = Math.round(100 * Math.sqrt(waited[at] / most));
  if (share) cell.style.background = `linear-gradient(to left, color-mix(in srgb, var(--warm) 45%, transparent) ${share}%, transparent ${share}%)`;
  cell.title = `issued ${run.issued[at]} times; warps waited ${run.scoreboard[at]} cycles for scoreboards, ${run.barrier[at]} at barriers, ${run.pipe[at]} for pipes`;
  return cell;
}
