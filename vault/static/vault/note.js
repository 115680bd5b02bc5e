/* The page of a note: copy buttons for code, and the cited words in sight. */
import { copy } from "../secondbrain/js/app.js";

const words = document.querySelector("[data-note-words]")?.dataset ?? {};

for (const pre of document.querySelectorAll(".note pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy-code";
  button.textContent = words.copy ?? "Copy";
  button.addEventListener("click", () => copy(pre.querySelector("code")?.textContent ?? pre.textContent, words.copied ?? "Copied"));
  (pre.closest(".code-block") ?? pre).append(button);
}

// The browser brings the cited words into sight by their focus; the middle reads better.
document.querySelector(".tree [aria-current]")?.scrollIntoView({ block: "nearest" });
if (!location.hash) document.getElementById("cited")?.scrollIntoView({ block: "center" });
