"""The chat's modules in a real browser: what is pure in them, and how the field behaves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, sync_playwright

pytestmark = pytest.mark.browser

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
    unnarrow: "Without {token}", all_vaults: "All vaults", some_vaults: "{count} vaults",
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


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page()
        page.route("**/*", serve)
        page.goto("http://scripts.test/")
        yield page
        browser.close()


@pytest.fixture
def field(page: Page) -> Page:
    """A fresh question field of conversation "one", nothing typed, nothing kept."""
    page.evaluate("localStorage.clear()")
    page.goto("http://scripts.test/")
    page.wait_for_function("window.composer")
    page.focus("[data-text]")
    return page


def run(page: Page, module: str, code: str, argument: Any = None) -> Any:
    """What `code`, a function of the module's exports and `argument`, gives."""
    return page.evaluate(
        f"async (argument) => ({code})(await import('/static/chat/{module}'), argument)", argument
    )


# events.js

TAKE = """(events, sent) => {
    const state = events.newRun({run: "r"});
    const taken = sent.map((event) => events.take(state, event));
    return {taken, seq: state.seq, end: state.end?.type ?? null,
            blocks: state.blocks.map((block) => block.html), changed: events.takeChanged(state)};
}"""


def delta(seq: int, text: str) -> dict[str, Any]:
    return {"type": "delta", "seq": seq, "text": text}


def block(seq: int, index: int, html: str, *, closed: bool = False) -> dict[str, Any]:
    return {"type": "block", "seq": seq, "index": index, "html": html, "closed": closed}


def test_events_in_order_are_taken_once(page: Page) -> None:
    sent = [delta(1, "a"), delta(2, "b"), delta(2, "b"), delta(1, "a"), delta(3, "c")]
    result = run(page, "events.js", TAKE, sent)
    assert (result["taken"], result["seq"]) == (["new", "new", "old", "old", "new"], 3)


def test_a_gap_is_told_and_not_taken(page: Page) -> None:
    result = run(page, "events.js", TAKE, [delta(1, "a"), delta(3, "c"), delta(2, "b")])
    assert (result["taken"], result["seq"]) == (["new", "gap", "new"], 2)


def test_only_blocks_that_changed_are_drawn_again(page: Page) -> None:
    sent = [block(1, 0, "<p>a"), block(2, 0, "<p>ab", closed=True), block(3, 1, "<p>c")]
    result = run(page, "events.js", TAKE, sent)
    assert result["blocks"] == ["<p>ab", "<p>c"]
    assert result["changed"] == [0, 1]
    again = """(events, sent) => {
        const state = events.newRun();
        sent.forEach((event) => events.take(state, event));
        events.takeChanged(state);
        events.take(state, {...sent.at(-1), seq: state.seq + 1});
        return events.takeChanged(state);
    }"""
    assert run(page, "events.js", again, sent) == []


def test_withdrawn_words_leave_nothing_behind(page: Page) -> None:
    sent = [
        delta(1, "Hm. "),
        block(2, 0, "<p>Hm."),
        block(3, 1, "<p>Well"),
        {"type": "reset", "seq": 4},
    ]
    result = run(page, "events.js", TAKE, sent)
    assert (result["blocks"], result["changed"]) == ([], [])
    result = run(page, "events.js", TAKE, [*sent, delta(5, "In March."), block(6, 0, "<p>In")])
    assert (result["blocks"], result["changed"]) == (["<p>In"], [0])


@pytest.mark.parametrize("kind", ["done", "stopped", "error"])
def test_the_last_event_ends_a_run(page: Page, kind: str) -> None:
    assert run(page, "events.js", TAKE, [{"type": kind, "seq": 1}])["end"] == kind


def test_passages_are_counted_by_note_and_vault(page: Page) -> None:
    passages = [
        {"vault": "a", "vault_name": "A", "path": "1.md"},
        {"vault": "a", "vault_name": "A", "path": "1.md"},
        {"vault": "b", "vault_name": "B", "path": "1.md"},
    ]
    counted = run(page, "events.js", "(m, passages) => m.countSources({passages})", passages)
    assert (counted["passages"], counted["notes"], counted["vaults"]) == (3, 2, "A, B")


# socket.js


def test_waits_grow_to_a_limit_and_spread(page: Page) -> None:
    code = "(m) => [0, 1, 2, 20].map((attempt) => m.backoff(attempt, () => 0.5))"
    assert run(page, "socket.js", code) == [400, 800, 1600, 10000]
    spread = run(page, "socket.js", "(m) => [0, 0.999].map((r) => m.backoff(3, () => r))")
    assert spread[0] == 2560
    assert 3800 < spread[1] < 3840


# citations.js


LETTERS = "abcdefghijklmnopqrstuvwxyzABCD"
QUOTE_IN = "(m, [href, start, text]) => m.quoteIn(href, start, text)"


@pytest.mark.parametrize(
    ("href", "expected"),
    [
        ("/n?span=10-14&source=1", ["", "abcd", LETTERS[4:]]),
        ("/n?span=10-40", None),  # the whole passage needs no mark
        ("/n?span=0-5", None),
        ("/n?span=20-90", None),
        ("?span=12-20", ["ab", "cdefghij", LETTERS[10:]]),  # of a note that is gone
        ("/n?lifespan=12-20", None),
        ("/n?span=9-x", None),
    ],
)
def test_the_quote_is_found_in_its_passage(
    page: Page, href: str, expected: list[str] | None
) -> None:
    assert run(page, "citations.js", QUOTE_IN, [href, 10, LETTERS]) == expected


def test_a_quote_is_shown_in_its_paragraph_as_it_reads(page: Page) -> None:
    text = "# Head\n\n> [!tip] One 🐦. Two **[[b|bold]] birds** and `a*b*`. _Three_.\n\nLast."
    href = f"/n?span={text.index('Two')}-{text.index(' _Three')}"
    shown = run(page, "citations.js", QUOTE_IN, [href, 0, text])
    assert shown == ["One 🐦. ", "Two bold birds and a*b*.", " Three."]


def test_a_mark_that_spans_the_edge_of_a_quote_is_left_out_too(page: Page) -> None:
    text = "It is **open. Always** so."
    shown = run(page, "citations.js", QUOTE_IN, [f"?span=0-{text.index(' Always')}", 0, text])
    assert shown == ["", "It is open.", " Always so."]


@pytest.mark.parametrize(
    ("markdown", "read"),
    [
        (
            "Run `make **all**` in [the room](https://example.com/a).",
            "Run make **all** in the room.",
        ),
        ("## Head\n\n- [x] *done* and ~~gone~~", "Head\n\n- [x] done and gone"),
        ("| a | b |\n|---|:-:|\n| [[N|1]] | 2 |", "a · b\n1 · 2"),
        ("```py\n# **kept** | so\n```\nThen ==this==.", "# **kept** | so\nThen this."),
        ("~~~\nx = [[1], [2]]", "x = [[1], [2]]"),
        ("2 * 3 * 4, snake_case_name, a == b == c, f(*args), _x", None),
        ("![[plan.png]] and ![old](a.png)", "plan.png and old"),
        ("[1] is no link, [[nor this", None),
        ("***Both*** and __strong__.", "Both and strong."),
    ],
)
def test_a_passage_is_shown_without_its_marks(page: Page, markdown: str, read: str | None) -> None:
    """None: as it is written."""
    shown = run(page, "citations.js", "(m, text) => m.plain(text)", markdown)
    assert shown == (markdown if read is None else read)


VIEW = {"width": 1000, "height": 600}
CARD = {"width": 340, "height": 200}


@pytest.mark.parametrize(
    ("top", "bottom", "chip"), [(100, 140, 500), (500, 560, 500), (380, 420, 5), (10, 60, 995)]
)
def test_a_card_never_lies_on_the_sentence_it_is_about(
    page: Page, top: int, bottom: int, chip: int
) -> None:
    sentence = {"top": top, "bottom": bottom, "chip": chip}
    code = "(m, [sentence, card, view]) => m.place(sentence, card, view)"
    spot = run(page, "citations.js", code, [sentence, CARD, VIEW])
    assert spot["top"] >= bottom or spot["top"] + CARD["height"] <= top
    assert 0 < spot["left"] <= VIEW["width"] - CARD["width"]
    assert 0 < spot["top"] <= VIEW["height"] - CARD["height"]


def test_a_sentence_ends_at_its_chip_and_begins_after_the_last(page: Page) -> None:
    code = """(m) => {
        const paragraph = document.createElement("p");
        paragraph.innerHTML = 'So.<i> <a class="cite">2</a></i> <b>Two</b>.<a class="cite">1</a>';
        document.body.append(paragraph);
        return m.sentenceOf(paragraph.lastChild).toString();
    }"""
    assert run(page, "citations.js", code) == " 2 Two.1"


# composer.js


def typed(page: Page) -> str:
    return page.input_value("[data-text]")


def asked(page: Page) -> list[str]:
    found: list[str] = page.evaluate("window.asked")
    return found


def test_enter_sends_and_shift_enter_breaks_the_line(field: Page) -> None:
    field.keyboard.type("One")
    field.keyboard.press("Shift+Enter")
    field.keyboard.type("two")
    assert typed(field) == "One\ntwo"
    field.keyboard.press("Enter")
    assert asked(field) == ["One\ntwo"]


def test_enter_while_an_input_method_composes_sends_nothing(field: Page) -> None:
    field.fill("[data-text]", "かな")
    field.evaluate(
        "document.querySelector('[data-text]').dispatchEvent(new KeyboardEvent('keydown', "
        "{key: 'Enter', isComposing: true, bubbles: true, cancelable: true}))"
    )
    assert asked(field) == []


def test_nothing_is_not_asked(field: Page) -> None:
    field.fill("[data-text]", "  \n ")
    field.keyboard.press("Enter")
    assert asked(field) == []


def test_stop_takes_the_place_of_send(field: Page) -> None:
    field.evaluate("composer.running(true)")
    assert field.is_hidden("[data-send]")
    field.click("[data-stop]")
    field.fill("[data-text]", "Meanwhile")
    field.keyboard.press("Enter")
    assert asked(field) == ["STOP"]
    assert typed(field) == ""
    assert field.inner_text("[data-queued-text]") == "Meanwhile"
    field.evaluate("composer.running(false)")
    assert field.is_visible("[data-send]")


def test_each_conversation_keeps_its_own_draft(field: Page) -> None:
    field.keyboard.type("half a thought")
    field.reload()
    field.wait_for_function("window.composer")
    assert typed(field) == "half a thought"
    field.evaluate("composer.text.value = ''; composer.belongTo('two')")
    assert typed(field) == ""


def test_a_draft_goes_only_when_the_server_has_the_question(field: Page) -> None:
    field.keyboard.type("Is it kept?")
    field.evaluate("composer.clear()")
    assert field.evaluate("localStorage.getItem('draft:one')") == "Is it kept?"
    field.evaluate("composer.keepDraft()")
    assert field.evaluate("localStorage.getItem('draft:one')") is None


def test_a_question_that_was_refused_comes_back_with_the_reason(field: Page) -> None:
    field.keyboard.type("Newer words")
    field.evaluate("composer.giveBack('The question', 'Too many at once.')")
    assert typed(field) == "The question\nNewer words"
    assert field.inner_text("[data-refused]") == "Too many at once."


def test_the_up_arrow_edits_the_last_question_from_an_empty_field_alone(field: Page) -> None:
    field.keyboard.press("ArrowUp")
    assert field.evaluate("window.ups") == 1
    field.keyboard.type("Words")
    field.keyboard.press("ArrowUp")
    assert field.evaluate("window.ups") == 1


def test_all_vaults_are_no_choice_and_none_cannot_be_chosen(field: Page) -> None:
    assert field.evaluate("composer.choices().vaults") is None
    for vault, named in {"d": "3 vaults", "c": "A, B", "b": "A", "a": "A"}.items():
        field.click(f"[value={vault}]")
        assert field.inner_text("[data-vaults-text]") == named
    assert field.evaluate("composer.choices().vaults") == ["a"]
    assert field.is_checked("[value=a]")


def offers(page: Page) -> list[str]:
    page.wait_for_selector("[data-offers]:not([hidden]) [role=option]")
    return page.locator("[data-offers] b").all_text_contents()


def test_a_tag_is_picked_by_keyboard_and_shown_as_a_chip_that_can_go(field: Page) -> None:
    field.keyboard.type("Who nests #")
    assert offers(field) == ["wet", "birds"]
    field.keyboard.press("ArrowDown")
    marked = field.get_attribute("[data-text]", "aria-activedescendant")
    assert field.text_content(f"#{marked} b") == "birds"
    field.keyboard.press("Enter")
    assert field.input_value("[data-text]") == "Who nests #birds "
    assert field.evaluate("window.asked") == []
    field.click("[data-narrowed] .chip")
    assert field.input_value("[data-text]").strip() == "Who nests"
    assert field.is_hidden("[data-narrowed]")


def test_a_persona_is_picked_and_leaves_no_word_in_the_question(field: Page) -> None:
    field.keyboard.type("@ke")
    assert offers(field) == ["Keeper"]
    field.keyboard.press("Tab")
    assert field.input_value("[data-text]") == ""
    assert field.input_value("[name=persona]") == "7"


def test_a_slash_offers_commands_and_presets_and_escape_closes(field: Page) -> None:
    field.keyboard.type("/")
    assert offers(field) == ["/no-notes", "/recap"]
    field.keyboard.press("Escape")
    assert field.is_hidden("[data-offers]")
    field.keyboard.type("no")
    assert offers(field)[0] == "/no-notes"
    field.keyboard.press("Enter")
    assert field.input_value("[name=mode]") == "no_notes"
    field.keyboard.type("/rec")
    offers(field)
    field.keyboard.press("Enter")
    assert field.input_value("[data-text]") == "Recap it."


def test_a_question_typed_while_one_is_answered_is_asked_next(field: Page) -> None:
    field.evaluate("composer.running(true)")
    field.fill("[data-text]", "And why?")
    field.press("[data-text]", "Enter")
    field.fill("[data-text]", "And where?")
    field.press("[data-text]", "Enter")
    assert field.evaluate("window.asked") == []
    assert field.inner_text("[data-queued-text]") == "And why? And where?"
    assert field.input_value("[data-text]") == ""
    assert field.evaluate("localStorage.getItem('draft:one')") == "And why?\n\nAnd where?"
    field.evaluate("window.make('one')")
    assert field.input_value("[data-text]") == "And why?\n\nAnd where?", "as after a reload"


def test_a_queued_question_can_be_taken_back(field: Page) -> None:
    field.evaluate("composer.running(true)")
    field.fill("[data-text]", "And why?")
    field.press("[data-text]", "Enter")
    field.click("[data-unqueue]")
    assert field.is_hidden("[data-queued]")
    assert field.input_value("[data-text]") == "And why?"
    assert field.evaluate("composer.unqueue()") == ""
