"""Quotes that answer a question, in any script, or an honest nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.extractive import INTRODUCTION, NOTHING_FOUND, compose_answer
from providers.core.quotes import candidates_for, is_same_word, pick_quotes, terms
from providers.core.types import Grounding, GroundingPassage

PUMP = GroundingPassage(
    1,
    "Pump repair",
    "## Causes\n\nThe weather was fine. The seal of the pump was worn, so the repair took "
    "three days. Lunch was late.\n\n- The spare part came from Kyiv.\n- Coffee was cold.",
)
TAX = GroundingPassage(2, "Taxes", "The tax report is due in March. Ask the accountant.")


def quotes(question: str, *passages: GroundingPassage) -> list[str]:
    grounding = Grounding(question, passages)
    return [quote.text for quote in pick_quotes(grounding, candidates_for(grounding))]


def answer_to(question: str, *passages: GroundingPassage) -> str:
    grounding = Grounding(question, passages)
    return compose_answer(grounding, candidates_for(grounding))


def test_the_sentence_that_answers_is_quoted_first_hand() -> None:
    found = quotes("Why did the pump repair take so long?", TAX, PUMP)
    assert "The seal of the pump was worn, so the repair took three days." in found
    assert len(found) <= 5


def test_the_answer_is_honest_and_numbers_every_quote() -> None:
    answer = answer_to("When is the tax report due?", PUMP, TAX)
    assert answer.startswith(INTRODUCTION)
    assert "- The tax report is due in March. [2]" in answer
    quoted = [line for line in answer.splitlines() if line.startswith("- ")]
    assert quoted
    assert all(re.search(r" \[[12]\]$", line) for line in quoted)


def test_nothing_is_claimed_about_models_that_may_be_set_up() -> None:
    for said in (INTRODUCTION, NOTHING_FOUND):
        assert "set up" not in said


def test_the_note_that_answers_best_comes_first_and_each_note_once() -> None:
    more = GroundingPassage(3, "Taxes", "The report on the tax of the house is another one.")
    answer = answer_to("when is the tax report due, pump", PUMP, TAX, more)
    assert answer.index("**Taxes**") < answer.index("**Pump repair**")
    assert answer.index("[2]") < answer.index("[3]") < answer.index("[1]")
    assert answer.count("**Taxes**") == answer.count("**Pump repair**") == 1


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("What is the quorvex?", "It is what it is, and what they do. The quorvex cools."),
        ("Что такое кворвекс?", "Что было, то было, и такое тоже. Кворвекс охлаждает."),
        ("Was ist ein Quorvex?", "Es ist ein Tag, wie er sein soll. Der Quorvex kühlt."),
    ],
)
def test_words_that_only_ask_find_nothing(question: str, passage: str) -> None:
    note = GroundingPassage(1, "Note", passage)
    quoted = quotes(question, note)
    assert len(quoted) == 1
    assert "uorvex" in quoted[0] or "ворвекс" in quoted[0]


def test_a_question_of_nothing_but_such_words_is_taken_as_it_stands() -> None:
    note = GroundingPassage(1, "Us", "The pump is red. Who we are is a long story.")
    assert quotes("Who are we?", note) == ["Who we are is a long story."]


@pytest.mark.parametrize(
    "question",
    ["What is the capital of Mongolia?", "quorvex", "", "?!", "Які ліки приймати?"],
)
def test_nothing_is_quoted_when_nothing_fits(question: str) -> None:
    assert answer_to(question, PUMP, TAX) == NOTHING_FOUND


def test_no_passages_is_nothing_found() -> None:
    assert answer_to("pump") == NOTHING_FOUND


@pytest.mark.parametrize(
    ("question", "passage", "expected"),
    [
        (
            "Коли перенесли ремонт насоса?",
            "Погода була гарна. Ремонт насосів перенесено на 14 травня. Обід о першій.",
            "Ремонт насосів перенесено на 14 травня.",
        ),
        (
            "水泵什么时候维修？",
            "天气很好。水泵的维修推迟到五月。午饭在一点。",
            "水泵的维修推迟到五月。",
        ),
        (
            "ポンプの修理はいつですか",
            "天気がいい。ポンプの修理は五月に延期。",
            "ポンプの修理は五月に延期。",
        ),
        ("ซ่อมปั๊มเมื่อไหร่", "อากาศดี\n\nซ่อมปั๊มเลื่อนไปพฤษภาคม", "ซ่อมปั๊มเลื่อนไปพฤษภาคม"),
        (
            "Wo ist der Schlüssel?",
            "Es regnet heute. Die Schlüssel sind rot.",
            "Die Schlüssel sind rot.",
        ),
        (
            "INV/2026/00037 paid?",
            "Invoice INV/2026/00036 is open. INV/2026/00037 was paid.",
            "INV/2026/00037 was paid.",
        ),
    ],
)
def test_it_reads_every_script(question: str, passage: str, expected: str) -> None:
    note = GroundingPassage(1, "Note", passage)
    assert expected in quotes(question, note, TAX)


def test_a_rare_word_outweighs_common_ones() -> None:
    note = GroundingPassage(
        1, "Log", "The pump ran. The pump stopped. The pump ran. Zelmira fixed it."
    )
    assert any("Zelmira fixed it." in each for each in quotes("Did Zelmira see the pump?", note))


def test_a_sentence_that_answers_goes_before_one_that_asks_the_same() -> None:
    asks = GroundingPassage(1, "Welcome", "- Who can read a conversation?\n- Who is the owner?")
    answers = GroundingPassage(2, "Rights", "A conversation is read by its owner alone.")
    found = quotes("Who can read a conversation?", asks, answers)
    assert found[-1] == "A conversation is read by its owner alone."
    assert "Who can read a conversation?" not in found


def test_equal_sentences_are_quoted_once() -> None:
    copy = GroundingPassage(2, "Copy", PUMP.text)
    found = quotes("Why did the pump repair take so long?", PUMP, copy)
    assert len(found) == len(set(found))


def test_a_number_in_brackets_never_looks_like_a_citation() -> None:
    note = GroundingPassage(3, "Paper [7]", "The pump fails often [12], see [4, 5]. **Bold** pump.")
    answer = answer_to("pump fails", note)
    assert re.findall(r"(?<!\\)\[\d[^\]]*\]", answer) == ["[3]"] * answer.count("[3]")
    assert "(12)" in answer


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("repair", "repaired", True),
        ("насоса", "насосів", True),
        ("pump", "pumps", True),
        ("car", "care", False),
        ("form", "formula", False),
        ("2026", "20267", False),
        ("interest", "internet", False),
    ],
)
def test_words_match_by_their_stem(one: str, other: str, *, same: bool) -> None:
    assert is_same_word(one, other) is same
    assert is_same_word(other, one) is same


def test_terms_have_one_normal_form() -> None:
    assert terms("Céüse CEUSE, naïve") == ["ceuse", "naive"]
    assert terms("東京都") == ["東京", "京都"]


@given(st.text(max_size=200), st.text(max_size=400))
def test_any_text_gives_an_answer(question: str, text: str) -> None:
    answer = answer_to(question, GroundingPassage(1, text[:20], text))
    assert answer
    assert answer == NOTHING_FOUND or answer.startswith(INTRODUCTION)
