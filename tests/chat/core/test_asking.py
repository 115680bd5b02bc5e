"""Questions as they come in."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.asking import Ask, BadAsk, check_keys, clean_answer, parse_ask, parse_seq

ID = "5f0c5a1e-0000-4000-8000-000000000001"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
NAMES = ["id", "text", "conversation", "mode", "vaults", "model", "persona", "again", "continue"]


def test_a_whole_question_is_read() -> None:
    ask = parse_ask(
        {
            "id": "a1",
            "text": "  Why? ",
            "conversation": ID,
            "mode": "notes_only",
            "vaults": ["a", "b", "a"],
            "model": "7",
            "persona": 3,
        }
    )
    assert ask == Ask("Why?", UUID(ID), "notes_only", ("a", "b"), 7, 3, client_id="a1")


def test_an_edit_names_its_question_and_has_words() -> None:
    ask = parse_ask({"text": "Why not?", "edit": ID, "temporary": "1"})
    assert (ask.text, ask.edit, ask.temporary) == ("Why not?", UUID(ID), True)
    assert parse_ask({"again": ID, "edit": ID}).edit is None
    for bad in (
        {"text": "x", "edit": "y"},
        {"text": " ", "edit": ID},
        {"text": "x", "temporary": 3},
    ):
        with pytest.raises(BadAsk):
            parse_ask(bad)


def test_an_answer_that_goes_on_is_named_alone() -> None:
    ask = parse_ask({"continue": ID, "edit": ID})
    assert (ask.text, ask.continues, ask.again, ask.edit) == ("", UUID(ID), None, None)
    with pytest.raises(BadAsk, match="exclude each other"):
        parse_ask({"continue": ID, "again": ID})
    with pytest.raises(BadAsk, match="must be a UUID"):
        parse_ask({"continue": "the last one"})


def test_what_is_not_chosen_is_none() -> None:
    ask = parse_ask({"text": "Why?", "mode": None, "vaults": None, "model": "", "persona": ""})
    assert ask == Ask("Why?")


def test_no_vault_is_not_the_same_as_every_vault() -> None:
    assert parse_ask({"text": "x", "vaults": []}).vaults == ()


def test_asking_again_needs_no_text() -> None:
    assert parse_ask({"again": ID, "text": "ignored"}) == Ask(again=UUID(ID))


def test_what_no_table_can_hold_is_taken_out() -> None:
    assert parse_ask({"text": "a\x00b\ud800c"}).text == "abc"
    assert clean_answer("a\r\nb\x00") == "a\nb"


@given(st.dictionaries(st.sampled_from(NAMES), json_values))
def test_any_json_is_read_or_refused_with_a_reason(data: dict[str, Any]) -> None:
    try:
        ask = parse_ask(data)
    except BadAsk as refusal:
        assert str(refusal).endswith((".", "note."))
        assert refusal.status == 400
    else:
        assert ask.text or ask.again


@pytest.mark.parametrize("value", [True, -1, "3", 1.5, []])
def test_a_place_to_go_on_from_is_a_number(value: object) -> None:
    with pytest.raises(BadAsk):
        parse_seq(value)


@given(st.dictionaries(st.text(max_size=9), st.none()))
def test_a_key_that_nothing_reads_is_refused_by_name(body: dict[str, None]) -> None:
    if body.keys() <= {"text", "mode"}:
        check_keys(body, known=("text", "mode"))
    else:
        with pytest.raises(BadAsk, match=r"is not known here\. .*Known are: mode, text\."):
            check_keys(body, known=("text", "mode"))
