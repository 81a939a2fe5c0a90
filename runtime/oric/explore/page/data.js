"use strict";
/* The document of the page: unpacking, and the code behind any phase from the edits that are kept. */

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return JSON.parse(await new Response(stream).text());
}

/* Numbers from their steps. */
function sums(steps) {
  let total = 0;
  return Int32Array.from(steps, (step) => (total += step));
}

/* Keys of rows: an instruction from 0 on, a block from BLOCK_KEY down, a line of the heading else. */
const BLOCK_KEY = -1000000;

class Unit {
  constructor(data) {
    this.data = data;
    this.name = data.name;
    this.label = data.section === data.name ? data.name : `${data.section} › ${data.name}`;
    this.keys = sums(data.row_keys);
    this.lines = sums(data.row_lines);
    this.texts = sums(data.row_texts);
    this.phases = data.phases;
    this.changes = data.phases.map((phase, at) => (phase.edits ? at : -1)).filter((at) => at >= 0);
    this.snapshots = new Map();
    this.sass = data.sass ? new Machine(data.sass) : null;
    this.other = data.compared && !data.compared.missing ? new Machine(data.compared) : null;
    this.order = this.lastOrder();
  }

  text(row) { return this.data.texts[this.texts[row]]; }

  isBlock(row) { return this.keys[row] <= BLOCK_KEY; }

  block(row) { return BLOCK_KEY - this.keys[row]; }

  isInstruction(row) { return this.keys[row] >= 0; }

  /* The phase that has left the code as it is behind phase `at`. */
  source(at) {
    while (at > 0 && !this.phases[at].edits) at -= 1;
    return at;
  }

  /* The code behind phase `at`: rows, what is live in front of each, the graph, the rows of spills. */
  snapshot(at) {
    at = this.source(at);
    if (this.snapshots.has(at)) return this.snapshots.get(at);
    let rows = at > 0 ? this.snapshot(this.source(at - 1)).rows : new Int32Array(0);
    const phase = this.phases[at];
    if (phase && phase.edits) rows = edited(rows, phase.edits);
    const made = new Snapshot(this, rows, phase || {});
    this.snapshots.set(at, made);
    if (this.snapshots.size > 64) this.snapshots.delete(this.snapshots.keys().next().value);
    return made;
  }

  /* Instruction -> its place in the machine code, which is in the order of the code behind the last phase. */
  lastOrder() {
    const order = new Map();
    if (!this.phases.length) return order;
    const fills = new Set(this.data.sass ? this.data.sass.fills : []);
    let at = 0;
    for (const row of this.snapshot(this.phases.length - 1).rows) {
      if (!this.isInstruction(row)) continue;
      while (fills.has(at)) at += 1;
      order.set(this.keys[row], at++);
    }
    return order;
  }
}

class Snapshot {
  constructor(unit, rows, phase) {
    this.unit = unit;
    this.rows = rows;
    this.graph = phase.graph === undefined ? null : unit.data.graphs[phase.graph];
    this.live = {};
    for (const [file, steps] of Object.entries(phase.live || {})) this.live[file] = sums(steps);
    this.number = new Int32Array(rows.length); // of instructions in front of each row
    let count = 0;
    rows.forEach((row, at) => { this.number[at] = count; if (unit.isInstruction(row)) count += 1; });
    this.count = count;
    this.spills = new Set(phase.spills || []);
    this.counts = new Map(); // instructions of each block
    let block = -1;
    for (const row of rows) {
      if (unit.isBlock(row)) { block = unit.block(row); this.counts.set(block, 0); }
      else if (unit.isInstruction(row)) this.counts.set(block, this.counts.get(block) + 1);
    }
  }
}

class Machine {
  constructor(data) {
    this.data = data;
    this.count = data.texts.length;
    this.live = {};
    for (const [file, steps] of Object.entries(data.live)) this.live[file] = sums(steps);
    this.spills = new Set(data.spills || []);
    const run = data.run;
    this.waited = run ? run.issued.map((_, i) => run.scoreboard[i] + run.barrier[i] + run.pipe[i]) : null;
    this.most = this.waited ? largest(this.waited) : 1;
  }

  opcode(at) { return opcodeOf(this.data.texts[at]); }
}

/* Rows with edits done: [at, removed, first, count, first, count ...]. */
function edited(rows, edits) {
  const out = [];
  let from = 0;
  for (const [at, removed, ...runs] of edits) {
    for (let i = from; i < at; i += 1) out.push(rows[i]);
    for (let k = 0; k < runs.length; k += 2) for (let n = 0; n < runs[k + 1]; n += 1) out.push(runs[k] + n);
    from = at + removed;
  }
  for (let i = from; i < rows.length; i += 1) out.push(rows[i]);
  return Int32Array.from(out);
}
