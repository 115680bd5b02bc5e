"""Which sentences are quoted, and how well they are chosen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.quotes import QUESTIONS, measure
from providers.core.quotes import Candidate, candidates_for, nearer, pick_quotes, shortlist
from providers.core.types import Grounding, GroundingPassage


def quoted(question: str, *texts: str) -> list[str]:
    passages = tuple(GroundingPassage(n, f"Note {n}", text) for n, text in enumerate(texts, 1))
    grounding = Grounding(question, passages)
    return [quote.text for quote in pick_quotes(grounding, candidates_for(grounding))]


@pytest.fixture(scope="module")
def questions() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(QUESTIONS.read_text())
    return found


# What was reached when this was written, less a little for edits of the handbook.
@pytest.mark.parametrize(
    ("name", "hits", "first"), [("docs", 21, 14), ("ru", 6, 5), ("de", 8, 8), ("zh", 8, 8)]
)
def test_the_sentence_that_answers_is_quoted(
    questions: dict[str, Any], name: str, hits: int, first: int
) -> None:
    score = measure(questions, name, meaning=False)
    assert score.hits >= hits, score.missed
    assert score.first >= first
    assert score.empty == 0


def test_a_sentence_that_points_back_brings_the_one_before() -> None:
    text = "The pump belongs to the mill. It is cleaned every ninth week. Lunch is at one."
    assert quoted("How often is the pump cleaned?", text) == [
        "The pump belongs to the mill. It is cleaned every ninth week."
    ]


def test_a_question_in_a_note_is_quoted_with_its_answer() -> None:
    text = "What if the pump stops? First call the mill. The door is green."
    assert quoted("What to do if the pump stops?", text) == [
        "What if the pump stops? First call the mill."
    ]


def test_the_heading_says_what_its_sentences_are_about() -> None:
    text = "## Boiler\n\nA service takes two days.\n\n## Pump\n\nA service takes three hours."
    assert quoted("How long does a service of the pump take?", text)[0] == (
        "A service takes three hours."
    )


@pytest.mark.parametrize(
    "text",
    ["#pump #repair", "- Pump:", "Pump?", "- [[Pump]]\n- [[Pump repair]]", "## Pump", "Pump"],
)
def test_what_says_nothing_is_never_quoted(text: str) -> None:
    assert quoted("pump repair", text) == []


def test_rows_are_quoted_with_the_names_of_their_columns() -> None:
    text = "| Part | Life | Store |\n|---|---|---|\n| Seal | 18 months | Kiel |"
    assert quoted("What is the life of the seal?", text) == ["Seal · Life: 18 months · Store: Kiel"]


def test_meaning_decides_between_equal_words_and_finds_other_words() -> None:
    grounding = Grounding(
        "Where is the spare key?",
        (GroundingPassage(1, "Keys", "The key is old. Der Schlüssel liegt im Kasten."),),
    )
    found = candidates_for(grounding)
    near = [0.9 if "Kasten" in each.text else 0.1 for each in found]
    first = pick_quotes(grounding, nearer(found, near))[0]
    assert "Der Schlüssel liegt im Kasten." in first.text


def test_words_that_are_far_in_meaning_from_a_question_without_match_are_not_quoted() -> None:
    grounding = Grounding("Who is Zelmira?", (GroundingPassage(1, "Pump", "The pump is red."),))
    found = candidates_for(grounding)
    assert pick_quotes(grounding, nearer(found, [0.2] * len(found))) == []


def test_the_shortlist_has_the_best_by_words_and_one_of_each_first_passage() -> None:
    made = [Candidate(0, n, n, n, f"a {n}", 1.0, 1.0) for n in range(20)]
    made += [Candidate(p, 0, 0, 0, f"b {p}", 0.0, 0.0) for p in range(1, 6)]
    assert [each.text for each in shortlist(made)] == [
        *(f"a {n}" for n in range(10)),
        "b 1",
        "b 2",
    ]


def test_an_instruction_right_under_what_was_asked_shares_no_word_with_it() -> None:
    text = "## Before an update\n\nStop the writer.\n\n## After\n\nAn update takes four minutes."
    asked = "What is done before an update?"
    grounding = Grounding(asked, (GroundingPassage(1, "Runbook", text, ("Runbook",)),))
    assert pick_quotes(grounding, candidates_for(grounding))[0].text == "Stop the writer."


def test_the_warning_of_a_callout_is_quoted_with_its_title() -> None:
    text = (
        "## Restore\n\n> [!warning] Before a restore\n> Stop the writer first.\n\nIt takes hours."
    )
    asked = "What must I do before I restore a backup?"
    grounding = Grounding(asked, (GroundingPassage(1, "Runbook", text, ("Runbook",)),))
    first = pick_quotes(grounding, candidates_for(grounding))[0].text
    assert first == "Before a restore: Stop the writer first."


@pytest.mark.parametrize("headings", [(), ("Handbook", "Parental leave")])
def test_a_question_that_is_a_title_or_a_heading_is_never_told_that_there_is_nothing(
    headings: tuple[str, ...],
) -> None:
    title = "Handbook" if headings else "Parental leave"
    text = "You get twelve weeks.\n\nAsk Olga for the form."
    grounding = Grounding(
        "What about parental leave?", (GroundingPassage(1, title, text, headings),)
    )
    quotes = pick_quotes(grounding, candidates_for(grounding))
    assert [quote.text for quote in quotes] == ["You get twelve weeks.", "Ask Olga for the form."]
