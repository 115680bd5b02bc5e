"""A file of conversations is checked to the last field."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.exporting import FORMAT, VERSION
from chat.core.importing import BadFile, ImportedConversation
from chat.core.importing import parse_file as parse_file_by

NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
A, B, C = (f"8a0f6a1e-7d5e-4c0a-9c55-0f7f3b1f5e1{n}" for n in range(3))


def parse_file(data: object) -> tuple[ImportedConversation, ...]:
    return parse_file_by(data, now=NOW)


def source(**fields: Any) -> dict[str, Any]:
    base = {"number": 1, "vault": "team", "path": "P.md", "title": "P", "start": 0, "end": 2}
    return {**base, "heading_path": [], "text": "Hi", **fields}


def question(**fields: Any) -> dict[str, Any]:
    return {"id": A, "parent": None, "role": "user", "text": "Why?", **fields}


def answer(**fields: Any) -> dict[str, Any]:
    base = {"id": B, "parent": A, "role": "assistant", "text": "So.", "status": "done"}
    return {**base, "mode": "notes_first", "sources": [source()], **fields}


def file_with(*messages: object, **fields: Any) -> dict[str, Any]:
    conversation = {"id": C, "title": "T", "messages": list(messages), **fields}
    return {"format": FORMAT, "version": VERSION, "conversations": [conversation]}


def test_a_good_file_is_read_whole() -> None:
    (read,) = parse_file(file_with(question(), answer(), leaf=B, vaults=["team"], pinned=True))
    assert (str(read.id), str(read.leaf), read.vaults, read.pinned) == (C, B, ("team",), True)
    assert [message.role for message in read.messages] == ["user", "assistant"]
    assert read.messages[1].sources[0].path == "P.md"


def test_the_steps_of_an_answer_are_read_or_named() -> None:
    step = {"tool": "search", "what": "seal", "state": "done", "found": [1, 2]}
    (read,) = parse_file(file_with(question(), answer(tool_use="auto", steps=[step])))
    assert read.messages[1].tool_use == "auto"
    assert (read.messages[1].steps[0].what, read.messages[1].steps[0].found) == ("seal", (1, 2))
    for fault in ({"state": "asked"}, {"found": ["x"]}, {"found": [True]}):
        with pytest.raises(BadFile, match=r"steps\[0\]"):
            parse_file(file_with(question(), answer(steps=[{**step, **fault}])))
    assert parse_file({"format": FORMAT, "version": VERSION}) == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ([], "the file must be a JSON object"),
        ({}, "no file of conversations"),
        ({"format": FORMAT, "version": VERSION + 1}, "Update the server"),
        ({"format": FORMAT}, "“version”"),
        ({"format": FORMAT, "version": 1, "conversations": {}}, "must be a list"),
        ({"format": FORMAT, "version": 1, "conversations": [7]}, "must be a JSON object"),
        (file_with(id=None), "conversations[0], “id”: is missing"),
        (file_with(id="x"), "conversations[0], “id”: must be a UUID"),
        (file_with(title=7), "“title”: must be a text"),
        (file_with(title="x" * 201), "more than 200 characters"),
        (file_with(pinned="yes"), "“pinned”: must be true or false"),
        (file_with(updated="soon"), "must be an ISO date"),
        (file_with(updated="2026-01-01T00:00:00"), "time zone"),
        (file_with(updated="0001-01-01T00:00:00+14:00"), "“updated”: must be a moment from 1990"),
        (file_with(updated="9999-12-31T23:59:59-12:00"), "“updated”: must be a moment from 1990"),
        (file_with(updated="2026-03-05T05:07:00+00:00"), "“updated”: must not be in the future"),
        (file_with(question(created="1989-12-31T23:59:59+00:00")), "messages[0], “created”"),
        (file_with(vaults=[1]), "“vaults”: must be a list of texts"),
        (file_with(question(role="robot")), "conversations[0].messages[0], “role”"),
        (file_with(question(), question()), "stands twice"),
        (file_with(question(parent=B)), "“parent”: must name a message that stands before"),
        (file_with(question(), answer(role="user")), "must follow each other"),
        (file_with(answer(parent=None)), "must follow each other"),
        (file_with(question(), answer(status="running")), "“status”: must be one of"),
        (file_with(question(), answer(mode="x")), "“mode”: must be one of"),
        (file_with(question(), answer(told=[C])), "“told”"),
        (file_with(question(), answer(sources=[source(number=-1)])), "sources[0], “number”"),
        (file_with(question(), answer(sources=[source(end=0, start=2)])), "“end”"),
        (file_with(question(), answer(sources=["x"])), "sources[0] must be a JSON object"),
    ],
)
def test_a_fault_is_named_with_its_place(data: object, reason: str) -> None:
    with pytest.raises(BadFile) as refused:
        parse_file(data)
    assert reason in str(refused.value)


def test_what_no_table_can_hold_is_taken_out() -> None:
    (read,) = parse_file(file_with(question(text="a\x00b\ud800c")))
    assert read.messages[0].text == "abc"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=8,
)
KEYS = ("id", "parent", "role", "text", "status", "mode", "told", "sources", "created", "withheld")


@given(JSON, st.sampled_from(KEYS))
def test_any_value_in_any_field_is_read_or_refused(value: object, key: str) -> None:
    for data in (file_with(question(), answer(**{key: value})), value, file_with(value)):
        try:
            parse_file(data)
        except BadFile as refused:
            assert str(refused)


@given(st.datetimes(), st.integers(-1439, 1439))
def test_any_moment_is_one_that_pages_can_show_or_is_refused(moment: datetime, off: int) -> None:
    """In every time zone, and never on top of a list for ever."""
    written = moment.replace(tzinfo=timezone(timedelta(minutes=off))).isoformat()
    try:
        (read,) = parse_file(file_with(updated=written))
    except BadFile as refused:
        assert "“updated”" in str(refused)
    else:
        assert read.updated is not None
        assert 1990 <= read.updated.astimezone(timezone(timedelta(hours=14))).year <= 2026
        assert read.updated == datetime.fromisoformat(written)
