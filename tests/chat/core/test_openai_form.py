"""Requests in OpenAI's form: what is read, what is refused, and why."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.asking import Refused
from chat.core.openai_form import KEEP, MOST_MESSAGES, Completion, parse_completion
from providers.core.types import ChatMessage

HERE = "5f0c5a1e-0000-4000-8000-000000000002"


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def read(*messages: Any, conversation: str = "", **fields: Any) -> Completion:
    body = {"model": "secondbrain", "messages": list(messages) or [said("user", "When?")]}
    return parse_completion({**body, **fields}, conversation=conversation)


def test_the_last_message_is_the_question_and_those_before_it_the_conversation() -> None:
    found = read(
        said("system", "Be brief."),
        said("user", "Who repaired it?"),
        said("assistant", "Ann."),
        said("developer", "No jokes."),
        said("user", [{"type": "text", "text": "And"}, {"type": "text", "text": "when?"}]),
    )
    assert found.ask.text == "And\nwhen?"
    assert found.ask.earlier == (
        ChatMessage("user", "Who repaired it?"),
        ChatMessage("assistant", "Ann."),
    )
    assert found.ask.instructions == "Be brief.\n\nNo jokes."
    assert (found.streams, found.sends_usage, found.adds_footnotes) == (False, False, False)


def test_neighbours_of_one_speaker_are_one_turn_and_empty_ones_none() -> None:
    found = read(
        said("user", "One"), said("user", "Two"), said("assistant", None), said("user", "Three?")
    )
    assert found.ask.earlier == (ChatMessage("user", "One\n\nTwo"),)


def test_a_conversation_is_deleted_after_a_day_unless_it_is_kept_or_gone_on_with() -> None:
    passing, kept, other = read(), read(conversation=KEEP), read(conversation=HERE)
    assert (passing.ask.temporary, passing.ask.title_is_final) == (True, True)
    assert (kept.ask.temporary, kept.ask.title_is_final) == (False, False)
    assert (kept.ask.conversation, other.ask.conversation) == (None, UUID(HERE))


def test_a_conversation_that_goes_on_has_messages_of_its_own() -> None:
    found = read(said("user", "Who?"), said("assistant", "Ann."), said("user", "When?"))
    assert found.ask.earlier
    going_on = read(
        said("user", "Who?"), said("assistant", "Ann."), said("user", "When?"), conversation=HERE
    )
    assert going_on.ask.earlier == ()
    assert "own messages were read" in going_on.notices[0]


def test_wishes_stand_in_the_metadata_among_a_clients_own() -> None:
    wishes = {"vaults": "team, docs", "mode": "notes_only", "footnotes": "true", "trace": "x1"}
    found = read(metadata=wishes)
    assert found.ask.vaults == ("team", "docs")
    assert found.ask.mode == "notes_only"
    assert found.adds_footnotes
    assert read(metadata={"vaults": ["team"]}).ask.vaults == ("team",)
    assert read(metadata={"vaults": " "}).ask.vaults is None


def test_what_an_admin_sets_is_named_and_not_refused() -> None:
    found = read(temperature=0, max_tokens=5, top_p=None)
    assert found.notices == (
        "Ignored, because an admin sets it for each model: temperature, max_tokens.",
    )


def test_the_newest_of_many_messages_are_read() -> None:
    many = [said("user" if at % 2 == 0 else "assistant", f"No. {at}") for at in range(300)]
    found = read(*many, said("user", "When?"))
    assert len(found.ask.earlier) == MOST_MESSAGES
    assert found.ask.earlier[-1].content == "No. 299"
    assert "oldest messages were left out" in found.notices[0]


def test_streams_and_their_tokens_are_chosen_as_with_openai() -> None:
    found = read(stream=True, stream_options={"include_usage": True})
    assert (found.streams, found.sends_usage) == (True, True)


@pytest.mark.parametrize(
    ("fields", "code", "reason"),
    [
        ({"messages": []}, "bad_request", "ends with the user's question"),
        ({"messages": "When?"}, "bad_request", "ends with the user's question"),
        ({"messages": ["When?"]}, "bad_request", "“messages[0]” must be an object"),
        ({"messages": [said("tool", "x")]}, "bad_request", "“messages[0].role”"),
        ({"messages": [said("user", 5)]}, "bad_request", "“messages[0].content” must be text"),
        ({"messages": [said("user", "Hi"), said("assistant", "")]}, "bad_request", "The last of"),
        ({"messages": [said("user", "  ")]}, "bad_request", "The question is empty"),
        (
            {"messages": [said("user", [{"type": "image_url", "image_url": {"url": "x"}}])]},
            "bad_request",
            "images and files are not read",
        ),
        (
            {"messages": [said("system", "x" * 20_001), said("user", "Hi")]},
            "bad_request",
            "20,001 characters",
        ),
        ({"model": ""}, "bad_request", "see /v1/models"),
        ({"model": None}, "bad_request", "see /v1/models"),
        ({"stream": "yes"}, "bad_request", "“stream” must be true or false"),
        ({"stream_options": 1}, "bad_request", "“stream_options” must be an object"),
        ({"metadata": []}, "bad_request", "“metadata” must be an object"),
        ({"metadata": {"mode": "all"}}, "bad_request", "“mode” must be one of"),
        ({"metadata": {"persona": "x"}}, "bad_request", "“persona” must be the number"),
        ({"n": 2}, "unsupported_parameter", "“n” must be 1"),
        ({"tools": [{}]}, "unsupported_parameter", "“tools” are not passed on"),
        ({"response_format": {"type": "json_object"}}, "unsupported_parameter", "must be text"),
        ({"logprobs": True}, "unsupported_parameter", "leave it out"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    fields: dict[str, Any], code: str, reason: str
) -> None:
    with pytest.raises(Refused) as refused:
        read(**fields)
    assert (refused.value.code, refused.value.status) == (code, 400)
    assert reason in str(refused.value)


def test_a_conversations_header_is_a_word_or_an_id() -> None:
    with pytest.raises(Refused, match="must be “keep”, or the id"):
        read(conversation="mine")


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
_NAMES = st.sampled_from(
    ["model", "messages", "n", "tools", "stream", "stream_options", "metadata", "response_format"]
)


@given(st.dictionaries(_NAMES, _ANY), st.text())
def test_any_body_is_read_or_refused(body: dict[str, Any], header: str) -> None:
    try:
        found = parse_completion(body, conversation=header)
    except Refused as refused:
        assert str(refused)
    else:
        assert found.ask.text
