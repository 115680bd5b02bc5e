"""Keys do not stand in what people read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.redaction import MARK, last_four, redact


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-test-000000.",
        "Authorization: Bearer abc.DEF-123_456",
        "http://user:hunter22@host/v1",
        "GET /v1?api_key=abcdef123",
        "key gsk_abcdefgh1234 and tgp_v1_abcdefgh",
    ],
)
def test_what_looks_like_a_key_is_removed(text: str) -> None:
    cleaned = redact(text, ())
    assert MARK in cleaned
    for secret in ("sk-test-000000", "abc.DEF", "hunter22", "abcdef123", "gsk_a", "tgp_v1"):
        assert secret not in cleaned


@pytest.mark.parametrize(
    "text",
    ["The task-list is fine.", "risk-averse, sk- alone", "Bearer of news", "https://h/v1/chat"],
)
def test_ordinary_words_stay(text: str) -> None:
    assert redact(text, ()) == text


@given(st.text(min_size=4), st.text(), st.text())
def test_our_own_key_is_removed_whatever_its_shape(key: str, before: str, after: str) -> None:
    assert key not in redact(before + key + after, (key,)).replace(MARK, "\0" * 3) or key in MARK


def test_a_key_quoted_for_a_url_is_removed() -> None:
    assert redact("?k=a%2Fb%3Dc%2Bd", ("a/b=c+d",)) == f"?k={MARK}"


def test_only_the_end_of_a_long_key_is_shown() -> None:
    assert last_four("sk-planted-1234567890abcdef") == "…cdef"
    assert last_four("short") == "…"
    assert last_four("") == ""
