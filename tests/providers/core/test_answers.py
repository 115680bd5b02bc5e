"""An answer as it arrives: caps, counts, and an honest end."""

from __future__ import annotations

import pytest

from providers.core.answers import Answer, Counted, Stopped, WirePart, stop_reason_of
from providers.core.errors import CutOff, ProtocolError
from providers.core.types import ChatRequest, ReasoningDelta, StreamPart, TextDelta, Usage


def play(*parts: WirePart, limit: int = 100) -> tuple[list[StreamPart], Answer]:
    answer = Answer(ChatRequest("m", (), max_output_tokens=limit))
    said = [piece for part in parts for piece in answer.feed(part)]
    return said + answer.flush(), answer


def test_the_last_figures_count_not_their_sum() -> None:
    _, answer = play(Counted(5, 1), TextDelta("Hi"), Counted(None, 2), Stopped("end"))
    assert answer.usage() == Usage(5, 2, "end")


def test_no_figures_are_unknown_not_none() -> None:
    _, answer = play(TextDelta("Hi"), Stopped("end"))
    assert answer.usage() == Usage(0, 0, "end", is_reported=False)


def test_without_a_reason_it_is_cut_or_no_answer_at_all() -> None:
    with pytest.raises(CutOff):
        play(TextDelta("Hi"))[1].usage()
    with pytest.raises(CutOff):
        play(ReasoningDelta("hm"))[1].usage()
    with pytest.raises(ProtocolError):
        play(TextDelta(""), Counted(1, 1))[1].usage()


def test_a_held_back_tail_is_given_at_the_end() -> None:
    said, _ = play(TextDelta("a <thi"), TextDelta("x\ud83d"), TextDelta("\n<th"))
    assert "".join(part.text for part in said if isinstance(part, TextDelta)) == (
        "a <thix\ufffd\n<th"
    )


def test_text_and_reasoning_share_the_limit_of_sixteen_characters_a_token() -> None:
    said, answer = play(ReasoningDelta("r" * 100), TextDelta("t" * 100), TextDelta("u"), limit=10)
    assert said == [ReasoningDelta("r" * 100), TextDelta("t" * 60)]
    assert answer.is_full
    assert answer.usage().stop_reason == "length"


def test_no_answer_is_longer_than_a_million_characters() -> None:
    said, answer = play(TextDelta("x" * 1_200_000), limit=10_000_000)
    assert said == [TextDelta("x" * 1_000_000)]
    assert answer.is_full


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("stop", "end"),
        ("end_turn", "end"),
        ("stop_sequence", "end"),
        ("eos", "end"),
        ("length", "length"),
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("model_context_window_exceeded", "length"),
        ("tool_calls", "tool"),
        ("tool_use", "tool"),
        ("content_filter", "filter"),
        ("refusal", "filter"),
    ],
)
def test_stop_reasons_of_all_dialects(name: str, reason: str) -> None:
    assert stop_reason_of(name) == reason
