"""Citations that words do not decide, judged by meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from chat.core.citations import NOT_JUDGED, Citation, Judgements, Quotable, cite, judgements
from chat.core.rendering import render_answer
from chat.core.support import (
    MOST_SENTENCES,
    MOST_TEXTS,
    MOST_WITH_ITS_WORDS,
    find_doubts,
    judge,
    texts_of,
)
from providers.core.protocols import Vectors

PUMP = "The pump failed in March. Ann replaced the worn seal in three hours."
SEAL_IN_RUSSIAN = "Анна заменила изношенное уплотнение за три часа."
SEAL = "Ann replaced the worn seal in three hours."


def passage(text: str = PUMP, number: int = 1, start: int = 100) -> Quotable:
    return Quotable(number, "Pump", text, start, start + len(text), "/vaults/t/notes/Pump.md", 7)


class Meaning:
    """Texts that mean the same have the same vector; others stand at right angles."""

    def __init__(self, *same: str) -> None:
        self.same = same
        self.asked: list[list[str]] = []

    async def __call__(self, texts: Sequence[str]) -> Vectors | None:
        self.asked.append(list(texts))
        rows = np.eye(len(texts) + 1, dtype=np.float32)[: len(texts)]
        for at, text in enumerate(texts):
            if text in self.same:
                rows[at] = np.eye(len(texts) + 1, dtype=np.float32)[-1]
        return rows


def judged(meaning: Meaning, *citations: Citation, of: Sequence[Quotable] = ()) -> Judgements:
    return asyncio.run(judge(citations, of or [passage()], meaning))


def test_a_translation_is_borne_out_by_the_sentence_that_means_the_same() -> None:
    citation = cite(passage(), SEAL_IN_RUSSIAN)
    assert citation.rests_on == "translation"
    found = judged(Meaning(SEAL, SEAL_IN_RUSSIAN), citation)
    quote = cite(passage(), SEAL_IN_RUSSIAN, found).quote
    assert (quote.text, quote.weak) == (SEAL, False)
    assert PUMP[quote.start - 100 : quote.end - 100] == SEAL


def test_a_translation_of_something_else_is_weak() -> None:
    found = judged(Meaning(), cite(passage(), SEAL_IN_RUSSIAN))
    assert cite(passage(), SEAL_IN_RUSSIAN, found).quote.weak
    assert not cite(passage(), SEAL_IN_RUSSIAN).quote.weak, "words alone cannot tell"


def test_other_words_for_the_same_are_no_longer_weak() -> None:
    told = "The mechanic swapped a gasket before noon."
    assert cite(passage(), told).quote.weak
    found = judged(Meaning(SEAL, told), cite(passage(), told))
    assert not cite(passage(), told, found).quote.weak


def test_another_name_is_weak_unless_the_two_mean_the_same() -> None:
    told = "Bob replaced the worn seal in three hours."
    assert cite(passage(), told).rests_on == "swap"
    meaning = Meaning()
    assert cite(passage(), told, judged(meaning, cite(passage(), told))).quote.weak
    assert meaning.asked == [["Bob", "Ann"]]
    same = cite(passage(), told, judged(Meaning("Ann", "Bob"), cite(passage(), told))).quote
    assert (same.text, same.weak) == (SEAL, False)


def test_what_words_decide_is_not_asked_of_meaning() -> None:
    meaning = Meaning()
    told = [
        "Ann replaced the worn seal.",
        "Анна заменила уплотнение за 9 часов.",  # a figure that the passage has not
        "Ann never replaced the worn seal.",
    ]
    assert judged(meaning, *(cite(passage(), each) for each in told)) == NOT_JUDGED
    assert meaning.asked == []


def test_words_from_here_and_there_are_borne_out_when_a_sentence_means_it() -> None:
    long = passage(f"{PUMP} The spare part came from Leeds by train.")
    told = "The pump came with a spare seal by train in March."
    assert not cite(long, told).quote.weak, "words alone find enough of it"
    assert cite(long, told).rests_on == "scattered"
    assert cite(long, told, judged(Meaning(), cite(long, told), of=[long])).quote.weak
    found = judged(Meaning(told, SEAL), cite(long, told), of=[long])
    assert cite(long, told, found).quote.text == SEAL
    assert not cite(long, told, found).quote.weak


def test_what_words_would_let_pass_is_compared_last_and_with_few_sentences() -> None:
    said = (f"The pump {'x' * n}. March brought oil {'y' * n}." for n in range(1, 20))
    long = passage(" ".join(said))
    near = cite(long, "The pump brought oil in a year.")
    far = cite(long, "Анна заменила уплотнение.")
    assert (near.rests_on, far.rests_on) == ("scattered", "translation")
    doubts = find_doubts([near, far], [long])
    assert [doubt.citation for doubt in doubts] == [far, near]
    assert [len(doubt.spans) for doubt in doubts] == [MOST_SENTENCES, MOST_WITH_ITS_WORDS]


def test_without_a_model_nothing_changes() -> None:
    async def nothing(_texts: Sequence[str]) -> Vectors | None:
        return None

    citation = cite(passage(), SEAL_IN_RUSSIAN)
    assert asyncio.run(judge([citation], [passage()], nothing)) == NOT_JUDGED


def test_what_an_answer_keeps_is_what_its_page_shows() -> None:
    text = f"{SEAL_IN_RUSSIAN} [1]"
    before = render_answer(text, [passage()])
    found = judged(Meaning(), *before.citations)
    shown = render_answer(text, [passage()], found)
    assert 'class="cite weak"' in shown.html
    kept = judgements([citation.as_json() for citation in shown.citations])
    assert render_answer(text, [passage()], kept) == shown


def test_kept_judgements_of_another_text_harm_nothing() -> None:
    kept = judgements(
        [
            {"n": 1, "sentence": SEAL_IN_RUSSIAN, "quote_start": 5, "quote_end": 9, "weak": True},
            {"n": 1},
        ]
    )
    quote = cite(passage(), SEAL_IN_RUSSIAN, kept).quote
    assert (quote.text, quote.weak) == (PUMP, True)


@given(st.lists(st.integers(1, 200), max_size=12), st.integers(1, 60))
def test_no_more_is_compared_than_there_is_time_for(cited: list[int], sentences: int) -> None:
    long = passage(" ".join(f"Sentence {'x' * n} says nothing." for n in range(1, sentences + 1)))
    told = [cite(long, f"Анна сказала это {'я' * n}.") for n in cited]
    doubts = find_doubts(told, [long])
    assert len(texts_of(doubts)) <= MOST_TEXTS
    assert all(len(doubt.spans) <= MOST_SENTENCES for doubt in doubts)
    assert len({doubt.citation.sentence for doubt in doubts}) == len(doubts)
