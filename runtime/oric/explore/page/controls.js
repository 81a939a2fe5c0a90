"use strict";
/* Controls of the served page: what is compiled, and again when the file changes. */

const POLL = 1000; // milliseconds between questions whether the file has changed

class Controls {
  constructor(form, settings, told) {
    this.form = form;
    this.told = told;
    this.version = settings.version;
    this.fields = settings.fields.map((field) => this.field(field));
    this.state = element("span", { id: "state", role: "status" });
    form.append(...this.fields.map(({ label }) => label), this.state);
    form.hidden = false;
    form.addEventListener("submit", (event) => { event.preventDefault(); this.fetch(); });
    form.addEventListener("change", () => this.fetch());
    setInterval(() => this.poll(), POLL);
  }

  field({ name, title, value, choices, hint }) {
    const input = choices
      ? element("select", { name }, ...choices.map((choice) => element("option", { value: choice }, choice)))
      : element("input", { name, placeholder: hint || "", size: name === "more" ? "34" : "14", autocomplete: "off", spellcheck: "false" });
    input.value = value;
    return { input, label: element("label", {}, title, input) };
  }

  query() { return new URLSearchParams(this.fields.map(({ input }) => [input.name, input.value])).toString(); }

  async fetch() {
    this.state.textContent = "compiling …";
    const query = this.query();
    try {
      const answer = await fetch(`data?${query}`);
      const text = await answer.text();
      if (query !== this.query()) return; // there is a later question
      if (!answer.ok) { this.state.textContent = text; return; }
      this.version = answer.headers.get("x-version");
      this.told(await unpack(text));
      this.state.textContent = "";
    } catch (problem) { this.state.textContent = `no answer: ${problem.message}`; }
  }

  async poll() {
    try {
      const version = await (await fetch("version")).text();
      if (version !== this.version) { this.version = version; await this.fetch(); }
      else if (this.state.textContent.startsWith("no answer")) this.state.textContent = "";
    } catch (problem) { this.state.textContent = `no answer: ${problem.message}`; }
  }

  /* Compile without a phase, by its number; its name stays in the list of those that are off, where it can be taken out. */
  toggle(index) {
    const input = this.fields.map((field) => field.input).find((one) => one.name === "disable-phase");
    const now = input.value.split(",").filter(Boolean);
    input.value = (now.includes(`${index}`) ? now.filter((one) => one !== `${index}`) : [...now, `${index}`]).join(",");
    this.fetch();
  }
}
