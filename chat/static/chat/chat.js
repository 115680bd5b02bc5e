/* The chat, as a page and over other pages: everything is wired here. */

import { copy, on, one, parse, toast } from "../secondbrain/js/app.js";
import { Branches } from "./branches.js";
import { Citations } from "./citations.js";
import { Composer } from "./composer.js";
import { Acts } from "./conversations.js";
import { countSources, newRun, take } from "./events.js";
import { ChatSocket } from "./socket.js";
import { Thread } from "./thread.js";

const SHOW_LOSS_AFTER = 1200; // a reconnect that takes less is nobody's business
const LOOK_EVERY = 5000;
const MOST_MARKED = 2000; // characters, which travel in an address
const SILENT_AFTER = 12000; // a run that says nothing this long is asked after

class Chat {
  constructor(root, hash = location.hash) {
    this.root = root;
    this.words = JSON.parse(one(`#${root.id}-words`).textContent);
    this.acts = new Acts(root, this.words, (result) => this.onActed(result));
    this.conversation = root.dataset.conversation || null;
    this.runs = new Map(); // run id -> {state, answer}
    this.asked = null; // sent, and not yet accepted
    this.marked = ""; // on the page: a click into the field unmarks it, a preset still wants it
    this.thread = new Thread(root, this.words);
    this.citations = new Citations(root);
    this.composer = new Composer(root, this.words, {
      onAsk: (text) => this.ask({ text }),
      onStop: () => this.stop(),
      onPreset: (id) => this.acts.open(`${this.words.presets_url}/${id}/fill?${new URLSearchParams({ selection: this.marked })}`),
      onUp: () => this.branches.editLast(),
    });
    this.branches = new Branches(root, { ask: (what) => this.ask(what), show: () => this.reload() });
    this.composer.belongTo(this.conversation);
    this.adopt();
    on(root, "click", (event) => this.onClick(event));
    on(root, "submit", (event) => this.onSubmit(event));
    on(root, "pointerup keyup", ({ target }) => this.onMark(String(getSelection()).slice(0, MOST_MARKED), target));
    on(root, "settings-saved", (event) => this.onSettings(event.detail));
    on(root, "change", ({ target }) => { if (target.matches("[data-provider]")) this.offerModels(target.value); });
    on(root, "htmx:afterSwap", () => this.offerProviders());
    this.offerProviders();
    this.onEscape = (event) => this.escape(event);
    on(document, "keydown", this.onEscape);
    this.socket = new ChatSocket(root.dataset.socket, {
      onFrame: (frame) => this.onFrame(frame),
      onState: (state) => this.onState(state),
    });
    this.watch = setInterval(() => this.lookAfterSilent(), LOOK_EVERY);
    this.thread.begin(hash);
    this.composer.focus();
    const begun = one("[data-open-now]", root); // open without scripts, and then over nothing
    begun?.close();
    begun?.showModal();
  }

  /** Answers that the server says are being written. */
  adopt() {
    for (const answer of this.root.querySelectorAll("[data-run]")) {
      const ids = { run: answer.dataset.run, conversation: this.conversation, message: answer.dataset.answer };
      this.runs.set(ids.run, { state: newRun(ids), answer, heard: Date.now() });
    }
    this.composer.running(this.runs.size > 0);
  }

  ask(what) {
    if (this.over) this.composer.refuse(this.words[this.over]);
    if (this.over || this.composer.isRunning) return;
    const id = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
    const { turn, ...fields } = what;
    const { answer, undo } = turn ? this.thread.branch(turn, what.text) : this.thread.add(what.text);
    const frame = { type: "ask", id, conversation: this.conversation, temporary: "temporary" in this.root.dataset, ...this.composer.choices(), ...fields };
    this.asked = { id, frame, answer, undo, isSent: false };
    if (!turn) this.composer.clear();
    else this.composer.focus(); // what had it is gone
    this.composer.running(true);
    this.thread.stage(answer, frame.mode === "no_notes" ? this.words.writing : this.words.searching);
    this.sendAsked();
  }

  /** A question typed while the line is down goes out when it is up again, once. */
  sendAsked() {
    if (this.asked && !this.asked.isSent) this.asked.isSent = this.socket.send(this.asked.frame);
  }

  stop() {
    if (this.asked && !this.asked.isSent) { this.takeBack(""); return; }
    for (const run of this.runs.keys()) this.socket.send({ type: "stop", run });
  }

  takeBack(why) {
    const { frame, undo } = this.asked;
    this.asked = null;
    undo();
    this.composer.running(false);
    if (this.composer.queued) this.composer.giveBack(this.composer.unqueue(), "");
    if (!frame.again && !frame.continue && !frame.edit) this.composer.giveBack(frame.text, why);
    else this.composer.refuse(why);
  }

  onFrame(frame) {
    if (/^(accepted|refused|attached|title)$/.test(frame.type)) this[frame.type](frame);
    else if (frame.type !== "pong") this.event(frame);
  }

  accepted(frame) {
    if (frame.id !== this.asked?.id) return;
    const { answer } = this.asked;
    answer.dataset.answer = frame.message;
    answer.dataset.run = frame.run;
    this.runs.set(frame.run, { state: newRun(frame), answer, heard: Date.now() });
    this.asked = null;
    this.composer.keepDraft(); // of what was queued or typed meanwhile
    if (frame.title) this.showTitle(frame.title);
    if (this.conversation === frame.conversation) return;
    this.conversation = frame.conversation;
    this.root.dataset.conversation = frame.conversation;
    for (const link of this.root.querySelectorAll("[data-of-conversation]")) {
      link.href = `${this.address()}/${link.dataset.ofConversation}`;
      link.hidden = false;
    }
    this.composer.belongTo(frame.conversation);
    if (!this.root.closest("dialog")) history.replaceState(null, "", this.address());
    this.refreshList();
  }

  refused(frame) {
    if (this.asked && frame.id === this.asked.id) this.takeBack(frame.text);
    else if (this.runs.has(frame.id)) this.settle(this.runs.get(frame.id)); // it may not be followed any more
    else toast(frame.text);
  }

  /** A run of this conversation that another tab began is drawn from the page. */
  attached(frame) {
    const run = this.runs.get(frame.run);
    if (!run && (frame.run || this.runs.size)) this.reload();
    // A killed server loses the last second: its end may bear a number that was seen already.
    if (run && frame.status !== "running") setTimeout(() => { if (this.runs.has(frame.run)) this.settle(run); }, 1000);
  }

  lookAfterSilent() {
    for (const run of this.runs.values()) {
      if (Date.now() - run.heard > SILENT_AFTER && this.socket.isOpen) this.attach(run);
    }
  }

  event(event) {
    const run = this.runs.get(event.run);
    if (!run) return;
    const { state, answer } = run;
    run.heard = Date.now();
    const taken = take(state, event);
    if (taken === "gap") this.attach(run);
    if (taken !== "new") return;
    if (event.type === "sources") this.onSources(answer, event);
    if (event.type === "status") this.thread.stage(answer, this.stageText(state));
    if (event.type === "block" || event.type === "reset") this.drawSoon(run);
    if (event.type === "tool") this.thread.step(answer, event);
    if (state.end) this.end(run);
  }

  drawSoon(run) {
    run.frame ??= requestAnimationFrame(() => {
      run.frame = null;
      if (run.answer.isConnected) this.thread.draw(run.answer, run.state);
    });
  }

  onSources(answer, event) {
    this.citations.found(event.message, event.passages, this.words.read);
    this.thread.stage(answer, this.stageText({ sources: event, stage: this.words.writing }));
  }

  stageText({ sources, stage }) {
    if (!sources?.passages.length) return stage;
    const count = countSources(sources);
    const counts = this.words.passages.replace(/{(\w+)}/g, (_, name) => count[name]);
    return stage ? `${counts} · ${stage}` : counts;
  }

  title(frame) {
    if (frame.conversation === this.conversation) this.showTitle(frame.title);
    this.refreshList();
  }

  showTitle(title) {
    one("[data-title]", this.root).textContent = title;
    if (!this.root.closest("dialog")) document.title = `${title} · SecondBrain`;
  }

  /** The end: what the server has kept is shown, so that a reload would look the same. */
  end(run) {
    cancelAnimationFrame(run.frame);
    this.thread.draw(run.answer, run.state);
    if (run.state.end.code === "rights_changed") this.forget(run);
    this.thread.announce(run.state.end.text ?? this.words[run.state.end.type]);
    return this.settle(run);
  }

  /** Nothing of a vault that may not be read any more stays on the page, whatever the line does next. */
  forget({ state, answer }) {
    one("[data-prose]", answer).replaceChildren();
    this.citations.found(state.message, [], "");
  }

  async settle({ state, answer }) {
    this.runs.delete(state.run);
    this.composer.running(this.runs.size > 0);
    if (this.composer.queued && !this.runs.size) this.ask({ text: this.composer.unqueue() });
    try {
      const response = await fetch(`${this.address()}/turns/${state.message}`, { headers: { "HX-Request": "true" } });
      if (!response.ok) throw new Error(response.statusText);
      const page = parse(await response.text());
      this.thread.finish(answer, one("[data-turn]", page));
      this.citations.settle(state.message, one("[data-sources]", page));
      one("[data-limit]", this.root).replaceWith(one("[data-limit]", page));
    } catch {
      this.endAlone(answer, state.end);
    }
    this.refreshList();
  }

  /** The line went down in the last moment: the event itself says enough. */
  endAlone(answer, end) {
    if (!end) return;
    if (end.html !== undefined) one("[data-prose]", answer).innerHTML = end.html;
    one("[data-stage]", answer).textContent = end.type === "error" ? `${end.text} ${end.mend}` : "";
  }

  onState(state) {
    clearTimeout(this.lossTimer);
    const banner = one("[data-offline]", this.root);
    if (state === "open") {
      banner.hidden = true;
      if (this.asked?.isSent) this.takeBack(this.words.unsure);
      this.sendAsked();
      for (const run of this.runs.values()) this.attach(run);
      if (!this.runs.size && this.conversation) this.socket.send({ type: "attach", conversation: this.conversation, run: null, after: 0 });
      return;
    }
    one("[data-offline-text]", banner).textContent = this.words[state];
    if (state !== "lost") this.closeDown(state);
    this.lossTimer = setTimeout(() => { banner.hidden = false; }, state === "lost" ? SHOW_LOSS_AFTER : 0);
    if (state === "lost" && this.socket.attempt === 1) this.checkSignIn();
  }

  /** The server will not talk to this reader again: what was typed stays. */
  closeDown(state) {
    this.over = state;
    if (this.asked) this.takeBack(this.words[state]);
    this.runs.clear();
    this.composer.running(false);
    if (this.composer.queued) this.composer.giveBack(this.composer.unqueue(), this.words[state]);
  }

  /** A socket that is refused from the start looks like a dead line: the page itself tells which it is. */
  async checkSignIn() {
    const response = await fetch(this.root.dataset.listUrl, { redirect: "manual" }).catch(() => null);
    if (response?.type !== "opaqueredirect") return;
    this.socket.close();
    this.onState("signed-out");
  }

  attach(run) {
    const { state } = run;
    run.heard = Date.now();
    this.socket.send({ type: "attach", id: state.run, conversation: state.conversation, run: state.run, after: state.seq });
  }

  address() {
    return `${this.root.dataset.conversationUrl}${this.conversation}`;
  }

  refreshList() {
    const list = one("[data-list]", this.root);
    const filter = one(".find input", this.root).value;
    const query = new URLSearchParams(one("[data-place]", list)?.dataset.place);
    query.set("q", filter);
    query.set("current", this.conversation ?? "");
    window.htmx.ajax("GET", `${this.root.dataset.listUrl}?${query}`, { target: list, swap: "innerHTML" });
  }

  /** Something was done with a conversation, perhaps with this one. */
  onActed({ conversation, title, gone, reload, list, text }) {
    if (text) { this.composer.giveBack(text, ""); return; } // of a preset
    if (!this.root.isConnected) { one("#panel").chat.refreshList(); return; }
    if (title && conversation === this.conversation) this.showTitle(title);
    if (list) one("[data-place]", this.root).dataset.place = "";
    if (gone && gone === this.conversation) one("[data-new]", this.root).click();
    else this.refreshList();
    if (reload) this.reload();
  }

  /** Turns and passages as the server has them now. */
  async reload() {
    const response = await fetch(this.address());
    if (!response.ok) return;
    const page = parse(await response.text());
    for (const part of ["[data-thread]", "[data-right]"]) {
      one(part, this.root).replaceChildren(...page.querySelector(part).childNodes);
    }
    this.runs.clear();
    this.thread.addCopyButtons(this.thread.list);
    this.adopt();
    for (const run of this.runs.values()) this.attach(run);
  }

  onClick(event) {
    const target = event.target;
    const answer = target.closest("[data-answer]");
    if (answer) this.citations.showSources(answer.dataset.answer);
    const code = target.closest(".copy-code");
    const copied = target.closest("[data-copy]") ? one("[data-markdown]", answer).content : code?.parentElement.querySelector("code");
    if (copied) copy(copied.textContent.trimEnd(), this.words.copied);
  }

  onMark(marked, target) {
    if (marked || this.thread.list.contains(target)) this.marked = marked;
  }

  onSubmit(event) {
    const form = event.target;
    if (form.matches(".find")) event.preventDefault(); // the list is filtered already
    else if (form.matches("[data-suggestions]")) {
      event.preventDefault();
      this.ask({ text: event.submitter.value });
    } else if (form.matches("[data-decide]")) {
      event.preventDefault();
      const { run } = form.closest("[data-answer]").dataset;
      this.socket.send({ type: "decide", run, step: Number(form.dataset.decide), decision: event.submitter.value });
    } else if (form.matches("[data-again], [data-continue]")) {
      event.preventDefault();
      this.ask({ ...form.dataset, turn: form.closest("[data-turn]") });
    }
  }

  /* Settings: with scripts a provider is chosen first, then one of its models. */

  offerProviders() {
    const field = one("[data-provider-field]", this.root);
    const groups = [...this.root.querySelectorAll("#chat-model optgroup")];
    if (groups.length < 2 || !field.hidden) return;
    const select = one("[data-provider]", field);
    for (const group of groups) select.append(new Option(group.label, group.label));
    select.value = one("#chat-model", this.root).selectedOptions[0]?.parentElement.label ?? "";
    field.hidden = false;
    this.offerModels(select.value);
  }

  offerModels(provider) {
    const models = one("#chat-model", this.root);
    for (const group of models.querySelectorAll("optgroup")) {
      group.hidden = Boolean(provider) && group.label !== provider;
      group.disabled = group.hidden;
    }
    if (models.selectedOptions[0]?.parentElement.hidden) models.value = one("optgroup:not([hidden]) option", models).value;
  }

  onSettings(chosen) {
    for (const name of ["model", "persona", "mode", "tool_use"]) {
      const select = this.composer.form.elements[name];
      if (select) select.value = chosen[name];
    }
    one("[data-settings]", this.root).close();
    toast(this.words.saved);
  }

  escape(event) {
    if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
    if (this.citations.isOpen) { this.citations.leave(); event.preventDefault(); return; }
    const covered = one("dialog.dialog[open], [popover=auto]:popover-open, details.menu[open]");
    if (!covered && this.composer.isRunning) { event.preventDefault(); this.stop(); }
  }

  close() {
    document.removeEventListener("keydown", this.onEscape);
    clearTimeout(this.lossTimer);
    clearInterval(this.watch);
    this.socket.close();
  }
}

/** Show the chat of `url` inside `panel`, a dialog of another page. */
export async function openIn(panel, url) {
  if (!one("[data-chat]", panel)) await load(panel, url);
  panel.showModal();
  one("[data-text]", panel).focus();
}

async function load(panel, url) {
  const address = new URL(url, location.href);
  address.searchParams.set("panel", "1");
  const response = await fetch(address);
  if (!response.ok || response.redirected) throw new Error(response.statusText);
  panel.chat?.close();
  const toasts = one("#toasts");
  document.body.append(toasts);
  panel.innerHTML = await response.text();
  panel.append(toasts);
  window.htmx.process(panel);
  panel.chat = new Chat(one("[data-chat]", panel), address.hash);
  panel.onclick = (event) => {
    const link = event.target.closest("[data-conversation-link], [data-new]");
    if (!link || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    load(panel, link.href).then(() => one("[data-text]", panel).focus());
  };
}

const page = one("body > [data-chat]");
if (page) new Chat(page);
