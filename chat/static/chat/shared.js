/* A shared conversation, and the list of what one shares: passages and copies. */

import { copy } from "../secondbrain/js/app.js";
import { Citations } from "./citations.js";

const shared = document.querySelector("[data-shared]");
const citations = shared && new Citations(shared);

document.addEventListener("keydown", ({ key }) => { if (key === "Escape" && citations?.isOpen) citations.leave(); });
document.addEventListener("click", ({ target }) => {
  const link = target.closest("[data-copy-link]");
  if (link) copy(link.parentElement.querySelector("input").value, link.dataset.said);
  const answer = shared && target.closest("[data-answer]");
  if (answer) citations.showSources(answer.dataset.answer);
  const button = target.closest("[data-copy]");
  if (button) copy(answer.querySelector("[data-markdown]").content.textContent.trim(), button.dataset.said);
});
