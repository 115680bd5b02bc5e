/* Numbers in an answer, the passages behind them, and the card that shows one. */

import { make, on, one } from "../secondbrain/js/app.js";

const CITE = "a.cite";
const GAP = 8;
const EDGE = "\uE000"; // stands in no text
const LAST = "a:not([hidden]), :has(+ a[hidden])"; // to be focused in the card

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

// Of Markdown: code, what a line begins with, rows of a table, links, emphasis.
const MARKS = new RegExp([
  /^ *(```|~~~).*\n([^]*?)(?:^ *\1.*\n?|(?![^]))/, /(`+)(.+?)\3/,
  /^ *(?:>[ >]*(?:\[!\w+\]\S?)?|#{1,6}(?= )) */, /^ *\|? *:?-{3,}[-| :]*\n?/,
  /^ *\| */, / *\| *$/, /(?<=^ *\|.*)( *\| *)/,
  /!?\[\[(?:[^[\]\n|]*\|)?([^[\]\n|]*)\]\]/, /!?\[([^[\]\n]*)\]\([^()\s]*\)/,
  /(?<!\w)(\*{1,3}|~~|==|_{1,2})(\S|\S.*?\S)\8(?!\w)/,
].map((mark) => mark.source).join("|"), "gm");

/** A passage as it reads, without Markdown's marks. */
export function plain(text) {
  return text.replace(MARKS, (_0, _1, block, _2, code, bar, note, link, _3, said) => {
    const inside = note ?? link ?? said;
    return block ?? code ?? (inside ? plain(inside) : bar ? " · " : "");
  });
}

/** The quote that `href` opens in a passage, and around it its paragraph: [before, quote, after]. */
export function quoteIn(href, start, passage) {
  const span = href.match(/[?&]span=(\d+)-(\d+)(&|$)/);
  const points = Array.from(passage); // spans count characters, not UTF-16 units
  const [from, to] = [span?.[1] - start, span?.[2] - start];
  if (!(from >= 0 && to <= points.length && from < to && to - from < points.length)) return null;
  points[from] = EDGE + points[from];
  points[to - 1] += EDGE;
  const [before, quote, after] = plain(points.join("")).split(EDGE);
  return [before.split("\n\n").at(-1).trimStart(), quote, after.split("\n\n")[0].trimEnd()];
}

export class Citations {
  constructor(root) {
    this.root = root;
    this.card = one("[data-popover]", root);
    this.right = one("[data-right]", root);
    const thread = one("[data-thread]", root);
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
    on(one("[data-scroll]", root), "scroll", () => this.hide(), { passive: true });
    const named = document.getElementById(location.hash.slice(1)); // by a number in another tab
    const section = named?.closest("[data-sources]");
    if (section) { this.open(section.dataset.sources); named.scrollIntoView(); }
  }

  get isOpen() {
    return this.card.matches(":popover-open");
  }

  /** On a narrow page the passages are behind a button. */
  get isDrawer() {
    return getComputedStyle(this.right).position === "fixed";
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
    if (chip?.matches("[href^='#']")) this.open(chip.closest("[data-answer]").dataset.answer); // to its card
    if (!chip || event.ctrlKey || event.metaKey || event.shiftKey || !(isKey || event.pointerType === "touch")) return;
    event.preventDefault();
    clearTimeout(this.timer);
    if (this.isOpen && this.chip === chip && !isKey) this.hide();
    else this.show(chip);
    if (isKey) one(LAST, this.card).focus();
  }

  sourceOf(chip) {
    const message = chip.closest("[data-answer]")?.dataset.answer;
    return one(`[data-sources="${message}"] [data-source="${chip.dataset.n}"]`, this.right);
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
    if (!this.isDrawer) source.scrollIntoView({ block: "nearest" });
  }

  fill(source, chip) {
    for (const name of ["source-title", "where", "when", "also", "summary", "flag", "old"]) {
      const from = one(`[data-${name}]`, source);
      one(`[data-${name}]`, this.card).textContent = from?.textContent ?? "";
    }
    if (chip.dataset.where) one("[data-where]", this.card).textContent = chip.dataset.where; // of the quote itself
    const open = one("[data-open-passage]", this.card);
    open.href = chip.href;
    open.hidden = !source.href; // its note is gone
    one("[data-weak]", this.card).hidden = !chip.matches(".weak");
    const quote = one("[data-quote]", source).textContent;
    const place = one("[data-quote]", this.card);
    const found = quoteIn(chip.dataset.span ?? chip.href, source.dataset.start, quote);
    if (!found) { place.textContent = plain(quote); return; }
    const mark = make("mark", { textContent: found[1] });
    place.replaceChildren(found[0], mark, found[2]);
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
    const answer = message && one(`[data-answer="${message}"]`, this.root);
    const chips = answer ? [...answer.querySelectorAll(`${CITE}[data-n="${source.dataset.source}"]`)] : [];
    this.mark(source, chips);
  }

  /** The right column shows the passages of one answer at a time. */
  showSources(message) {
    for (const section of this.right.querySelectorAll("[data-sources]")) section.hidden = section.dataset.sources !== message;
    one("[data-no-sources]", this.right).hidden = Boolean(one("[data-sources]:not([hidden])", this.right));
  }

  open(message) {
    this.showSources(message);
    if (this.isDrawer) this.right.showPopover();
  }

  /** Passages as soon as they are found, before the first word. */
  found(message, passages, heading) {
    one(`[data-sources="${message}"]`, this.right)?.remove();
    const section = make("section", { className: "sources" }, ...passages.map((passage) => this.newCard(passage)));
    section.dataset.sources = message;
    if (passages.length) section.prepend(make("h2", { className: "heading", textContent: heading }));
    this.right.prepend(section);
    this.showSources(message);
  }

  newCard(passage) {
    const card = one("[data-source-template]", this.root).content.firstElementChild.cloneNode(true);
    card.href = passage.url;
    Object.assign(card.dataset, { source: passage.number, start: passage.start });
    const fill = (name, text) => { one(`[data-${name}]`, card).textContent = text; };
    fill("number", passage.number);
    fill("source-title", passage.title);
    const headings = passage.heading_path[0] === passage.title ? passage.heading_path.slice(1) : passage.heading_path;
    fill("where", [passage.vault_name, ...headings].join(" › "));
    fill("quote", passage.text);
    fill("snippet", plain(passage.text.replace(/^#.*\n+/, "")));
    const when = passage.updated ? new Date(passage.updated) : null;
    fill("when", when ? when.toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }) : "");
    return card;
  }

  /** The cards as the server writes them at the end: `fresh`, if any. */
  settle(message, fresh) {
    const old = one(`[data-sources="${message}"]`, this.right);
    if (!fresh) return;
    fresh.hidden = Boolean(old?.hidden);
    if (old) old.replaceWith(fresh);
    else this.right.prepend(fresh);
    if (!fresh.hidden) this.showSources(message);
  }
}
