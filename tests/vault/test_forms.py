"""What comes in addresses and forms is read, or refused, never believed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.forms import MemberForm, RoleForm, read_number, read_span


@pytest.mark.parametrize(
    ("text", "span"),
    [("0-5", (0, 5)), ("12-40", (12, 40)), ("5-5", None), ("9-1", None), ("-1-5", None),
     ("1-", None), ("", None), ("a-b", None), ("1-5-9", None), (" 1-5", None),
     ("1-9999999999", None)],
)  # fmt: skip
def test_a_span_is_two_rising_numbers(text: str, span: tuple[int, int] | None) -> None:
    assert read_span(text) == span


@pytest.mark.parametrize(
    ("text", "number"),
    [("0", 0), ("42", 42), ("", None), ("-1", None), ("1.5", None), ("٣", None), ("²", None),
     ("9" * 16, None), ("1e3", None), (" 1", None)],
)  # fmt: skip
def test_a_number_is_a_few_plain_digits(text: str, number: int | None) -> None:
    assert read_number(text) == number


@given(st.text(max_size=20))
def test_any_text_is_read_without_an_error(text: str) -> None:
    span, number = read_span(text), read_number(text)
    assert span is None or 0 <= span[0] < span[1]
    assert number is None or number >= 0


def test_a_role_is_one_of_the_roles() -> None:
    assert RoleForm({"role": "editor"}).is_valid()
    assert not RoleForm({"role": "king"}).is_valid()
    assert not RoleForm({}).is_valid()
    form = MemberForm({"name": "", "role": "reader"})
    assert set(form.errors) == {"name"}
