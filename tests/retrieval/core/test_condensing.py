"""Follow-ups: what is asked of a model, how its reply is read, and the rule without one."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.types import ChatMessage
from retrieval.core.condensing import (
    LONGEST_REWRITE,
    MOST_ALTERNATES,
    condense_prompt,
    is_broad,
    other_wordings,
    read_reply,
    stand_alone,
)

HISTORY = (
    ChatMessage("user", "What are the roles in billing?"),
    ChatMessage("assistant", "Owner, approver and clerk [1]."),
)


def test_the_prompt_holds_the_conversation_and_the_question() -> None:
    prompt = condense_prompt("and the owner?", HISTORY)
    assert "user: What are the roles in billing?" in prompt
    assert prompt.endswith("Last message: and the owner?")


def test_a_long_conversation_makes_no_long_prompt() -> None:
    history = [ChatMessage("user", "x" * 50_000)] * 100
    assert len(condense_prompt("why?", history)) < 5_000


def test_a_reply_is_read_whatever_stands_around_it() -> None:
    reply = 'Sure: {"query": "billing  approver", "alternates": ["a", "b", "c", "d"]} Hope it helps'
    condensed = read_reply(reply, alternates=True)
    assert condensed is not None
    assert condensed.queries == ("billing approver", "a", "b")
    without = read_reply(reply, alternates=False)
    assert without is not None
    assert without.queries == ("billing approver",)


def test_the_last_usable_object_counts_because_reasoning_comes_first() -> None:
    reply = '<think>{"query": "draft"}</think>{"query": "billing approver", "alternates": []}'
    condensed = read_reply(reply, alternates=True)
    assert condensed is not None
    assert condensed.query == "billing approver"


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I cannot help with that.",
        "billing approver",
        '{"query": ""}',
        '{"query": "..."}',
        '{"query": ["a"]}',
        '{"question": "a"}',
        '{"query": "I cannot help with that."}',
        json.dumps({"query": "word " * LONGEST_REWRITE}),
        "{" * 50_000,
    ],
)
def test_nonsense_is_no_query(reply: str) -> None:
    assert read_reply(reply, alternates=True) is None


@given(
    st.text(max_size=200)
    | st.dictionaries(
        st.sampled_from(["query", "alternates"]),
        st.text(max_size=30) | st.lists(st.text(max_size=9), max_size=5) | st.none(),
    ).map(json.dumps)
)
def test_any_reply_gives_a_short_query_or_none(reply: str) -> None:
    condensed = read_reply(reply, alternates=True)
    assert condensed is None or (
        0 < len(condensed.query) <= LONGEST_REWRITE and len(condensed.alternates) <= MOST_ALTERNATES
    )


@pytest.mark.parametrize(
    "message",
    [
        "and the owner?",
        "what about the approver?",
        "Where is it kept?",
        "а он?",
        "Wie oft wird sie gewartet?",
        "why",
    ],
)
def test_a_message_that_leans_on_the_one_before_gets_it(message: str) -> None:
    condensed = stand_alone(message, HISTORY)
    assert condensed.queries == (f"What are the roles in billing? {message}", message)
    assert condensed.notice


@pytest.mark.parametrize(
    "message",
    [
        "What about Windows 11?",
        "and for INV/2026/00037?",
        "No, I meant photos of planes in the air.",
        "I'm in Sacramento.",
        "und wie ist das bei Linux?",
        "а для Москвы?",
    ],
)
def test_a_message_that_goes_on_and_names_something_comes_first(message: str) -> None:
    condensed = stand_alone(message, HISTORY)
    assert condensed.queries == (message, f"What are the roles in billing? {message}")
    assert condensed.notice


@pytest.mark.parametrize(
    "message",
    [
        "SCARLET ALBATROSS CLOSEOUT 9928",
        "Android tablets of the warehouse",
        "No",
        "no, thanks",
        "And so it is that every vault is backed up at night by a job of its own",
        "thanks!",
        "ok, great",
        "wrong, I meant the section on seals",
        "INV/2026/00037",
        "How are vaults backed up every night?",
        "Welche Unterlagen brauchen Sie von uns?",
        "Welche Pflanzen brauchen im Winter mehr Licht und wie oft sollten sie gegossen werden?",
        "¿Cuál es la garantía de la bomba azul?",
        "?!",
    ],
)
def test_a_message_that_stands_alone_is_searched_alone(message: str) -> None:
    assert stand_alone(message, HISTORY).queries == (message,)
    assert not stand_alone(message, HISTORY).notice


def test_without_a_previous_question_there_is_nothing_to_add() -> None:
    assert stand_alone("and the owner?", ()).query == "and the owner?"


@pytest.mark.parametrize(
    "question", ["billing roles", "how do we handle leave", "что с отпуском", "Urlaub"]
)
def test_few_plain_words_are_broad(question: str) -> None:
    assert is_broad(question)
    reply = json.dumps({"query": question, "alternates": ["other words", "more words"]})
    condensed = read_reply(reply, alternates=True)
    assert condensed is not None and condensed.alternates == ("other words", "more words")


@pytest.mark.parametrize(
    "question",
    [
        "",
        "INV/2026/00037",
        "the budget of Zelmira",
        'the "exact words" please',
        "which of the two seals of the blue pump has to be greased twice a year",
    ],
)
def test_a_name_a_number_a_quote_or_many_words_are_specific(question: str) -> None:
    assert not is_broad(question)
    reply = json.dumps({"query": question or "x 1", "alternates": ["other words"]})
    condensed = read_reply(reply, alternates=True)
    assert condensed is not None and condensed.alternates == ()


def test_other_wordings_stand_beside_a_question_that_is_never_changed() -> None:
    reply = json.dumps({"query": "x", "alternates": ["Leave policy", "time off", "days off"]})
    found = other_wordings("leave policy", reply)
    assert found.queries == ("leave policy", "time off")
    assert other_wordings("the budget of Zelmira", reply).alternates == ()
    assert other_wordings("leave policy", "no JSON").queries == ("leave policy",)
