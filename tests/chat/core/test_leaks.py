"""Whether a text repeats what its reader may not see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.leaks import LONGEST_SHARED, repeats

HIDDEN = "The pump of pond seven is serviced every ninth week by the mill, and never in winter."


@pytest.mark.parametrize(
    "text",
    [
        HIDDEN,
        "So the pump of pond seven is serviced every ninth week by the mill?",
        "THE **PUMP** OF POND-SEVEN,\nis serviced every ninth week [1]",
        "… seven is serviced every ninth week by the mill …",
    ],
)
def test_a_quote_is_a_quote_whatever_its_case_and_marks(text: str) -> None:
    assert repeats(text, ["Something else.", HIDDEN])


@pytest.mark.parametrize(
    "text", ["", "When is the pump serviced?", "The pump of pond seven", "每九周"]
)
def test_words_that_any_question_may_have_are_no_quote(text: str) -> None:
    assert not repeats(text, [HIDDEN, ""])


def test_scripts_that_say_more_by_the_character_need_fewer() -> None:
    hidden = "七号池塘的水泵每九周由磨坊维修一次，冬天从不维修。"
    assert repeats("七号池塘的水泵每九周由磨坊维修一次，对吗？", [hidden])
    assert not repeats("水泵什么时候维修？", [hidden])


@given(st.text(max_size=200), st.text(alphabet="abcdef ", min_size=60, max_size=90))
def test_a_long_run_is_found_wherever_it_stands(before: str, run: str) -> None:
    letters = run.replace(" ", "")
    if len(letters) >= LONGEST_SHARED:
        assert repeats(run, [f"{before} {run} and more"])
