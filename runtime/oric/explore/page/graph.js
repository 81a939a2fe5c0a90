"use strict";
/* The control-flow graph of the phase at hand, drawn with dagre. Of a large one the neighbourhood of a block is drawn. */

const MOST_BLOCKS = 160;
const SVG = "http://www.w3.org/2000/svg";

class GraphPane {
  constructor(view) {
    this.view = view;
    this.id = "graph";
    this.title = "CFG";
    this.root = element("section", { class: "pane", id: "pane-graph", "aria-label": "Control-flow graph" });
    this.note = element("span", { class: "note" });
    this.zoom = 1;
    const scale = (by, label) => {
      const made = element("button", { type: "button", "aria-label": label, title: label }, by > 1 ? "+" : "−");
      made.addEventListener("click", () => { this.zoom = Math.min(3, Math.max(0.2, this.zoom * by)); this.size(); });
      return made;
    };
    this.host = element("div", { class: "graph", tabindex: "0", "aria-label": "Graph" });
    this.root.append(element("div", { class: "head" }, element("h2", {}, "CFG"), scale(0.8, "Smaller"), scale(1.25, "Larger"), this.note), this.host);
    this.drawn = null;
    this.block = 0;
  }

  update() {
    const { unit, phase } = this.view;
    const code = unit && unit.phases.length && !this.root.hidden ? unit.snapshot(phase) : null;
    if (!code || !code.graph) { this.host.replaceChildren(); this.drawn = null; this.note.textContent = ""; return; }
    if (this.block >= code.graph.successors.length) this.block = 0;
    const counts = [...code.counts.values()].join();
    const inside = this.drawn && this.drawn.blocks.has(this.block);
    if (this.drawn && this.drawn.graph === code.graph && this.drawn.counts === counts && inside) { this.mark(); return; }
    this.draw(code, counts);
  }

  draw(code, counts) {
    const { successors, depth, back } = code.graph;
    const blocks = neighbourhood(successors, this.block, MOST_BLOCKS);
    const g = new dagre.graphlib.Graph({ multigraph: true });
    g.setGraph({ nodesep: 18, ranksep: 26, marginx: 10, marginy: 10, ranker: blocks.size > 60 ? "longest-path" : "network-simplex" });
    g.setDefaultEdgeLabel(() => ({}));
    const label = (b) => `bix${b}  ${code.counts.get(b) || 0}${depth[b] ? `  ↻${depth[b]}` : ""}`;
    for (const b of blocks) g.setNode(`${b}`, { width: 26 + 6.7 * label(b).length, height: 26 });
    const isBack = new Set(back.map(([from, to]) => `${from} ${to}`));
    for (const b of blocks) for (const to of successors[b]) if (blocks.has(to) && to !== b) g.setEdge(`${b}`, `${to}`, {}, `${b} ${to}`);
    dagre.layout(g);
    const svg = shape("svg", { role: "group", "aria-label": "Blocks and edges" });
    svg.append(arrow("arrow", ""), arrow("arrow-back", "back"));
    for (const e of g.edges()) {
      const points = g.edge(e).points.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`);
      svg.append(shape("path", { class: isBack.has(e.name) ? "edge back" : "edge", d: `M${points.join("L")}`, "data-edge": e.name }));
    }
    for (const b of blocks) {
      if (!successors[b].includes(b)) continue; // a loop of one block: an arc at its right side
      const { x, y, width } = g.node(`${b}`), right = x + width / 2;
      svg.append(shape("path", { class: "edge back", d: `M${right},${y + 5}C${right + 20},${y + 16} ${right + 20},${y - 16} ${right + 1},${y - 5}`, "data-edge": `${b} ${b}` }));
    }
    for (const b of blocks) svg.append(this.node(b, g.node(`${b}`), depth[b], label(b)));
    this.svg = svg;
    this.box = [g.graph().width + 16, g.graph().height];
    this.host.replaceChildren(svg);
    this.drawn = { graph: code.graph, counts, blocks };
    const loops = new Set(back.map(([, to]) => to)).size;
    const all = successors.length;
    this.note.textContent = `${blocks.size < all ? `${blocks.size} of ${all} blocks, around bix${this.block}` : `${all} blocks`}, ${loops} loops`;
    this.size();
    this.mark();
  }

  node(b, { x, y, width, height }, depth, label) {
    const made = shape("g", { class: "node", "data-block": b, tabindex: "0", role: "button", style: `--level:${depth}`, "aria-label": `block ${b}, loop depth ${depth}` });
    made.append(shape("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: 5 }));
    const text = shape("text", { x, y });
    text.textContent = label;
    made.append(text);
    const go = () => { this.block = b; this.view.showBlock(b); this.update(); };
    made.addEventListener("click", go);
    made.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); go(); } });
    return made;
  }

  size() {
    if (!this.svg) return;
    const [width, height] = this.box;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("width", width * this.zoom);
    this.svg.setAttribute("height", height * this.zoom);
  }

  mark() { for (const node of this.svg.querySelectorAll(".node")) node.classList.toggle("at", Number(node.dataset.block) === this.block); }

  /* The block of what is pinned. */
  at(block) { if (block >= 0 && block !== this.block) { this.block = block; this.update(); } }
}

function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

function arrow(id, kind) {
  const marker = shape("marker", { id, class: kind, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" });
  marker.append(shape("path", { d: "M0,0L8,4L0,8z" }));
  return marker;
}

/* The blocks nearest to one, along edges in both directions, so many at most. */
function neighbourhood(successors, block, most) {
  const before = successors.map(() => []);
  successors.forEach((targets, b) => targets.forEach((to) => before[to].push(b)));
  const found = new Set([block]);
  for (const b of found) for (const next of [...successors[b], ...before[b]]) if (found.size < most) found.add(next);
  if (successors.length <= most) successors.forEach((_, b) => found.add(b));
  return new Set([...found].sort((a, b) => a - b));
}
