"use strict";
/* Another cubin beside ours: rows that go in step, totals and opcodes of both. */

/* Rows of both sides: {ours, theirs, differs}; -1 where a side has nothing. */
function aligned(unit) {
  const count = unit.sass.count;
  if (!unit.other) return Array.from({ length: count }, (_, at) => ({ ours: at, theirs: -1, differs: false }));
  const out = [];
  let ours = 0, theirs = 0;
  for (const [kind, number] of unit.data.compared.rows) {
    for (let n = 0; n < number; n += 1) {
      out.push({ ours: kind === "+" ? -1 : ours++, theirs: kind === "-" ? -1 : theirs++, differs: kind !== "=" });
    }
  }
  return out;
}

class OtherPane extends SassPane {
  constructor(view, beside) {
    super(view);
    this.beside = beside;
    this.id = "other";
    this.title = "Other";
    this.root.id = "pane-other";
    this.root.setAttribute("aria-label", "Other cubin");
    this.head.querySelector("h2").textContent = "Other";
    this.table = element("div");
    this.details = element("details", { id: "compared" }, element("summary", {}, "Totals and opcodes"), this.table);
    this.head.append(this.details);
    const follow = (from, to) => from.list.host.addEventListener("scroll", () => { to.list.host.scrollTop = from.list.host.scrollTop; });
    follow(this, beside);
    follow(beside, this);
  }

  get code() { return this.view.unit ? this.view.unit.other : null; }

  place(line) { return line.theirs; }

  missing() { return `${this.view.doc.other} has no such kernel`; }

  noted(code) { return `${this.view.doc.other}: ${super.noted(code)}`; }

  update() {
    super.update();
    const { unit } = this.view;
    this.details.hidden = !this.code;
    this.table.replaceChildren();
    if (this.code) this.table.append(totalsTable(unit), opcodeTable(unit));
  }

  tie(line) { return this.beside.tie(line); }

  isTwin(line, tie) { return tie.sass >= 0 && line.ours === tie.sass && line.theirs >= 0; }
}

function totalsTable({ sass, other }) {
  const rows = Object.entries(sass.data.totals).map(([name, value]) => [name, value, other.data.totals[name]]);
  if (sass.data.run && other.data.run) rows.push(["cycles in the run", sass.data.run.cycles, other.data.run.cycles]);
  return table(["", "ours", "other", "difference"], rows);
}

function opcodeTable({ sass, other }) {
  const count = (machine) => {
    const found = new Map();
    for (let at = 0; at < machine.data.totals.instructions; at += 1) found.set(machine.opcode(at), (found.get(machine.opcode(at)) || 0) + 1);
    return found;
  };
  const a = count(sass), b = count(other);
  const rows = [...new Set([...a.keys(), ...b.keys()])].map((name) => [name, a.get(name) || 0, b.get(name) || 0]);
  rows.sort((x, y) => Math.abs(y[1] - y[2]) - Math.abs(x[1] - x[2]) || y[1] - x[1] || (x[0] < y[0] ? -1 : 1));
  return table(["opcode", "ours", "other", "difference"], rows);
}

function table(heads, rows) {
  const made = element("table", { class: "totals" }, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head))));
  for (const [name, ours, theirs] of rows) {
    const less = ours - theirs;
    made.append(element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, `${ours}`), element("td", {}, `${theirs}`),
      element("td", { class: less > 0 ? "more" : less < 0 ? "less" : "" }, less > 0 ? `+${less}` : `${less}`.replace("-", "−"))));
  }
  return made;
}
