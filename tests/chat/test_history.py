"""Turns in the tables."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import DataError
from django.db.models.functions import Now

from chat.core.asking import Ask, Refused
from chat.core.events import Event, EventType, said_text
from chat.history import MOST_RUNS, Turn, open_turn, own_conversation, own_run
from chat.ledger import (
    Close,
    News,
    Standing,
    append_events,
    append_news,
    end_abandoned,
    read_events,
    save_end,
    want_stop,
)
from chat.models import Conversation, Message, Run, RunEvent, Source
from tests.cast import Cast
from tests.chat.world import PUMP, UPDATED


def begin(cast: Cast, **ask: Any) -> Turn:
    ask.setdefault("text", "When did the pump fail?")
    return open_turn(cast.mate, Ask(**ask), owner_process="here", lease_seconds=15)


def end(turn: Turn, text: str = "In March [1].", status: str = "done") -> None:
    last = Event(1, EventType.DONE, {"html": ""})
    assert save_end(turn.ids.run, [last], Close(status=status, text=text))


def add_source(turn: Turn, cast: Cast, number: int = 1) -> Source:
    return Source.objects.create(
        message_id=turn.ids.message,
        number=number,
        vault=cast.vault,
        path="Notes/Pump.md",
        title="Pump",
        text=PUMP,
        start=0,
        end=len(PUMP),
        note_updated=UPDATED,
    )


def conversation_of(turn: Turn) -> Conversation:
    return Conversation.objects.get(pk=turn.ids.conversation)


def test_a_question_opens_a_conversation_with_its_title(cast: Cast) -> None:
    turn = begin(cast, text="When did the pump fail? And why?", vaults=("team",))
    conversation = conversation_of(turn)
    assert (conversation.owner, conversation.title) == (cast.mate, "When did the pump fail?")
    assert conversation.vaults == ["team"]
    assert turn.is_first
    assert turn.history == ()
    question, answer = conversation.messages.all()
    assert (question.role, answer.role, answer.status) == ("user", "assistant", "running")
    assert answer.parent == question


def test_a_conversation_without_a_title_gets_one_from_its_first_question(cast: Cast) -> None:
    conversation = Conversation.objects.create(owner=cast.mate)
    begin(cast, conversation=conversation.pk)
    conversation.refresh_from_db()
    assert conversation.title == "When did the pump fail?"


def test_a_model_is_told_no_earlier_answer_whose_vault_the_asker_lost(cast: Cast) -> None:
    turn = begin(cast)
    add_source(turn, cast)
    end(turn)
    then = begin(cast, text="And who?", conversation=turn.ids.conversation)
    assert [m.content for m in then.history] == ["When did the pump fail?", "In March [1]."]
    end(then, "Ann mended it.")
    cast.vault.members.filter(user=cast.mate).delete()
    later = begin(cast, text="And now?", conversation=turn.ids.conversation)
    assert [m.content for m in later.history] == ["When did the pump fail?", "And who?"]


def test_the_history_follows_the_branch_of_the_question(cast: Cast) -> None:
    first = begin(cast)
    end(first, "A poor answer.", status="stopped")
    again = begin(cast, conversation=first.ids.conversation, again=first.ids.message)
    end(again, "A good answer.")
    then = begin(cast, text="And why?", conversation=first.ids.conversation)
    assert [message.content for message in then.history] == [
        "When did the pump fail?",
        "A good answer.",
    ]
    assert not then.is_first


def test_an_answer_of_another_conversation_is_not_asked_again(cast: Cast) -> None:
    first = begin(cast)
    end(first)
    other = Conversation.objects.create(owner=cast.mate)
    for again in (first.ids.message, first.user_message, uuid4()):
        with pytest.raises(Refused, match="no such conversation"):
            begin(cast, conversation=other.pk, again=again)
    with pytest.raises(Refused, match="no such conversation"):
        begin(cast, again=first.ids.message)
    assert not other.messages.exists()


def test_one_persons_questions_do_not_fill_every_queue(cast: Cast) -> None:
    for _ in range(MOST_RUNS):
        begin(cast)
    with pytest.raises(Refused, match="Wait for one, or stop one") as refused:
        begin(cast)
    assert refused.value.status == 429
    assert Conversation.objects.count() == MOST_RUNS


def test_what_a_dead_process_left_is_ended_before_the_next_question(cast: Cast) -> None:
    turn = begin(cast)
    said = [
        Event(1, EventType.SOURCES, {}),
        Event(2, EventType.DELTA, {"text": "Half "}),
        Event(3, EventType.DELTA, {"text": "of it"}),
    ]
    append_events(turn.ids.run, said, lease_seconds=15)
    Run.objects.update(lease_until=Now() - timedelta(seconds=1))
    begin(cast, text="Again?", conversation=turn.ids.conversation)
    message = Message.objects.get(pk=turn.ids.message)
    assert (message.status, message.text) == ("interrupted", "Half of it")
    assert read_events(turn.ids.run, after=0)[-1].seq == 4


def test_a_run_that_died_before_its_first_word_still_has_sources_first(cast: Cast) -> None:
    turn = begin(cast)
    Run.objects.update(lease_until=Now() - timedelta(seconds=1))
    assert end_abandoned() == 1
    assert end_abandoned() == 0
    assert [event.type for event in read_events(turn.ids.run, after=0)] == ["sources", "error"]


def test_who_was_taken_for_dead_writes_nothing_more(cast: Cast) -> None:
    turn = begin(cast)
    Run.objects.update(lease_until=Now() - timedelta(seconds=1))
    end_abandoned()
    late = [Event(9, EventType.DELTA, {"text": "late"})]
    assert not append_events(turn.ids.run, late, lease_seconds=15).is_ours
    assert not save_end(turn.ids.run, late, Close(status="done", text="late"))
    assert Message.objects.get(pk=turn.ids.message).text == ""


def test_a_lease_that_is_renewed_is_not_abandoned(cast: Cast) -> None:
    turn = begin(cast)
    Run.objects.update(lease_until=Now() - timedelta(seconds=1))
    assert append_events(turn.ids.run, [], lease_seconds=15).is_ours
    assert end_abandoned() == 0


def test_many_runs_are_kept_together_and_each_hears_how_it_stands(cast: Cast) -> None:
    first, stopped, ended = begin(cast), begin(cast), begin(cast)
    want_stop(stopped.ids.run)
    save_end(ended.ids.run, [], Close(status="done", text="Said."))
    said = [Event(1, EventType.SOURCES, {})]
    news = [News(turn.ids.run, said, 15.0) for turn in (first, stopped, ended)]
    assert append_news(news) == [
        Standing(is_ours=True),
        Standing(is_ours=True, stop_wanted=True),
        Standing(is_ours=False),
    ]
    assert read_events(first.ids.run, after=0) == read_events(stopped.ids.run, after=0) == said
    assert read_events(ended.ids.run, after=0) == []


def test_a_row_that_the_database_refuses_fails_alone(cast: Cast) -> None:
    good, bad = begin(cast), begin(cast)
    told = [[Event(1, EventType.DELTA, {"text": text})] for text in ("fine", "no\x00t fine")]
    news = [News(turn.ids.run, said, 15.0) for turn, said in zip((good, bad), told, strict=True)]
    kept, refused = append_news(news)
    assert kept == Standing(is_ours=True)
    assert isinstance(refused, DataError)
    assert said_text(read_events(good.ids.run, after=0)) == "fine"


def test_what_was_kept_unheard_is_kept_once_when_it_is_said_again(cast: Cast) -> None:
    """The line to the database may break between a commit and the word of it."""
    turn = begin(cast)
    said = [Event(n, EventType.DELTA, {"text": str(n)}) for n in range(1, 6)]
    append_events(turn.ids.run, said[:3], lease_seconds=15)
    assert append_events(turn.ids.run, said, lease_seconds=15).is_ours
    assert read_events(turn.ids.run, after=0) == said


def test_replay_cuts_inside_a_row(cast: Cast) -> None:
    turn = begin(cast)
    for first in (1, 5, 9):
        events = [Event(first + n, EventType.DELTA, {"text": str(n)}) for n in range(4)]
        append_events(turn.ids.run, events, lease_seconds=15)
    for after in range(13):
        seqs = [event.seq for event in read_events(turn.ids.run, after=after)]
        assert seqs == list(range(after + 1, 13))
        before = [event.seq for event in read_events(turn.ids.run, after=after, before=7)]
        assert before == list(range(after + 1, 7))


def test_events_of_runs_long_ended_are_dropped_with_the_next_question(cast: Cast) -> None:
    turn = begin(cast)
    end(turn)
    RunEvent.objects.update(created=Now() - timedelta(minutes=11))
    begin(cast, text="Next?", conversation=turn.ids.conversation)
    assert not RunEvent.objects.filter(run=turn.ids.run).exists()


def test_a_conversation_belongs_to_its_owner_alone(cast: Cast) -> None:
    turn = begin(cast)
    for stranger in (cast.owner, cast.outsider):
        with pytest.raises(Refused) as foreign:
            own_conversation(stranger, turn.ids.conversation)
        with pytest.raises(Refused) as missing:
            own_conversation(stranger, uuid4())
        assert str(foreign.value) == str(missing.value)
        with pytest.raises(Refused):
            own_run(stranger, turn.ids.run)
    assert own_run(cast.mate, turn.ids.run).pk == turn.ids.run


def test_deleting_a_conversation_takes_everything_in_it(cast: Cast) -> None:
    turn = begin(cast)
    add_source(turn, cast)
    append_events(turn.ids.run, [Event(1, EventType.SOURCES, {})], lease_seconds=15)
    conversation_of(turn).delete()
    for model in (Conversation, Message, Run, RunEvent, Source):
        assert not model.objects.exists()


def test_an_edited_question_begins_a_branch_that_knows_nothing_of_the_other(cast: Cast) -> None:
    first = begin(cast)
    end(first)
    then = begin(cast, text="And why?", conversation=first.ids.conversation)
    end(then, "Its seal was worn.")
    edited = begin(
        cast, text="And who?", conversation=first.ids.conversation, edit=then.user_message
    )
    end(edited, "Ann mended it.")
    question = Message.objects.get(pk=edited.user_message)
    assert question.parent_id == first.ids.message
    assert [m.content for m in edited.history] == ["When did the pump fail?", "In March [1]."]
    later = begin(cast, text="When?", conversation=first.ids.conversation)
    assert [m.content for m in later.history][2:] == ["And who?", "Ann mended it."]
    assert Message.objects.get(pk=later.ids.message).told == [
        str(first.ids.message),
        str(edited.ids.message),
    ]


def test_the_next_question_goes_on_in_the_branch_that_is_shown(cast: Cast) -> None:
    first = begin(cast)
    end(first, "The old answer.")
    again = begin(cast, text="", conversation=first.ids.conversation, again=first.ids.message)
    end(again, "The new answer.")
    assert conversation_of(first).leaf == again.ids.message
    Conversation.objects.update(leaf=first.ids.message)
    then = begin(cast, text="And then?", conversation=first.ids.conversation)
    assert [m.content for m in then.history] == ["When did the pump fail?", "The old answer."]
    assert conversation_of(first).leaf == then.ids.message


def test_only_a_question_of_the_conversation_can_be_edited(cast: Cast) -> None:
    turn, other = begin(cast), begin(cast)
    end(turn)
    for wrong in (turn.ids.message, other.user_message):
        with pytest.raises(Refused):
            begin(cast, text="New", conversation=turn.ids.conversation, edit=wrong)
    with pytest.raises(Refused):
        begin(cast, text="New", edit=turn.user_message)


def test_a_temporary_conversation_is_marked(cast: Cast) -> None:
    assert conversation_of(begin(cast, temporary=True)).temporary
    assert not conversation_of(begin(cast)).temporary


@pytest.mark.parametrize("slug", ["nope", "foreign", "tema"])
def test_a_question_to_a_vault_that_may_not_be_read_is_refused_as_to_a_missing_one(
    cast: Cast, slug: str
) -> None:
    with pytest.raises(Refused, match=rf"No vault “{slug}”\. Did you mean team\?") as refused:
        begin(cast, vaults=("team", slug))
    assert refused.value.status == 400
    assert not Conversation.objects.exists()


def test_a_conversation_may_name_the_vaults_it_keeps_though_one_is_gone(cast: Cast) -> None:
    kept = Conversation.objects.create(owner=cast.mate, vaults=["gone", "team"])
    assert begin(cast, conversation=kept.pk, vaults=("team", "gone")).vaults == ("team", "gone")
    with pytest.raises(Refused, match="No vault “nope”"):
        begin(cast, conversation=kept.pk, vaults=("nope",))
