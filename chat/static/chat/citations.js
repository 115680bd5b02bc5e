/* Numbers in an answer, the passages behind them, and the card that shows one. */

import { make, on } from "../secondbrain/js/app.js";

const CITE = "a.cite";
const GAP = 8;
const LAST = "a:not([hidden]), :has(+ a[hidden])"; // to be focused in the card

/** Start and end of the quote that `href` opens, in a passage from `start` of its note. */
export function quoteIn(href, start, length) {
  const span = href.match(/[?&]span=(\d+)-(\d+)(&|$)/);
  if (!span) return null;
  const [from, to] = [span[1] - start, span[2] - start];
  return from >= 0 && to <= length && from < to && to - from < length ? [from, to] : null;
}

/** The range on the page of the sentence that a chip stands in. */
export function sentenceOf(chip) {
  const block = chip.closest("p, li, td, th, dd, blockquote, h1, h2, h3, h4, h5, h6") ?? chip.parentElement;
  const range = document.createRange();
  range.setStart(block, 0);
  range.setEndAfter(chip);
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  let end = null; // of an earlier sentence, once more words follow it
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!(chip.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_PRECEDING)) break;
    if (node.parentElement.closest(CITE)) continue;
    if (end && /\S/.test(node.data)) range.setStart(...end);
    for (const match of node.data.matchAll(/[.!?。！？]["”»)]?(\s+|$)/gu)) {
      end = [node, match.index + match[0].length];
      if (/\S/.test(node.data.slice(end[1]))) range.setStart(...end);
    }
  }
  return range;
}

/** Where the card goes: under the sentence, else above it, never on it. */
export function place(sentence, card, view) {
  const left = Math.max(GAP, Math.min(sentence.chip - card.width / 3, view.width - card.width - GAP));
  const below = sentence.bottom + GAP;
  if (below + card.height <= view.height - GAP) return { left, top: below };
  const above = sentence.top - GAP - card.height;
  return { left, top: above >= GAP ? above : Math.max(GAP, view.height - card.height - GAP) };
}

/** The paragraph, as [start, end), that the characters [start, end) of `points` stand in. */
export function paragraphOf(points, [start, end]) {
  const isBreak = (at) => points[at] === "\n" && points[at - 1] === "\n";
  while (start > 0 && !isBreak(start - 1)) start -= 1;
  while (end < points.length && !isBreak(end)) end += 1;
  return [start, end];
}

export class Citations {
  constructor(root) {
    this.root = root;
    this.card = root.querySelector("[data-popover]");
    this.right = root.querySelector("[data-right]");
    const thread = root.querySelector("[data-thread]");
    on(thread, "pointerover", (event) => { if (event.pointerType !== "touch") this.onOver(event.target); });
    on(thread, "focusin", (event) => this.onOver(event.target, 0));
    on(thread, "pointerout focusout", (event) => { if (event.target.closest(CITE)) this.hideSoon(); });
    on(thread, "click", (event) => this.onClick(event));
    on(this.card, "pointerenter focusin", () => clearTimeout(this.timer));
    on(this.card, "pointerleave focusout", () => this.hideSoon());
    on(this.card, "keydown", (event) => {
      if (event.key !== "Tab" || event.shiftKey || !event.target.matches(LAST)) return;
      event.preventDefault(); // reading goes on behind the number
      this.leave();
    });
    on(this.right, "pointerover focusin", (event) => this.markChips(event.target.closest("[data-source]")));
    on(this.right, "pointerleave", () => this.markChips(null));
    on(root.querySelector("[data-scroll]"), "scroll", () => this.hide(), { passive: true });
    const named = document.getElementById(location.hash.slice(1)); // by a number in another tab
    const section = named?.closest("[data-sources]");
    if (section) { this.showSources(section.dataset.sources); named.scrollIntoView(); }
  }

  get isOpen() {
    return this.card.matches(":popover-open");
  }

  onOver(target, delay = 90) {
    const chip = target.closest(CITE);
    if (!chip) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.show(chip), this.isOpen ? 0 : delay);
  }

  /** A mouse follows the link; a finger or a key first opens the card, whose link leads on. */
  onClick(event) {
    const chip = event.target.closest(CITE);
    const isKey = event.detail === 0;
    if (!chip || event.ctrlKey || event.metaKey || event.shiftKey || !(isKey || event.pointerType === "touch")) return;
    event.preventDefault();
    clearTimeout(this.timer);
    if (this.isOpen && this.chip === chip && !isKey) this.hide();
    else this.show(chip);
    if (isKey) this.card.querySelector(LAST).focus();
  }

  sourceOf(chip) {
    const message = chip.closest("[data-answer]")?.dataset.answer;
    return this.right.querySelector(`[data-sources="${message}"] [data-source="${chip.dataset.n}"]`);
  }

  show(chip) {
    const source = this.sourceOf(chip);
    if (!source || !chip.isConnected) return;
    this.hide();
    this.chip = chip;
    const range = sentenceOf(chip);
    this.fill(source, chip);
    this.card.showPopover();
    const [sentence, own, card] = [range, chip, this.card].map((each) => each.getBoundingClientRect());
    const bottom = Math.max(sentence.bottom, own.bottom);
    const spot = place({ top: sentence.top, bottom, chip: own.left }, card, { width: innerWidth, height: innerHeight });
    this.card.style.left = `${spot.left}px`;
    this.card.style.top = `${spot.top}px`;
    this.showSources(chip.closest("[data-answer]").dataset.answer);
    this.mark(source, [chip]);
    if (!this.right.hasAttribute("popover") || getComputedStyle(this.right).position === "static") source.scrollIntoView({ block: "nearest" });
  }

  fill(source, chip) {
    for (const name of ["source-title", "where", "when", "also", "summary", "flag", "old"]) {
      const from = source.querySelector(`[data-${name}]`);
      this.card.querySelector(`[data-${name}]`).textContent = from?.textContent ?? "";
    }
    if (chip.dataset.where) this.card.querySelector("[data-where]").textContent = chip.dataset.where; // of the quote itself
    const open = this.card.querySelector("[data-open-passage]");
    open.href = chip.href;
    open.hidden = !source.href; // its note is gone
    this.card.querySelector("[data-weak]").hidden = !chip.matches(".weak");
    const quote = Array.from(source.querySelector("[data-quote]").textContent); // spans count characters, not UTF-16 units
    const place = this.card.querySelector("[data-quote]");
    const found = quoteIn(chip.dataset.span ?? chip.href, Number(source.dataset.start), quote.length);
    if (!found) { place.textContent = quote.join(""); return; }
    const mark = make("mark", { textContent: quote.slice(...found).join("") });
    const [start, end] = paragraphOf(quote, found);
    place.replaceChildren(quote.slice(start, found[0]).join("").trimStart(), mark, quote.slice(found[1], end).join("").trimEnd());
    requestAnimationFrame(() => { place.scrollTop = Math.max(0, mark.offsetTop - place.offsetTop - 24); });
  }

  hideSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.hide(), 220);
  }

  hide() {
    clearTimeout(this.timer);
    if (this.isOpen) this.card.hidePopover();
    this.mark(null, []);
    this.chip = null;
  }

  /** Close the card; who was in it is back at the number. */
  leave() {
    const { chip } = this;
    const wasInside = this.card.contains(document.activeElement);
    this.hide();
    if (!wasInside) return;
    chip.focus();
    clearTimeout(this.timer); // the focus must not open it again
  }

  mark(source, chips) {
    for (const old of this.root.querySelectorAll(".on")) old.classList.remove("on");
    source?.classList.add("on");
    for (const chip of chips) chip.classList.add("on");
  }

  markChips(source) {
    const message = source?.closest("[data-sources]").dataset.sources;
    const answer = message && this.root.querySelector(`[data-answer="${message}"]`);
    const chips = answer ? [...answer.querySelectorAll(`${CITE}[data-n="${source.dataset.source}"]`)] : [];
    this.mark(source, chips);
  }

  /** The right column shows the passages of one answer at a time. */
  showSources(message) {
    for (const section of this.right.querySelectorAll("[data-sources]")) section.hidden = section.dataset.sources !== message;
    this.right.querySelector("[data-no-sources]").hidden = Boolean(this.right.querySelector("[data-sources]:not([hidden])"));
  }

  /** Passages as soon as they are found, before the first word. */
  found(message, passages, heading) {
    this.right.querySelector(`[data-sources="${message}"]`)?.remove();
    const section = make("section", { className: "sources" }, ...passages.map((passage) => this.newCard(passage)));
    section.dataset.sources = message;
    if (passages.length) section.prepend(make("h2", { className: "heading", textContent: heading }));
    this.right.prepend(section);
    this.showSources(message);
  }

  newCard(passage) {
    const card = this.root.querySelector("[data-source-template]").content.firstElementChild.cloneNode(true);
    card.href = passage.url;
    Object.assign(card.dataset, { source: passage.number, start: passage.start });
    const fill = (name, text) => { card.querySelector(`[data-${name}]`).textContent = text; };
    fill("number", passage.number);
    fill("source-title", passage.title);
    const headings = passage.heading_path[0] === passage.title ? passage.heading_path.slice(1) : passage.heading_path;
    fill("where", [passage.vault_name, ...headings].join(" › "));
    fill("quote", passage.text);
    fill("snippet", passage.text.replace(/^(#{1,6}[ \t].*|[ \t|:-]*-{3}[ \t|:-]*)$|[|`]|!?\[\[|\]\]/gm, " ").trim() || passage.text);
    const when = passage.updated ? new Date(passage.updated) : null;
    fill("when", when ? when.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }) : "");
    return card;
  }

  /** The cards as the server writes them at the end: `fresh`, if any. */
  settle(message, fresh) {
    const old = this.right.querySelector(`[data-sources="${message}"]`);
    if (!fresh) return;
    fresh.hidden = Boolean(old?.hidden);
    if (old) old.replaceWith(fresh);
    else this.right.prepend(fresh);
    if (!fresh.hidden) this.showSources(message);
  }
}
