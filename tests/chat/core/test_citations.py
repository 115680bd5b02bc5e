"""Citation marks, and the sentences that bear statements out."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.citations import (
    LONGEST_QUOTE,
    Quotable,
    cite,
    find_quote,
    sentence_of,
    sentence_spans,
    undecided,
)
from chat.core.marks import find_markers

PUMP = "# Pump\n\n- The pump failed in March.\n- It was repaired in three hours.\n\nNothing else."


def passage(text: str = PUMP, *, number: int = 1, start: int = 100) -> Quotable:
    return Quotable(number, "Pump", text, start, start + len(text), "/vaults/t/notes/Pump.md", 7)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One thing. The pump failed [1]. Another.", "The pump failed."),
        ("One thing. The pump failed. [1] Another.", "The pump failed."),
        ("[1] The pump failed. Another.", "The pump failed."),
        ("The pump [1] failed in March. Another.", "The pump failed in March."),
        ("Es hielt.\nDie Pumpe fiel aus [1]", "Die Pumpe fiel aus"),
        ("ポンプは三月に故障した。修理は三時間[1]。", "修理は三時間。"),
    ],
)
def test_a_mark_belongs_to_its_sentence(text: str, expected: str) -> None:
    markers = find_markers(text, exists=lambda n: n == 1)
    assert sentence_of(text, markers, markers[0]) == expected


def test_the_quote_is_the_sentence_that_bears_the_statement_out() -> None:
    quote = find_quote(passage(), "Repairing it took three hours")
    assert quote.text == "It was repaired in three hours."
    assert PUMP[quote.start - 100 : quote.end - 100] == quote.text
    assert not quote.weak


def test_a_statement_that_the_passage_does_not_hold_is_weak() -> None:
    quote = find_quote(passage(), "Elephants remember their grandmothers fondly")
    assert quote.weak
    assert (quote.start, quote.end) == (100, 100 + len(PUMP))


def test_a_translation_is_not_called_weak() -> None:
    assert not find_quote(passage(), "Насос вийшов з ладу в березні").weak
    german = "Die Pumpe ist im März ausgefallen und wurde nicht mehr repariert"
    assert not find_quote(passage(), german).weak


def test_text_that_is_not_letter_by_letter_in_the_note_is_quoted_as_a_whole() -> None:
    shortened = Quotable(1, "Pump", "The pump failed.", 0, 500, "/n", 7)
    quote = find_quote(shortened, "The pump failed")
    assert (quote.start, quote.end) == (0, 500)


def test_the_address_opens_the_note_at_the_quote() -> None:
    citation = cite(passage(), "The pump failed in March")
    assert citation.url == (
        f"/vaults/t/notes/Pump.md?span={citation.quote.start}-{citation.quote.end}&source=7"
    )
    assert citation.as_json()["n"] == 1


@given(st.text(max_size=300), st.text(max_size=80))
def test_a_quote_lies_within_its_passage(text: str, statement: str) -> None:
    quote = find_quote(passage(text), statement)
    assert 100 <= quote.start <= quote.end <= 100 + len(text)
    assert len(quote.text) <= LONGEST_QUOTE


@given(st.text(alphabet="ab.!?。\n -#|>1", max_size=80))
def test_sentences_lie_in_order_and_are_not_empty(text: str) -> None:
    spans = sentence_spans(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


def test_a_quote_is_named_by_the_headings_it_stands_under() -> None:
    text = "Intro.\n\n## Failure\n\nThe pump failed in March.\n\n## Repair\n\nAnn repaired it."
    outline = (
        (100, ("Pump",)),
        (100 + text.index("## Failure"), ("Pump", "Failure")),
        (100 + text.index("## Repair"), ("Pump", "Repair")),
    )
    pump = Quotable(1, "Pump", text, 100, 100 + len(text), "/n", 7, "Team", outline)
    assert cite(pump, "The pump failed in March.").headings == ("Failure",)
    assert cite(pump, "It was repaired by Ann.").headings == ("Repair",)
    assert pump.headings_at(100) == ()
    assert Quotable(1, "Pump", text, 0, len(text), "/n", 7).headings_at(5) == ()


PLANT = """The boiler of hall 3 is inspected every six months by an outside firm. Its pressure \
must stay below 12 bar. Operators write it into the log. Visitors wear helmets in halls 1 to 4. \
Tours begin at 10:30 on Saturdays and cost 8 euros; students pay half.

| Machine | Power | Year |
| --- | --- | --- |
| Press | 40 kW | 2011 |
| Lathe | 15 kW | 2018 |
"""


@pytest.mark.parametrize(
    "told",
    [
        "Tours on Saturdays cost 10 euros.",  # a part of another figure
        "The boiler of hall 4 is inspected every six months.",  # of a sentence on something else
        "The lathe has 40 kW.",  # of another row
        "The pressure must stay above 12 bar.",
        "The boiler is inspected every six weeks.",
        "The boiler is inspected every seven months.",
        "Tours cost 8 euros and students pay double.",
    ],
)
def test_what_a_passage_says_otherwise_is_weak(told: str) -> None:
    passage = Quotable(1, "Plant", PLANT, 0, len(PLANT), "", 1)
    assert find_quote(passage, told).weak


@pytest.mark.parametrize(
    "told",
    [
        "Yes, the boiler is inspected every 6 months.",
        "Visitors wear helmets in halls 1, 2, 3 and 4.",
        "The lathe has 15 kW.",
        "The press was built in the Year 2011.",
        "The tour costs 8 euros and begins at 10:30.",
        "The boiler of hall 3 must stay below 12 bar of pressure.",
    ],
)
def test_what_a_passage_says_with_other_signs_is_not(told: str) -> None:
    passage = Quotable(1, "Plant", PLANT, 0, len(PLANT), "", 1)
    assert not find_quote(passage, told).weak


def test_what_stands_there_word_for_word_is_never_weak() -> None:
    text = "> [!danger] Never touch the valve\n> The **valve** stays shut, at 3 to 5 bar.\n\nMore."
    passage = Quotable(1, "Valve", text, 0, len(text), "", 1)
    told = "Never touch the valve The valve stays shut, at 3 to 5 bar."
    assert not find_quote(passage, told).weak
    assert undecided(passage, told) is None
