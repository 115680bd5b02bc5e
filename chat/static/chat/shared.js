/* A shared conversation, and the list of what one shares: passages and copies. */

import { copy } from "../secondbrain/js/app.js";
import { Citations } from "./citations.js";

const shared = document.querySelector("[data-shared]");
if (shared) {
  const citations = new Citations(shared);
  shared.addEventListener("click", (event) => {
    const answer = event.target.closest("[data-answer]");
    if (answer) citations.showSources(answer.dataset.answer);
  });
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-copy-link]");
  if (link) copy(link.parentElement.querySelector("input").value, link.dataset.said);
  const button = event.target.closest("[data-copy]");
  if (button) copy(button.closest("[data-answer]").querySelector("[data-markdown]").content.textContent.trim(), button.dataset.said);
});
