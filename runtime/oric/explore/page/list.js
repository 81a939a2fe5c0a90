"use strict";
/* A list of which only the lines that can be seen are in the document. */

const ROW = 18; // pixels, as style.css has it
const SPARE = 12; // lines made above and below what is seen

class List {
  /* `make(at)` gives the element of a line. */
  constructor(label, make) {
    this.make = make;
    this.count = 0;
    this.host = element("div", { class: "list", tabindex: "0", role: "list", "aria-label": label });
    this.space = element("div", { class: "space" });
    this.rows = element("div", { class: "rows" });
    this.space.append(this.rows);
    this.host.append(this.space);
    this.first = 0;
    this.end = 0;
    this.waiting = false;
    this.onscroll = [];
    this.ondraw = () => {};
    this.host.addEventListener("scroll", () => this.later());
    new ResizeObserver(() => this.later()).observe(this.host);
  }

  setCount(count) {
    this.count = count;
    this.space.style.height = `${count * ROW}px`;
    this.refresh();
  }

  /* Make all lines that are seen anew. */
  refresh() { this.end = this.first = -1; this.draw(); }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); this.onscroll.forEach((told) => told()); });
  }

  draw() {
    const top = this.host.scrollTop, height = this.host.clientHeight || 600;
    const first = Math.max(0, Math.floor(top / ROW) - SPARE);
    const end = Math.min(this.count, Math.ceil((top + height) / ROW) + SPARE);
    if (first === this.first && end === this.end) return;
    // Lines that stay seen stay as they are: a selection of text outlives scrolling.
    const from = Math.max(first, this.first), to = Math.min(end, this.end);
    if (from >= to) {
      this.rows.replaceChildren(...this.made(first, end));
    } else {
      for (const row of [...this.rows.children]) if (Number(row.dataset.at) < first || Number(row.dataset.at) >= end) row.remove();
      this.rows.prepend(...this.made(first, from));
      this.rows.append(...this.made(to, end));
    }
    this.rows.style.transform = `translateY(${first * ROW}px)`;
    this.first = first;
    this.end = end;
    this.ondraw();
  }

  made(from, to) {
    const out = [];
    for (let at = from; at < to; at += 1) {
      const row = this.make(at);
      row.dataset.at = at;
      row.setAttribute("role", "listitem");
      out.push(row);
    }
    return out;
  }

  /* Give the lines that are there the classes of `classes(at)`: {name: whether}. */
  mark(classes) {
    for (const row of this.rows.children) {
      for (const [name, on] of Object.entries(classes(Number(row.dataset.at)))) row.classList.toggle(name, on);
    }
  }

  isSeen(at) { return at * ROW >= this.host.scrollTop && (at + 1) * ROW <= this.host.scrollTop + this.host.clientHeight; }

  reveal(at) {
    if (at < 0 || this.isSeen(at)) return;
    this.host.scrollTop = Math.max(0, at * ROW - this.host.clientHeight / 3);
    this.draw();
  }

  /* Lines that can be seen, first and behind the last. */
  get window() { return [this.host.scrollTop / ROW, (this.host.scrollTop + this.host.clientHeight) / ROW]; }
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}
