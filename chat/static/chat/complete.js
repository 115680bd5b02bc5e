/* What the question field offers while something is typed: presets, personas, tags, folders, notes. */

import { make, on, one } from "../secondbrain/js/app.js";

const WAIT = 120;
// What stands before the caret, and what it asks for. A preset or command begins the question.
const OPENERS = [
  ["preset", /^\/(?<typed>[\p{L}\d_-]*)$/u],
  ["persona", /(?<=^|\s)@(?<typed>[^\s@]*)$/u],
  ["tag", /(?<=^|\s)#(?<typed>[\p{L}\d_/-]*)$/u],
  ["path", /(?<=^|\s)path:"?(?<typed>[^\s"]*)$/iu],
  ["note", /\[\[(?<typed>[^[\]\n]{0,80})$/u],
];

export class Completer {
  /** `commands`: [{name, detail, run()}]; `onPersona(id)`, `onPreset(id)`, `onNarrow(token)`. */
  constructor(form, { commands, vaults, onPersona, onPreset, onNarrow }) {
    Object.assign(this, { form, commands, vaults, onPersona, onPreset, onNarrow });
    this.text = one("[data-text]", form);
    this.list = one("[data-offers]", form);
    this.offers = [];
    on(this.text, "input click", () => this.look());
    on(this.text, "blur", () => this.close());
    on(this.list, "pointerdown", (event) => {
      event.preventDefault(); // the field keeps the focus
      const option = event.target.closest("[role=option]");
      if (option) this.take([...this.list.children].indexOf(option));
    });
  }

  get isOpen() {
    return !this.list.hidden;
  }

  /** Whether the key was for the list. */
  onKey(event) {
    if (!this.isOpen) return false;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.mark((this.marked + step + this.offers.length) % this.offers.length);
    else if (event.key === "Enter" || event.key === "Tab") this.take(this.marked);
    else if (event.key === "Escape") this.close();
    else return false;
    event.preventDefault();
    return true;
  }

  opener() {
    const before = this.text.value.slice(0, this.text.selectionStart);
    for (const [kind, shape] of OPENERS) {
      const match = shape.exec(before);
      if (match) return { kind, typed: match.groups.typed, start: match.index, end: before.length };
    }
    return null;
  }

  look() {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.at = this.opener();
    if (!this.at) this.close();
    else this.timer = setTimeout(() => this.ask(this.at), WAIT);
  }

  async ask(at) {
    this.asking = new AbortController();
    const query = new URLSearchParams({ kind: at.kind, q: at.typed });
    for (const slug of this.vaults() ?? []) query.append("vault", slug);
    let found = [];
    try {
      const response = await fetch(`${this.form.dataset.complete}?${query}`, { signal: this.asking.signal });
      if (response.ok) found = (await response.json()).results;
    } catch {
      return; // typed on, or no line: an offer is never worth a message
    }
    if (this.at !== at) return;
    const own = at.kind === "preset" ? this.commands.filter(({ name }) => name.startsWith(`/${at.typed}`)) : [];
    this.show([...own.map((command) => ({ label: command.name, detail: command.detail, command })), ...found]);
  }

  show(offers) {
    this.offers = offers;
    this.list.replaceChildren(...offers.map((offer, nth) => {
      const inside = [make("b", { textContent: offer.label }), make("small", { textContent: offer.detail })];
      return make("li", { id: `${this.list.id}-${nth}`, role: "option" }, ...inside);
    }));
    this.list.hidden = !offers.length;
    if (this.isOpen) this.mark(0);
    else this.text.removeAttribute("aria-activedescendant");
  }

  mark(nth) {
    this.marked = nth;
    for (const [number, option] of [...this.list.children].entries()) option.ariaSelected = String(number === nth);
    const option = this.list.children[nth];
    this.text.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }

  close() {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.at = null;
    if (this.isOpen) this.show([]);
  }

  take(nth) {
    const offer = this.offers[nth];
    const { kind, start, end } = this.at;
    this.close();
    if (offer.command || kind === "persona" || (kind === "preset" && offer.asks)) this.put("", start, end);
    if (offer.command) offer.command.run();
    else if (kind === "persona") this.onPersona(offer.id);
    else if (kind === "preset" && offer.asks) this.onPreset(offer.id);
    else this.put(kind === "preset" ? offer.value : `${offer.value} `, start, end);
    if (kind === "tag" || kind === "path") this.onNarrow(offer.value);
  }

  put(value, start, end) {
    this.text.setRangeText(value, start, end, "end");
    this.text.dispatchEvent(new Event("input"));
  }
}
