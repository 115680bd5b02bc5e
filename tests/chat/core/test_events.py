"""Events: kept and told without loss."""

from __future__ import annotations

import json
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from chat.core.events import (
    TERMINAL,
    Event,
    EventType,
    RunIds,
    from_row,
    said_text,
    to_row,
    to_wire,
)

IDS = RunIds(UUID(int=1), UUID(int=2), UUID(int=3))

events = st.builds(
    Event,
    seq=st.integers(1, 10**6),
    type=st.sampled_from(EventType),
    data=st.dictionaries(st.sampled_from(["text", "html", "index"]), st.text(max_size=20)),
)


@given(events)
def test_an_event_comes_back_from_its_row_as_it_was(event: Event) -> None:
    assert from_row(json.loads(json.dumps(to_row(event)))) == event


@given(events)
def test_on_the_wire_it_says_where_it_belongs(event: Event) -> None:
    wire = to_wire(event, IDS)
    assert wire["type"] == event.type.value
    assert wire["seq"] == event.seq
    assert (wire["run"], wire["conversation"], wire["message"]) == tuple(
        str(UUID(int=number)) for number in (1, 2, 3)
    )
    assert event.data.items() <= wire.items()


def test_three_events_end_a_run() -> None:
    last = [kind for kind in EventType if Event(1, kind).is_last]
    assert set(last) == TERMINAL == {EventType.DONE, EventType.STOPPED, EventType.ERROR}


def test_the_text_is_what_the_deltas_say() -> None:
    said = [
        Event(1, EventType.SOURCES),
        Event(2, EventType.DELTA, {"text": "One "}),
        Event(3, EventType.BLOCK, {"html": "<p>One</p>"}),
        Event(4, EventType.DELTA, {"text": "two"}),
    ]
    assert said_text(said) == "One two"


def test_withdrawn_words_are_no_part_of_the_text() -> None:
    said = [
        Event(1, EventType.SOURCES),
        Event(2, EventType.DELTA, {"text": "Let me think. "}),
        Event(3, EventType.RESET),
        Event(4, EventType.DELTA, {"text": "In March."}),
    ]
    assert said_text(said[:2]) == "Let me think. "
    assert said_text(said[:3]) == ""
    assert said_text(said) == "In March."
