"""The chat's modules on a small page of their own in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = "/usr/bin/chromium"
STATIC = {
    "/static/chat/": ROOT / "chat/static/chat",
    "/static/secondbrain/": ROOT / "secondbrain/static/secondbrain",
}
FIELD = """<!doctype html><html lang="en"><title>Field</title><div id="root">
<form data-composer data-complete="/offers"><input type="hidden" name="conversation">
<label><input type="checkbox" name="vaults" value="a" checked>A</label>
<label><input type="checkbox" name="vaults" value="b" checked>B</label>
<label><input type="checkbox" name="vaults" value="c" checked>C</label><b data-vaults-text></b>
<label><input type="checkbox" name="vaults" value="d" checked>D</label>
<select name="mode"><option value="notes_first">First</option>
<option value="no_notes">None</option></select>
<select name="persona"><option value="0">None</option><option value="7">Keeper</option></select>
<div data-narrowed hidden></div><div data-queued hidden><span data-queued-text></span>
<button type="button" data-unqueue>No</button></div>
<ul id="offers" role="listbox" data-offers hidden></ul>
<textarea data-text aria-label="Question"></textarea>
<button data-send>Send</button><button type="button" data-stop hidden>Stop</button>
<p data-refused hidden></p></form></div>
<script type="module">
import { Composer } from "/static/chat/composer.js";
window.asked = [];
window.make = (key) => {
  window.composer = new Composer(document.getElementById("root"), {
    commands: [{name: "/no-notes", detail: "answers without them"}],
    unnarrow: "Without {token}", most: 60, too_long: "Too long.",
    all_vaults: "All vaults", some_vaults: "{count} vaults",
  }, {
    onAsk: (text) => window.asked.push(text), onStop: () => window.asked.push("STOP"),
    onUp: () => { window.ups = (window.ups ?? 0) + 1; return true; },
  });
  window.composer.belongTo(key);
};
window.make("one");</script></html>"""


OFFERS = {
    "tag": [
        {"value": "#wet", "label": "wet", "detail": "3", "id": "", "asks": False},
        {"value": "#birds", "label": "birds", "detail": "2", "id": "", "asks": False},
    ],
    "persona": [{"value": "Keeper", "label": "Keeper", "detail": "", "id": "7", "asks": False}],
    "preset": [{"value": "Recap it.", "label": "/recap", "detail": "", "id": "1", "asks": False}],
}


def serve(route: Route) -> None:
    """The modules from their folders, and one small page."""
    path = route.request.url.removeprefix("http://scripts.test")
    for prefix, folder in STATIC.items():
        if path.startswith(prefix):
            body = (folder / path.removeprefix(prefix)).read_text()
            route.fulfill(body=body, content_type="text/javascript")
            return
    if path.startswith("/offers"):
        kind = path.partition("kind=")[2].partition("&")[0]
        route.fulfill(json={"results": OFFERS.get(kind, [])})
        return
    route.fulfill(body=FIELD, content_type="text/html")


@contextmanager
def opened() -> Iterator[Page]:
    """The small page, in a browser that is closed afterwards."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.route("**/*", serve)
        page.goto("http://scripts.test/")
        yield page
        browser.close()


def run(page: Page, module: str, code: str, argument: Any = None) -> Any:
    """What `code`, a function of the module's exports and `argument`, gives."""
    return page.evaluate(
        f"async (argument) => ({code})(await import('/static/chat/{module}'), argument)", argument
    )
