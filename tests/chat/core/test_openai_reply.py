"""Answers in OpenAI's form: words, marks, sources, endings."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from chat.core.events import Event, EventType, RunIds
from chat.core.openai_reply import (
    Reply,
    failure_json,
    is_failure,
    marks_in,
    may_retry,
    status_of,
)

IDS = RunIds(UUID(int=1), UUID(int=2), UUID(int=3))
DONE = {"citations": [{"n": 1}], "usage": {"input_tokens": 5, "output_tokens": 2}}


def passage(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "number": number,
        "title": "Pumps",
        "vault": "team",
        "path": "Pumps.md",
        "heading_path": ["Pumps", "Blue [old]"],
        "text": "It failed in March.",
        "url": "/vaults/team/notes/Pumps.md",
        "updated": None,
        "date": None,
        "status": "",
        "superseded_by": "",
        "valid_until": "",
        "also_in": [{"vault": "team", "path": "Old/Pumps.md"}],
        **fields,
    }


def told(*events: tuple[EventType, dict[str, Any]], **of: Any) -> tuple[Reply, str, Event]:
    """A reply that heard these events, what its stream said, and the last of them."""
    reply, said = Reply(IDS, "secondbrain", "https://brain.example.com", **of), ""
    sources = {"passages": [passage(1), passage(2)], "notices": ["By words alone."], "model": "M"}
    all_events = [(EventType.SOURCES, sources), *events]
    for seq, (kind, data) in enumerate(all_events, 1):
        last = Event(seq, kind, data)
        said += reply.take(last)
    return reply, said, last


def words(*texts: str) -> list[tuple[EventType, dict[str, Any]]]:
    return [(EventType.DELTA, {"text": text}) for text in texts]


def test_a_whole_reply_has_the_words_the_marks_and_the_sources() -> None:
    reply, said, last = told(*words("It fai", "led. [", "1]"), (EventType.DONE, DONE))
    whole = reply.whole(last)
    assert said == whole["choices"][0]["message"]["content"] == "It failed. [1]"
    assert whole["choices"][0]["finish_reason"] == "stop"
    assert whole["usage"] == {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    assert [(s["n"], s["cited"]) for s in whole["sources"]] == [(1, True), (2, False)]
    assert whole["sources"][0]["url"] == "https://brain.example.com/vaults/team/notes/Pumps.md"
    assert whole["sources"][0]["also_in"] == ["team/Old/Pumps.md"]
    assert whole["notices"] == ["By words alone."]
    (note,) = whole["choices"][0]["message"]["annotations"]
    place = note["url_citation"]
    assert "It failed. [1]"[place["start_index"] : place["end_index"]] == "[1]"


def test_footnotes_stand_below_the_text_of_those_who_ask_for_them() -> None:
    reply, said, last = told(*words("It failed. [1]"), (EventType.DONE, DONE), adds_footnotes=True)
    assert said == (
        "It failed. [1]\n\n[1] [Pumps > Blue (old)]"
        "(https://brain.example.com/vaults/team/notes/Pumps.md) – team/Pumps.md"
    )
    message = reply.whole(last)["choices"][0]["message"]
    assert message["content"] == said
    assert len(message["annotations"]) == 1


def test_words_that_were_reasoning_are_set_apart_in_a_stream_and_gone_from_a_whole_reply() -> None:
    events = [*words("Let me think."), (EventType.RESET, {}), *words("In March.")]
    reply, said, last = told(*events, (EventType.DONE, DONE))
    assert said == "Let me think.\n\nIn March."
    assert reply.whole(last)["choices"][0]["message"]["content"] == "In March."


def test_words_that_are_said_again_with_marks_are_streamed_once() -> None:
    again = (EventType.RESET, {"reason": "sources_added"})
    reply, said, last = told(
        *words("In March."), again, *words("In March. [1]"), (EventType.DONE, DONE)
    )
    assert said == "In March."
    assert reply.whole(last)["choices"][0]["message"]["content"] == "In March. [1]"
    assert reply.last_chunk(last)["sources"][0]["cited"]


def test_where_notes_alone_may_speak_words_are_told_when_they_can_not_be_taken_back() -> None:
    strict = (EventType.SOURCES, {"passages": [passage(1)], "mode": "notes_only"})
    taken_back = (EventType.RESET, {"reason": "abstained"})
    events = [strict, *words("Paris, I guess."), taken_back, *words("There is no answer.")]
    reply, said, last = told(*events, (EventType.DONE, DONE), adds_footnotes=True)
    assert said.startswith("There is no answer.\n\n[1] ")
    assert reply.whole(last)["choices"][0]["message"]["content"] == said


def test_endings_have_openais_words() -> None:
    reply, _, cut = told((EventType.DONE, {**DONE, "cut_short": True}))
    assert reply.last_chunk(cut)["choices"][0]["finish_reason"] == "length"
    reply, _, stopped = told((EventType.STOPPED, DONE))
    assert "This answer was stopped." in reply.last_chunk(stopped)["notices"]
    filtered = {"code": "filtered", "text": "Withheld.", "mend": "Say it otherwise."}
    reply, _, last = told((EventType.ERROR, filtered))
    assert not is_failure(last)
    chunk = reply.last_chunk(last)
    assert chunk["choices"][0]["finish_reason"] == "content_filter"
    assert chunk["notices"][-2:] == ["Withheld.", "Say it otherwise."]


@pytest.mark.parametrize(
    ("code", "status", "kind", "again"),
    [
        ("limit_reached", 429, "rate_limit_error", False),
        ("rate_limited", 429, "rate_limit_error", True),
        ("rights_changed", 403, "permission_error", False),
        ("input_too_long", 400, "invalid_request_error", True),
        ("not_configured", 503, "server_error", False),
        ("unreachable", 502, "server_error", True),
    ],
)
def test_a_failure_has_its_status_its_type_and_what_mends_it(
    code: str, status: int, kind: str, *, again: bool
) -> None:
    event = Event(2, EventType.ERROR, {"code": code, "text": "It failed.", "mend": "Wait."})
    error = failure_json(event)["error"]
    assert error == {"message": "It failed. Wait.", "type": kind, "param": None, "code": code}
    assert (status_of(code), may_retry(code)) == (status, again)


def test_marks_in_code_are_no_marks() -> None:
    text = "A [1] `b[1]` c [1, 2]\n```\n[1]\n```"
    assert [text[start:end] for start, end, _ in marks_in(text, frozenset({1, 2}))] == [
        "[1]",
        "[1, 2]",
    ]
