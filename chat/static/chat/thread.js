/* The turns in the middle: adding one, drawing blocks, following the stream. */

import { make, on, one, parse } from "../secondbrain/js/app.js";
import { takeChanged } from "./events.js";

const NEAR = 80; // pixels from the end that still count as reading along
const LONG_QUESTION = 600, LONG_LINES = 8; // as in chat/presenters/answers.py

export class Thread {
  constructor(root, words) {
    this.root = root;
    this.words = words;
    this.list = one("[data-thread]", root);
    this.scroll = one("[data-scroll]", root);
    this.latest = one("[data-latest]", root);
    this.announcer = one("[data-announce]", root);
    this.drawn = new WeakMap(); // answer -> nodes of each block
    this.following = true;
    on(this.scroll, "scroll", () => this.onScroll(), { passive: true });
    on(this.latest, "click", () => this.toEnd());
    on(this.list, "click", ({ target }) => this.opening(target.closest("summary")?.parentElement));
    new ResizeObserver(() => this.keepUp()).observe(this.list);
    this.addCopyButtons(this.list);
  }

  get isAtEnd() {
    return this.scroll.scrollHeight - this.scroll.clientHeight - this.scroll.scrollTop < NEAR;
  }

  onScroll() {
    this.latest.hidden = this.following = this.isAtEnd;
  }

  keepUp() {
    if (this.following) this.scroll.scrollTop = this.scroll.scrollHeight;
    else this.latest.hidden = this.isAtEnd;
  }

  /** What is opened stays where it stands, and is seen. */
  opening(details) {
    if (!details) return;
    this.following = false;
    requestAnimationFrame(() => details.lastElementChild.scrollIntoView({ block: "nearest" }));
  }

  toEnd() {
    this.following = true;
    this.keepUp();
    this.latest.hidden = true;
  }

  /** Where reading begins: at the message that the address names, else at the end. */
  begin(hash) {
    const named = one(`[id="${CSS.escape(hash.slice(1))}"], [data-welcome]`, this.list);
    if (!named) { this.toEnd(); return; }
    this.following = false;
    named.scrollIntoView();
  }

  /** A new turn at the end, before the server knows of it. Gives its answer, and what takes it back. */
  add(question) {
    const welcome = one("[data-welcome]", this.list);
    const turn = this.newTurn(question);
    welcome?.remove();
    this.list.append(turn);
    this.toEnd();
    const undo = () => { turn.remove(); if (welcome) this.list.append(welcome); };
    return { answer: one(".answer", turn), undo };
  }

  /** A new branch in the place of `turn`: what followed it goes. Gives the same as `add`. */
  branch(turn, question) {
    const gone = [turn];
    while (gone.at(-1).nextElementSibling) gone.push(gone.at(-1).nextElementSibling);
    const fresh = this.newTurn(question ?? one("[data-question]", turn).textContent);
    turn.before(fresh);
    for (const each of gone) each.remove();
    this.toEnd();
    return { answer: one(".answer", fresh), undo: () => fresh.replaceWith(...gone) };
  }

  newTurn(question) {
    const turn = one("[data-turn-template]", this.root).content.firstElementChild.cloneNode(true);
    one("[data-question]", turn).textContent = question;
    one(".whole", turn).hidden = question.length <= LONG_QUESTION && question.split("\n").length <= LONG_LINES + 1;
    return turn;
  }

  stage(answer, text) {
    one("[data-stage-text]", answer).textContent = text;
  }

  /** A step of the model, in the place of what was told of it before. */
  step(answer, { number, html, what, state }) {
    const steps = one("[data-steps]", answer);
    const old = one(`[data-step="${number}"]`, steps);
    const fresh = parse(html).querySelector("li");
    if (old) old.replaceWith(fresh);
    else one("ol", steps).append(fresh);
    steps.hidden = false;
    steps.open = true;
    if (state === "asked") this.announce(`${one("summary", steps).textContent}: ${what}`);
  }

  /** Draw what changed; only blocks that changed are touched, so a selection survives. */
  draw(answer, run) {
    const prose = one("[data-prose]", answer);
    if (this.drawn.get(answer)?.resets !== run.resets) { // what the server drew before is drawn again by replay
      prose.replaceChildren();
      this.drawn.set(answer, Object.assign([], { resets: run.resets }));
    }
    const drawn = this.drawn.get(answer);
    for (const index of takeChanged(run)) {
      const block = run.blocks[index];
      const nodes = [...parse(block.html).childNodes];
      const after = drawn.slice(index + 1).flat()[0] ?? null;
      for (const old of drawn[index] ?? []) old.remove();
      for (const node of nodes) prose.insertBefore(node, after);
      drawn[index] = nodes;
      if (block.closed) {
        if (!run.isRepeat) this.announce(nodes.map((node) => node.textContent).join(" "));
        this.addCopyButtons(prose);
      }
    }
  }

  /** `fresh`: the turn as the server writes it; equal text is left alone. */
  finish(answer, fresh) {
    const prose = one("[data-prose]", answer);
    const next = one("[data-prose]", fresh);
    const focused = document.activeElement;
    this.addCopyButtons(fresh);
    if (prose.innerHTML.trim() === next.innerHTML.trim()) next.replaceWith(prose);
    answer.closest(".turn").replaceWith(fresh);
    window.htmx?.process(fresh);
    if (prose.contains(focused)) focused.focus();
    this.keepUp();
  }

  /** Told to screen readers a block at a time, never a token at a time. */
  announce(text) {
    this.announcer.append(make("p", { textContent: text.trim().slice(0, 1000) }));
    while (this.announcer.childElementCount > 5) this.announcer.firstElementChild.remove();
  }

  addCopyButtons(place) {
    for (const wide of place.querySelectorAll("pre, table, math[display=block]")) wide.tabIndex = 0; // it scrolls, also by keyboard
    for (const pre of place.querySelectorAll("pre")) {
      const frame = pre.closest(".code-block") ?? pre;
      if (one(".copy-code", frame)) continue;
      frame.append(make("button", { type: "button", className: "copy-code", textContent: this.words.copy }));
    }
  }
}
