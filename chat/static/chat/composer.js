/* The question field: growing, keys, drafts, scope, presets, Send and Stop. */

import { make, on, one } from "../secondbrain/js/app.js";
import { Completer } from "./complete.js";

const DRAFT = "draft:";
const MOST_NAMED = 2; // as in chat/presenters/page.py

export class Composer {
  /** `onUp()` takes the up-arrow in an empty field: true when it did. */
  constructor(root, words, { onAsk, onStop, onPreset, onUp }) {
    this.form = one("[data-composer]", root);
    this.text = one("[data-text]", this.form);
    this.send = one("[data-send]", this.form);
    this.stop = one("[data-stop]", this.form);
    this.refused = one("[data-refused]", this.form);
    Object.assign(this, { words, onAsk, onUp, isRunning: false, queued: "" });
    on(one("[data-unqueue]", this.form), "click", () => this.giveBack(this.unqueue(), ""));
    this.narrowed = new Set(); // tags and folders that were chosen from the offers
    this.completer = new Completer(this.form, {
      commands: this.commands(root),
      vaults: () => this.choices().vaults,
      onPersona: (id) => { this.form.elements.persona.value = id; },
      onPreset,
      onNarrow: (token) => { this.narrowed.add(token); this.showNarrowed(); },
    });
    on(this.form, "submit", (event) => { event.preventDefault(); this.submit(); });
    on(this.text, "keydown", (event) => this.onKey(event));
    on(this.text, "input", () => { this.grow(); this.keepDraft(); this.showNarrowed(); this.refuse(this.tooLong); });
    on(this.stop, "click", onStop);
    on(this.form, "change", ({ target }) => { if (target.name === "vaults") this.onVaults(target); });
  }

  /** Which conversation drafts belong to; brings back what was typed there. */
  belongTo(conversation) {
    this.key = DRAFT + (conversation || "new");
    const kept = localStorage.getItem(this.key);
    if (kept && !this.text.value) this.text.value = kept;
    this.form.elements.conversation.value = conversation ?? "";
    this.grow();
  }

  focus() {
    if (matchMedia("(pointer: fine)").matches) this.text.focus(); // no keyboard over a phone's page
  }

  keepDraft() {
    const text = [this.queued, this.text.value].filter(Boolean).join("\n\n");
    if (text) localStorage.setItem(this.key, text);
    else localStorage.removeItem(this.key);
  }

  grow() {
    if (CSS.supports("field-sizing", "content")) return;
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight, innerHeight * 0.4)}px`;
  }

  onKey(event) {
    if (event.isComposing || event.keyCode === 229) return; // an input method is at work
    if (this.completer.onKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.submit();
    }
    if (event.key === "ArrowUp" && !this.text.value && this.onUp()) event.preventDefault();
  }

  get tooLong() {
    return this.queued.length + this.text.value.length > this.words.most ? this.words.too_long : "";
  }

  submit() {
    const text = this.text.value.trim();
    this.refuse(this.tooLong);
    if (!text || this.tooLong) return;
    if (this.isRunning) this.queue(text);
    else this.onAsk(text);
  }

  /** Ask `text` when the answer that is being written has ended. Until then it is a draft as well. */
  queue(text) {
    this.queued = [this.queued, text].filter(Boolean).join("\n\n");
    this.clear();
    this.showQueued();
  }

  showQueued() {
    const box = one("[data-queued]", this.form);
    box.hidden = !this.queued;
    one("[data-queued-text]", box).textContent = this.queued;
    this.keepDraft();
  }

  /** What was queued, which is then no longer. */
  unqueue() {
    const text = this.queued;
    this.queued = "";
    this.showQueued();
    return text;
  }

  /** What a slash does besides calling a preset. */
  commands(root) {
    const mode = (value) => () => { this.form.elements.mode.value = value; };
    const run = {
      "/new": () => one("[data-new]", root).click(),
      "/search": () => { location.href = this.words.search_url; },
      "/presets": () => { location.href = this.words.presets_url; },
      "/settings": () => one("[data-open$='-settings']", root).click(),
      "/notes-only": mode("notes_only"),
      "/notes-first": mode("notes_first"),
      "/no-notes": mode("no_notes"),
    };
    return this.words.commands.map(({ name, detail }) => ({ name, detail, run: run[name] }));
  }

  /** The tags and folders in the question that narrow the search, each with a way out. */
  showNarrowed() {
    const box = one("[data-narrowed]", this.form);
    const used = [...this.narrowed].filter((token) => this.text.value.includes(token));
    box.replaceChildren(...used.map((token) => {
      const ariaLabel = this.words.unnarrow.replace("{token}", token);
      return make("button", { type: "button", className: "chip tinted", textContent: `${token} ×`, ariaLabel, onclick: () => this.widen(token) });
    }));
    box.hidden = !used.length;
  }

  widen(token) {
    this.narrowed.delete(token);
    this.text.value = this.text.value.replace(token, "").replace(/ {2,}/g, " ").trimStart();
    this.text.dispatchEvent(new Event("input"));
    this.text.focus();
  }

  /** The question left the field; the draft stays until the server has it. */
  clear() {
    this.text.value = "";
    this.refuse("");
    this.grow();
    this.showNarrowed();
  }

  /** Put a question back that could not be asked, and say why. */
  giveBack(text, why) {
    this.text.value = this.text.value ? `${text}\n${this.text.value}` : text;
    this.keepDraft();
    this.grow();
    this.refuse(why);
    this.text.focus();
  }

  refuse(why) {
    this.refused.textContent = why;
    this.refused.hidden = !why;
  }

  running(isRunning) {
    const hadFocus = document.activeElement === this.stop || document.activeElement === this.send;
    this.isRunning = isRunning;
    this.send.hidden = isRunning;
    this.stop.hidden = !isRunning;
    if (hadFocus) this.text.focus();
  }

  get vaults() {
    return [...this.form.querySelectorAll("[name=vaults]")];
  }

  /** What the next answer is written with: empty fields are left to the settings. */
  choices() {
    const data = new FormData(this.form);
    const ticked = data.getAll("vaults");
    const insists = this.choseVaults && data.get("conversation");
    return {
      mode: data.get("mode") || null,
      model: Number(data.get("model")) || null,
      persona: data.get("persona") ? Number(data.get("persona")) : null, // 0: none, whatever the settings have
      tool_use: data.get("tool_use") || null,
      // Untouched, all of them is no choice: then the persona's hold, or the conversation's.
      vaults: ticked.length && (insists || ticked.length < this.vaults.length) ? ticked : null,
    };
  }

  onVaults(box) {
    this.choseVaults = true;
    const boxes = this.vaults;
    if (!boxes.some((each) => each.checked)) box.checked = true; // nothing to search is no choice
    const names = boxes.filter((each) => each.checked).map((each) => each.parentElement.textContent.trim());
    const { all_vaults: all, some_vaults: some } = this.words;
    const many = names.length === boxes.length ? all : some.replace("{count}", names.length);
    one("[data-vaults-text]", this.form).textContent = names.length <= MOST_NAMED ? names.join(", ") : many;
  }
}
