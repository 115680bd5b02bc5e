"""Whether a caller may go on, asked of the tables each time."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.utils import timezone

from chat.core.asking import Ask, Refused
from chat.history import Turn, open_turn
from chat.models import Source
from chat.rights import (
    Caller,
    Permission,
    caller_of_session,
    check_sources,
    current_user,
    has_lost_sources,
    lost_answers,
    permission_of,
)
from tests.cast import Cast
from tests.chat.world import PUMP, UPDATED, caller, signed_in
from tests.vault.notes import make_note
from vault.models import ApiToken, Note
from vault.tokens import create_token, find_token


def by_token(cast: Cast) -> Caller:
    token = find_token(create_token(cast.mate))
    assert token is not None
    return Caller(user_id=cast.mate.pk, token_id=token.pk)


def answered(cast: Cast) -> Turn:
    """A turn of the mate that was written from the team's vault."""
    turn = open_turn(cast.mate, Ask(text="When?"), owner_process="here", lease_seconds=15)
    Source.objects.create(
        message_id=turn.ids.message,
        number=1,
        vault=cast.vault,
        path="a.md",
        title="A",
        text=PUMP,
        start=0,
        end=len(PUMP),
        note_updated=UPDATED,
    )
    return turn


@pytest.mark.parametrize("door", [by_token, lambda cast: caller(cast.mate)])
def test_a_caller_is_valid_until_suspended_or_deleted(
    door: Callable[[Cast], Caller], cast: Cast
) -> None:
    me = door(cast)
    assert current_user(me) == cast.mate
    assert permission_of(me) == Permission(is_signed_in=True)
    cast.mate.is_active = False
    cast.mate.save()
    assert current_user(me) is None
    assert permission_of(me) == Permission(is_signed_in=False)
    cast.mate.delete()
    assert current_user(me) is None


def test_a_withdrawn_token_is_nobody(cast: Cast) -> None:
    me = by_token(cast)
    ApiToken.objects.all().delete()
    assert current_user(me) is None


def test_a_token_of_somebody_else_is_nobody(cast: Cast) -> None:
    theirs = by_token(cast)
    assert current_user(Caller(user_id=cast.owner.pk, token_id=theirs.token_id)) is None


def test_an_ended_expired_or_foreign_session_is_nobody(cast: Cast) -> None:
    me = caller(cast.mate)
    foreign = Caller(user_id=cast.owner.pk, session_key=me.session_key)
    assert current_user(foreign) is None
    assert current_user(Caller(user_id=cast.mate.pk)) is None
    assert current_user(Caller(user_id=cast.mate.pk, session_key="no-such-session")) is None
    Session.objects.filter(pk=me.session_key).update(expire_date=timezone.now())
    assert current_user(me) is None


def test_a_new_password_ends_the_sessions(cast: Cast) -> None:
    me = caller(cast.mate)
    cast.mate.set_password("another one entirely")
    cast.mate.save()
    assert current_user(me) is None


def test_a_caller_is_made_of_a_signed_in_session_alone(cast: Cast) -> None:
    session: SessionBase = signed_in(cast.mate).session
    made = caller_of_session(session, cast.mate)
    assert made == Caller(user_id=cast.mate.pk, session_key=session.session_key)
    assert caller_of_session(session, AnonymousUser()) is None
    assert caller_of_session(session, None) is None


def test_leaving_a_vault_loses_the_answers_that_were_written_from_it(cast: Cast) -> None:
    turn, me = answered(cast), caller(cast.mate)
    messages = (turn.ids.message,)
    assert not has_lost_sources(cast.mate, turn.ids.message)
    check_sources(cast.mate, turn.ids.message)
    assert permission_of(me, message_ids=messages).lost == frozenset()
    cast.vault.members.filter(user=cast.mate).delete()
    assert permission_of(me, message_ids=messages).lost == frozenset(messages)
    assert permission_of(me) == Permission(is_signed_in=True)
    with pytest.raises(Refused, match="you may no longer read"):
        check_sources(cast.mate, turn.ids.message)


def test_closing_a_folder_loses_the_answers_that_were_written_from_it(cast: Cast) -> None:
    turn = answered(cast)
    path = Source.objects.get().path
    member = cast.vault.members.get(user=cast.mate)
    member.hidden_folders = [path]
    member.save()
    assert has_lost_sources(cast.mate, turn.ids.message)
    assert lost_answers(cast.mate) == {turn.ids.message}
    member.hidden_folders = ["Elsewhere"]
    member.save()
    assert not has_lost_sources(cast.mate, turn.ids.message)


def test_an_answer_is_lost_when_its_note_was_moved_into_a_closed_folder(cast: Cast) -> None:
    turn = answered(cast)
    source = Source.objects.get()
    source.note = make_note(cast.vault, "HR/moved.md")
    source.save()
    cast.vault.members.filter(user=cast.mate).update(hidden_folders=["HR"])
    assert has_lost_sources(cast.mate, turn.ids.message)
    Note.objects.filter(path="HR/moved.md").update(path="Open/moved.md")
    assert not has_lost_sources(cast.mate, turn.ids.message)


def test_a_deleted_vault_counts_as_left(cast: Cast) -> None:
    turn = answered(cast)
    cast.vault.delete()
    assert has_lost_sources(cast.mate, turn.ids.message)


def test_an_answer_without_sources_is_never_lost(cast: Cast) -> None:
    turn = answered(cast)
    Source.objects.all().delete()
    cast.vault.members.filter(user=cast.mate).delete()
    assert not has_lost_sources(cast.mate, turn.ids.message)
