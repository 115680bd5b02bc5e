/* What is done with conversations: dialogs from the server, what they send, and undo. */

import { copy, on, one, toast } from "../secondbrain/js/app.js";

export class Acts {
  /** `onDone(result)` with what the server says was done. */
  constructor(root, words, onDone) {
    Object.assign(this, { root, words, onDone });
    this.place = one("[data-dialogs]", root);
    on(root, "click", (event) => this.onClick(event));
    on(root, "submit", (event) => this.onSubmit(event));
  }

  onClick(event) {
    const link = event.target.closest("[data-dialog]");
    if (link && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.open(link.href);
    }
    const field = event.target.closest("[data-copy-link]")?.parentElement.querySelector("input");
    if (field) copy(field.value, this.words.link_copied);
  }

  onSubmit(event) {
    const form = event.target;
    if (!form.matches("[data-act]")) return;
    // The page of what is deleted cannot stay: the next one says so, with its Undo.
    if (form.dataset.gone === this.root.dataset.conversation && !this.root.closest("dialog")) return;
    event.preventDefault();
    this.send(form.action, new FormData(form, event.submitter));
  }

  send(address, body) {
    return this.open(address, { method: "POST", body });
  }

  /** A dialog is shown; what was done is told, and can be taken back. */
  async open(address, how = {}) {
    const response = await fetch(address, { ...how, headers: { "HX-Request": "true" } }).catch(() => null);
    if (!response || (!response.ok && response.status !== 422)) { toast(this.words.failed); return; }
    one("dialog", this.place)?.close();
    if (response.headers.get("content-type").includes("json")) {
      this.place.replaceChildren();
      this.done(await response.json());
      return;
    }
    this.place.innerHTML = await response.text();
    one("dialog", this.place)?.showModal();
  }

  done(result) {
    const undo = { label: this.words.undo, run: () => this.takeBack(result.undo) };
    if (result.said) toast(result.said, result.undo ? undo : null);
    this.onDone(result);
  }

  takeBack(address) {
    const body = new FormData();
    body.set("csrfmiddlewaretoken", one("[name=csrfmiddlewaretoken]", this.root).value);
    return this.send(address, body);
  }
}
