"""Answers as the thread shows them."""

from __future__ import annotations

from dataclasses import replace
from uuid import uuid4

import pytest

from chat.models import Message
from chat.presenters.answers import Answer, Turn, turns_of
from chat.presenters.cards import card_id
from retrieval.models import RetrievalRun
from tests.cast import Cast
from tests.chat.pages import (
    BODY,
    add_answer,
    add_source,
    add_turn,
    make_conversation,
    make_note,
)
from vault.models import Note


def only_answer(turns: list[Turn]) -> Answer:
    [turn] = turns
    assert turn.answer is not None
    return turn.answer


@pytest.fixture
def answer(cast: Cast) -> Answer:
    """An answer that cites one of two passages."""
    conversation = make_conversation(cast.owner)
    made = add_turn(
        conversation,
        "When?",
        "In March. [1]",
        note=make_note(cast.vault),
        usage={"input_tokens": 7},
    )
    add_source(made, make_note(cast.vault, title="Boiler", path="Cellar/Boiler.md"), number=2)
    return only_answer(turns_of(conversation, cast.owner))


def test_cited_and_only_read_passages_are_apart(answer: Answer) -> None:
    assert [source.title for source in answer.cited] == ["Pump"]
    assert [source.title for source in answer.read] == ["Boiler"]
    assert answer.note_count == 2
    assert answer.vault_names == ["Team"]


def test_a_card_says_where_without_saying_the_title_twice(answer: Answer) -> None:
    [card] = answer.cited
    assert card.where == "Team › Failure"
    assert card.url.startswith("/vaults/team/notes/Pump.md?span=0-")


def test_a_card_begins_with_what_the_answer_cites_of_the_passage(answer: Answer) -> None:
    [card] = answer.cited
    assert card.text == BODY
    assert card.snippet == "The pump failed in March."


def test_a_passage_that_was_only_read_is_shown_without_marks_and_headings(answer: Answer) -> None:
    [card] = answer.cited
    assert replace(card, quote="").snippet == (
        "The pump failed in March. It was repaired in three hours."
    )


def test_a_passage_of_headings_alone_is_shown_by_them(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "?", "[1]", note=make_note(cast.vault, body="# Only\n## Headings"))
    [card] = only_answer(turns_of(conversation, cast.owner)).sources
    assert card.snippet == "Only Headings"


def test_what_is_copied_names_the_cited_notes(answer: Answer) -> None:
    assert answer.markdown == "In March. [1]\n\nSources:\n\n[1] Pump, Pump.md"


def test_the_number_of_a_note_that_is_gone_leads_to_its_card(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    made = add_turn(conversation, "When?", "In March. [1] [2]", note=make_note(cast.vault))
    add_source(made, make_note(cast.vault, title="Boiler"), number=2)
    Note.objects.get(title="Pump").delete()
    html = only_answer(turns_of(conversation, cast.owner)).html
    assert f'href="#{card_id(str(made.pk), 1)}"' in html
    assert "Pump.md" not in html
    assert "Boiler.md?span=" in html


def test_an_answer_without_citations_is_copied_as_it_is(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "?", "Nobody knows. ")
    assert only_answer(turns_of(conversation, cast.owner)).markdown == "Nobody knows."


def test_tokens_are_counted_when_they_are_known(answer: Answer, cast: Cast) -> None:
    assert answer.tokens == "7 tokens"
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "?", "x", usage={"input_tokens": 1, "output_tokens": None})
    assert only_answer(turns_of(conversation, cast.owner)).tokens == "1 token"
    other = make_conversation(cast.owner)
    add_turn(other, "?", "x")
    assert only_answer(turns_of(other, cast.owner)).tokens == ""


def test_versions_lead_to_each_other(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    first = add_turn(conversation, "?", "one")
    assert first.parent is not None
    second, third = (add_answer(first.parent, text) for text in ("two", "three"))
    newest = only_answer(turns_of(conversation, cast.owner))
    assert newest.versions
    assert (newest.id, newest.versions.nth, newest.versions.later) == (str(third.pk), 3, "")
    assert newest.versions.earlier == str(second.pk)
    chosen = only_answer(turns_of(conversation, cast.owner, at=first.pk))
    assert chosen.versions
    assert (chosen.versions.nth, chosen.versions.earlier) == (1, "")
    assert chosen.versions.later == str(second.pk)


def test_an_edited_question_shows_its_own_branch(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    first = add_turn(conversation, "When?", "In March.")
    second = add_turn(conversation, "Why?", "Its seal.")
    asked = Message.objects.create(
        conversation=conversation, parent=first, role="user", text="Who?"
    )
    add_answer(asked, "Ann.")
    turns = turns_of(conversation, cast.owner)
    assert [turn.question for turn in turns] == ["When?", "Who?"]
    assert turns[0].versions is None
    assert turns[1].versions
    assert (turns[1].versions.nth, turns[1].versions.earlier) == (2, str(second.parent_id))
    older = turns_of(conversation, cast.owner, at=second.parent_id)
    assert [turn.question for turn in older] == ["When?", "Why?"]
    assert older[1].answer
    assert older[1].answer.text == "Its seal."


def test_turns_are_in_the_order_they_were_asked(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    for number in range(3):
        add_turn(conversation, f"question {number}", f"answer {number}")
    turns = turns_of(conversation, cast.owner)
    assert [turn.question for turn in turns] == ["question 0", "question 1", "question 2"]
    assert [turn.answer.text for turn in turns if turn.answer] == [
        "answer 0",
        "answer 1",
        "answer 2",
    ]


def test_a_question_without_an_answer_is_shown(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    Message.objects.create(conversation=conversation, role=Message.Role.USER, text="Hello?")
    [turn] = turns_of(conversation, cast.owner)
    assert (turn.question, turn.answer) == ("Hello?", None)


def with_run(cast: Cast, **of: object) -> Answer:
    run = RetrievalRun.objects.create(
        question="?",
        queries=["when", "pump"],
        vaults=["team", "foreign"],
        mode="hybrid",
        arms=[
            {"name": "keyword", "ran": True, "found": 3, "path": "bm25"},
            {"name": "meaning", "ran": False, "reason": "no model"},
            {"name": "oracle", "ran": True, "found": 0},
        ],
        timings={"total": 61.6, "search": 40.4, "embed": 0.2},
        notices=["Look twice."],
    )
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "?", "x", retrieval_run=run)
    return only_answer(turns_of(conversation, cast.owner))


def test_how_it_was_found_hides_nothing_but_what_may_not_be_read(cast: Cast) -> None:
    found = with_run(cast).found
    assert found is not None
    assert found.queries == ("when", "pump")
    assert found.vaults == ("Team",)
    assert [(arm.label, arm.ran, arm.reason) for arm in found.arms] == [
        ("keyword", True, ""),
        ("meaning", False, "no model"),
        ("oracle", True, ""),
    ]
    assert found.notices == ("Look twice.",)


def test_timings_are_whole_milliseconds_and_none_are_nothing(cast: Cast) -> None:
    found = with_run(cast).found
    assert found is not None
    assert found.milliseconds == 62
    assert found.timings == (("searching", 40),)


def test_the_stage_line_names_arms_that_found_something(cast: Cast) -> None:
    found = with_run(cast).found
    assert found is not None
    assert found.arm_names == ["keyword"]


def test_a_retrieval_that_was_cleared_away_is_simply_not_shown(cast: Cast) -> None:
    answer = with_run(cast)
    RetrievalRun.objects.all().delete()
    message = Message.objects.get(pk=answer.id)
    assert only_answer(turns_of(message.conversation, cast.owner)).found is None


def test_a_question_that_fills_more_than_its_place_is_long() -> None:
    questions = ("x" * 600, "x" * 601, "\n" * 8, "\n" * 9)
    assert [Turn("1", uuid4(), question).is_long for question in questions] == [
        False,
        True,
        False,
        True,
    ]
