"""The chat's modules in a real browser: what is pure in them, and how the field behaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.chat.scripts import opened, run

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    with opened() as page:
        yield page


@pytest.fixture
def field(page: Page) -> Page:
    """A fresh question field of conversation "one", nothing typed, nothing kept."""
    page.evaluate("localStorage.clear()")
    page.goto("http://scripts.test/")
    page.wait_for_function("window.composer")
    page.focus("[data-text]")
    return page


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


# composer.js


def typed(page: Page) -> str:
    return page.input_value("[data-text]")


def asked(page: Page) -> list[str]:
    found: list[str] = page.evaluate("window.asked")
    return found


def test_a_text_that_is_too_long_stays_whole_and_is_not_sent(field: Page) -> None:
    long = "words " * 20
    field.fill("[data-text]", long)
    expect(field.locator("[data-refused]")).to_have_text("Too long.")
    field.keyboard.press("Enter")
    assert (typed(field), asked(field)) == (long, [])
    field.fill("[data-text]", "words")
    expect(field.locator("[data-refused]")).to_be_hidden()
    field.keyboard.press("Enter")
    assert asked(field) == ["words"]


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
