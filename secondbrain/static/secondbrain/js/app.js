/* Every page: theme, dialogs, menus, drawers, shortcuts, toasts, the chat panel. */

/** The first element of `root` that a selector names. */
export const one = (selector, root = document) => root.querySelector(selector);

/** A new element with `fields` set and `inside` in it. */
export function make(tag, fields, ...inside) {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...inside);
  return element;
}

/** What `html`, made by the server, holds. Nothing in it runs. */
export const parse = (html) => make("template", { innerHTML: html }).content;

/** Call `act` for each of `types`, such as "click submit". */
export function on(target, types, act, options) {
  for (const type of types.split(" ")) target.addEventListener(type, act, options);
}

/** Show a line at the bottom; `action` ({label, run}) adds a button, such as Undo. */
export function toast(text, action) {
  const box = make("div", { className: "toast" }, make("span", { textContent: text }));
  if (action) box.append(make("button", { type: "button", textContent: action.label, onclick() { action.run(); box.remove(); } }));
  const place = one("dialog.panel[open]") ?? document.body;
  const toasts = one("#toasts");
  place.append(toasts);
  toasts.append(box);
  setTimeout(() => box.remove(), action ? 8000 : 4000);
}

/** Copy and say so; without clipboard rights (plain http) fall back to a selection. */
export async function copy(text, said) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { value: text, className: "hush" });
    (one("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(said);
}

function setTheme(choice) {
  const root = document.documentElement;
  if (choice) root.dataset.theme = choice;
  else delete root.dataset.theme;
  one('meta[name="color-scheme"]').content = choice || "light dark";
  const age = choice ? 31536000 : 0;
  const secure = location.protocol === "https:" ? ";secure" : "";
  document.cookie = `theme=${choice};path=/;max-age=${age};samesite=lax${secure}`;
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === choice));
  }
}

function openDialog(id) {
  const dialog = one(`#${id}`);
  if (dialog && !dialog.open) dialog.showModal();
}

function onClick(event) {
  const target = event.target;
  const theme = target.closest("[data-theme-choice]");
  if (theme) setTheme(theme.dataset.themeChoice);
  const opener = target.closest("[data-open]");
  if (opener) { event.preventDefault(); openDialog(opener.dataset.open); }
  const closer = target.closest("dialog [data-close]");
  if (closer) { event.preventDefault(); closer.closest("dialog").close(); }
  if (target.matches("dialog.dialog")) target.close(); // a press on the backdrop
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(target) || opener) menu.open = false;
  }
  const bubble = target.closest("[data-panel]");
  if (bubble && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    openPanel(bubble);
  }
}

async function openPanel(bubble) {
  const panel = one("#panel");
  if (!one(`link[href="${bubble.dataset.style}"]`)) {
    document.head.append(make("link", { rel: "stylesheet", href: bubble.dataset.style }));
  }
  try {
    const chat = await import(bubble.dataset.script);
    await chat.openIn(panel, bubble.href);
  } catch {
    location.href = bubble.href; // the page itself says what is wrong
  }
}

function onKey(event) {
  const ctrl = event.ctrlKey || event.metaKey;
  if (event.key === "Escape") {
    const menu = one("details.menu[open]");
    if (menu) { menu.open = false; one("summary", menu).focus(); }
  }
  if (!ctrl || event.altKey || event.isComposing) return;
  const key = event.key.toLowerCase();
  if (key === "/") { event.preventDefault(); openDialog("keys"); }
  if (key === "k") {
    event.preventDefault();
    const field = one('main input[type="search"]');
    if (field) { field.focus(); field.select(); } else location.href = document.body.dataset.searchUrl;
  }
  if (key === "o" && event.shiftKey) {
    event.preventDefault();
    const bubble = one("[data-panel]");
    if (bubble) openPanel(bubble); else location.href = document.body.dataset.homeUrl;
  }
}

// A dialog that came from the server is shown; where it came from gets the focus back.
document.addEventListener("htmx:afterSwap", (event) => event.detail.target.querySelector("dialog[data-open-now]:not([open])")?.showModal());
document.addEventListener("click", onClick);
document.addEventListener("keydown", onKey);
// A drawer left open must not hang over a layout that has room for the column.
for (const width of ["(max-width: 720px)", "(max-width: 1100px)"]) {
  matchMedia(width).addEventListener("change", () => {
    for (const drawer of document.querySelectorAll(".left:popover-open, .right:popover-open")) drawer.hidePopover();
  });
}
// CSRF for htmx, from the cookie's twin in the page.
document.body.addEventListener("htmx:configRequest", (event) => {
  const token = document.cookie.match(/(?:^|; )csrftoken=([^;]+)/);
  if (token) event.detail.headers["X-CSRFToken"] = token[1];
});
