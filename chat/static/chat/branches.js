/* Branches of a conversation: editing a question, and the arrows between versions. */

import { on, one } from "../secondbrain/js/app.js";

export class Branches {
  /** `ask({edit, text, turn})` asks the edited question; `show()` draws the branch anew. */
  constructor(root, { ask, show }) {
    this.root = root;
    this.ask = ask;
    this.show = show;
    on(root, "submit", (event) => this.onSubmit(event));
    on(root, "keydown", (event) => this.onKey(event));
    on(root, "toggle", ({ target }) => { if (target.matches("[data-edit]") && target.open) this.begin(target); }, true);
  }

  /** Open the last question for editing. False when there is none. */
  editLast() {
    const edit = [...this.root.querySelectorAll("[data-edit]")].at(-1);
    if (edit) edit.open = true;
    return Boolean(edit);
  }

  begin(edit) {
    const text = one("textarea", edit);
    text.focus();
    text.setSelectionRange(text.value.length, text.value.length);
  }

  end(edit) {
    edit.open = false;
    one("form", edit).reset();
    one("summary", edit).focus();
  }

  onSubmit(event) {
    const form = event.target;
    if (form.matches("[data-edit-form]")) {
      event.preventDefault();
      const text = form.elements.text.value.trim();
      if (text) this.ask({ edit: form.elements.edit.value, text, turn: form.closest("[data-turn]") });
    } else if (form.matches("[data-branch]")) {
      event.preventDefault();
      this.choose(form, event.submitter);
    }
  }

  async choose(form, button) {
    const isBack = button.matches(".back");
    const response = await fetch(form.action, { method: "POST", body: new FormData(form, button), headers: { "HX-Request": "true" } });
    if (!response.ok) { form.submit(); return; } // the page itself says what is wrong
    await this.show();
    const place = one(`[id="m-${button.value}"]`, this.root);
    const buttons = [...(place?.querySelector("[data-branch]")?.querySelectorAll("button:enabled") ?? [])];
    place?.scrollIntoView({ block: "nearest" });
    (buttons.find((each) => each.matches(".back") === isBack) ?? buttons[0])?.focus();
  }

  onKey(event) {
    const edit = event.target.closest("[data-edit]");
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey) return;
    if (edit?.open && event.key === "Escape") { event.preventDefault(); this.end(edit); }
    if (edit?.open && event.key === "Enter" && !event.shiftKey && event.target.matches("textarea")) {
      event.preventDefault();
      event.target.form.requestSubmit();
    }
    const side = { ArrowLeft: ".back", ArrowRight: "button:not(.back)" }[event.key];
    const button = side && event.target.closest("[data-branch]")?.querySelector(side);
    if (button && !button.disabled) { event.preventDefault(); button.click(); }
  }
}
