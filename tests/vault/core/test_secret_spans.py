"""Spans of secrets become one where they overlap."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault.core.secret_spans import Span, merge_spans

SPANS = st.lists(
    st.builds(
        lambda start, length, kind: Span(start, start + length, kind),
        st.integers(0, 40),
        st.integers(1, 10),
        st.sampled_from("abc"),
    ),
    max_size=12,
)


def test_spans_that_only_touch_stay_apart() -> None:
    assert merge_spans([Span(3, 5, "b"), Span(0, 3, "a")]) == [Span(0, 3, "a"), Span(3, 5, "b")]


def test_the_first_of_the_overlapping_names_the_kind() -> None:
    assert merge_spans([Span(4, 9, "first"), Span(0, 5, "then")]) == [Span(0, 9, "first")]
    assert merge_spans([Span(0, 5, "first"), Span(4, 9, "then")]) == [Span(0, 9, "first")]
    assert merge_spans([Span(0, 9, "outer"), Span(2, 4, "inner")]) == [Span(0, 9, "outer")]


@given(SPANS)
def test_the_same_characters_are_covered_once_and_in_order(spans: list[Span]) -> None:
    merged = merge_spans(spans)
    covered = {place for span in spans for place in range(span.start, span.end)}
    assert [place for span in merged for place in range(span.start, span.end)] == sorted(covered)
    assert merge_spans(merged) == merged
