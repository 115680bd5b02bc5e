/* The search page: arrow keys, or j and k, through the results, and what to show when the server is gone.
   Asking while somebody types, and dropping stale answers, is htmx's part. */

const form = document.querySelector("#search-form");
const input = document.querySelector("#q");
const results = document.querySelector("#results");
const STEPS = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

function move(step) {
  const hits = [...results.querySelectorAll(".hit")];
  const at = hits.indexOf(document.activeElement);
  const next = at + step;
  if (next < 0) input.focus();
  else hits[Math.min(next, hits.length - 1)]?.focus();
}

function onKey(event) {
  if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const types = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key === "/" && !types) {
    event.preventDefault();
    input.focus();
    return;
  }
  const inside = event.target === input || results.contains(event.target);
  if (!inside) return;
  const step = STEPS[event.key];
  if (step) {
    // In the field letters are letters, and there is nothing above it.
    if (event.target === input && event.key !== "ArrowDown") return;
    event.preventDefault();
    move(step);
  } else if (event.key === "Escape" && event.target !== input) {
    input.focus();
  }
}

function showBroken() {
  const broken = document.querySelector("#search-broken").content.cloneNode(true);
  results.replaceChildren(broken);
}

document.addEventListener("keydown", onKey);
form.addEventListener("htmx:beforeRequest", () => results.classList.add("stale"));
form.addEventListener("htmx:afterRequest", () => results.classList.remove("stale"));
form.addEventListener("htmx:sendError", showBroken);
form.addEventListener("htmx:responseError", showBroken);
