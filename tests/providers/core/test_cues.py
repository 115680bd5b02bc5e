"""What a question asks for, and which sentence looks like it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.cues import fitness_for, points_back


@pytest.mark.parametrize(
    ("question", "fits", "does_not"),
    [
        ("How long does it take?", "It takes three days.", "It takes its time."),
        ("When is it due?", "It is due on 4 March.", "It is due soon."),
        ("Why did it fail?", "It failed because the seal was worn.", "It failed in March."),
        ("What is a persona?", "A persona is a text.", "Choose a persona in the bar."),
        ("How do I sync?", "Run `sync`.", "A sync reads the folder."),
        ("Сколько дней?", "Тридцать дней.", "Много дней."),
        ("Почему он сломался?", "Потому что износился сальник.", "Он сломался в марте."),
        ("Wie lange dauert es?", "Es dauert zwei Wochen.", "Es dauert lange."),
        ("Warum steht sie?", "Sie steht, weil der Strom fehlt.", "Sie steht am Teich."),
        ("修理用了多少天？", "修理用了三天。", "修理很慢。"),
        ("为什么停了？", "因为密封圈磨损。", "水泵停了。"),
    ],
)
def test_a_sentence_that_looks_like_an_answer_counts_more(
    question: str, fits: str, does_not: str
) -> None:
    fitness = fitness_for(question)
    assert fitness(fits) > fitness(does_not) == 1.0


def test_what_happens_when_asks_for_no_figure() -> None:
    assert fitness_for("What happens when it is used up?")("There are 4 limits.") == 1.0


@pytest.mark.parametrize(
    "sentence",
    [
        "It was moved to May.",
        "This takes a day.",
        "Его чистят каждый месяц.",
        "Über ihn entscheidet die Leitung.",
        "Sie kam aus Kiel.",
        "它由磨坊负责。",
        "これは五月です。",
    ],
)
def test_a_sentence_that_points_back_is_known(sentence: str) -> None:
    assert points_back(sentence)


@pytest.mark.parametrize(
    "sentence", ["The pump is red.", "Насос красный.", "Die Pumpe ist rot.", "水泵是红的。", ""]
)
def test_one_that_stands_alone_is_not(sentence: str) -> None:
    assert not points_back(sentence)


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_has_a_fitness(question: str, sentence: str) -> None:
    assert fitness_for(question)(sentence) >= 1.0
    assert points_back(sentence) in {True, False}


@pytest.mark.parametrize("row", [".", "-", "_", "'", ". ", "- "])
def test_a_row_of_dots_or_dashes_is_told_at_once(row: str) -> None:
    fitness = fitness_for("What is the introduction?")
    before = time.process_time()
    assert fitness(f"Introduction {row * 400} 5") == 1.0
    assert time.process_time() - before < 1


def test_what_a_word_means_is_told_from_the_copula_after_it() -> None:
    fitness = fitness_for("What is a canary?")
    for told in (
        "A canary is a small bird.",
        "**Canary** — a small bird",
        "Канарейка — это птица.",
    ):
        assert fitness(told) > 1.0, told
