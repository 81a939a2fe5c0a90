"use strict";
/* What is live along the code, as a drawing: general registers as an area, predicates as a line, the occupancy that so many registers
   would allow as steps, waits of the run as bars. A click goes to the instruction. */

class Chart {
  constructor(pane, label) {
    this.pane = pane;
    this.canvas = element("canvas", { role: "img", "aria-label": label });
    this.canvas.addEventListener("click", (event) => pane.reveal(this.number(event)));
    this.canvas.addEventListener("mousemove", (event) => { this.canvas.title = this.told(this.number(event)); });
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    pane.list.onscroll.push(() => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  number(event) {
    const box = this.canvas.getBoundingClientRect();
    const { count } = this.pane.columns;
    return Math.min(count - 1, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * count)));
  }

  told(number) {
    const { live, waited } = this.pane.columns;
    const { unit } = this.pane.view;
    const parts = Object.entries(live).map(([file, counts]) => `${file} ${counts[number]}`);
    if (live.R) parts.push(`occupancy with so many registers ${Math.round(100 * unit.data.occupancy[Math.min(255, live.R[number])])}%`);
    if (waited) parts.push(`waited ${waited[number]} cycles`);
    return `instruction ${number}: ${parts.join(", ")}`;
  }

  draw() {
    const { columns, view } = this.pane;
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    this.canvas.hidden = !columns.count;
    if (!width || !columns.count) return;
    const scale = devicePixelRatio || 1;
    this.canvas.width = width * scale;
    this.canvas.height = height * scale;
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    const style = getComputedStyle(document.documentElement);
    const shade = (name) => style.getPropertyValue(name).trim();
    const { live, count, waited } = columns;
    const top = 13, inner = height - top - 2;
    // The largest value of each pixel, so that nothing is missed in long code.
    const peaks = (values) => {
      const out = new Float64Array(Math.ceil(width));
      for (let at = 0; at < count; at += 1) {
        const from = Math.floor((at * width) / count), to = Math.max(from + 1, Math.floor(((at + 1) * width) / count));
        for (let x = from; x < to && x < out.length; x += 1) out[x] = Math.max(out[x], values[at]);
      }
      return out;
    };
    const notes = [];
    if (live.R) {
      const peak = largest(live.R), found = peaks(live.R);
      pen.fillStyle = shade("--bar");
      found.forEach((value, x) => pen.fillRect(x, top + inner * (1 - value / peak), 1, (inner * value) / peak));
      notes.push(`R ≤ ${peak}`);
      const occupancy = view.unit.data.occupancy;
      pen.strokeStyle = shade("--label");
      line(pen, found.map((value) => occupancy[Math.min(255, value)]), 1, top, inner);
      notes.push(`occupancy ≥ ${Math.round(100 * occupancy[Math.min(255, peak)])}%`);
    }
    for (const [file, name] of [["UR", "--number"], ["P", "--guard"]]) {
      if (!live[file]) continue;
      pen.strokeStyle = shade(name);
      line(pen, peaks(live[file]), Math.max(8, largest(live[file])) * 1.5, top, inner);
      notes.push(`${file} ≤ ${largest(live[file])}`);
    }
    if (waited) {
      pen.fillStyle = shade("--warm");
      const peak = largest(waited);
      peaks(waited).forEach((value, x) => { if (value) pen.fillRect(x, height - 2 - inner * 0.8 * Math.sqrt(value / peak), 1, inner * 0.8 * Math.sqrt(value / peak)); });
      notes.push(`waits ≤ ${peak}`);
    }
    const [from, to] = this.pane.numbersSeen();
    pen.strokeStyle = shade("--accent");
    pen.strokeRect((from * width) / count + 0.5, top - 0.5, Math.max(3, ((to - from + 1) * width) / count - 1), inner + 1);
    pen.font = "10px system-ui, sans-serif";
    pen.fillStyle = shade("--dim");
    pen.fillText(notes.join("   "), 5, 10);
  }
}

function line(pen, values, most, top, inner) {
  pen.beginPath();
  values.forEach((value, x) => pen.lineTo(x, top + inner * (1 - value / most)));
  pen.stroke();
}
