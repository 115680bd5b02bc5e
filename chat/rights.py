"""Whether somebody may still do what they began: asked again at every step."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from chat.core.asking import Refused
from chat.models import Message, Source
from chat.told import answers_after, answers_behind, vaults_behind
from vault.access import scope_for, scopes_for
from vault.core.types import Scope
from vault.models import ApiToken
from vault.querysets import in_open_folders

RIGHTS_CHANGED = "rights_changed"
WITHHELD_TEXT = "This answer was written from a vault you may no longer read."


class CloseCode(IntEnum):
    """Why the server ends a socket. 4401 will not go away by connecting again.

    All are from the range that applications may use: autobahn refuses to send 1011.
    """

    SIGNED_OUT = 4401
    TOO_SLOW = 4408
    TRY_AGAIN = 4503


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and by which door they came in: a session or a token."""

    user_id: int
    session_key: str | None = None
    token_id: int | None = None


def caller_of_session(session: Any, user: Any) -> Caller | None:
    """The caller behind a signed-in session; None when nobody is signed in."""
    if not getattr(user, "is_authenticated", False) or not session.session_key:
        return None
    return Caller(user_id=user.pk, session_key=session.session_key)


def current_user(caller: Caller) -> User | None:
    """The caller's user as the database knows them now.

    None when the user is gone or suspended, the session ended or the password changed,
    or the token was withdrawn.
    """
    return current_users([caller]).get(caller)


def current_users(callers: Collection[Caller]) -> dict[Caller, User]:
    """As current_user, of many at once; who is nobody any more is left out."""
    ids = {caller.user_id for caller in callers}
    users = {user.pk: user for user in get_user_model().objects.filter(pk__in=ids, is_active=True)}
    tokens = {caller.token_id for caller in callers if caller.token_id is not None}
    owners = dict(ApiToken.objects.filter(pk__in=tokens).values_list("pk", "user_id"))
    keys = {caller.session_key for caller in callers if caller.session_key}
    sessions = _sessions(keys) if keys else {}
    found = {}
    for caller in callers:
        user = users.get(caller.user_id)
        if user is None:
            continue
        if caller.token_id is not None:
            is_valid = owners.get(caller.token_id) == user.pk
        else:
            is_valid = _is_session_of(user, sessions.get(caller.session_key or "", {}))
        if is_valid:
            found[caller] = user
    return found


def has_lost_sources(user: User, message_id: UUID) -> bool:
    """Whether the answer rests on a vault that `user` may not read any more.

    It does when it was written from one, or when the model was told an answer that does.
    """
    return bool(lost_to({message_id: user}))


def lost_to(readers: Mapping[UUID, User]) -> set[UUID]:
    """Of many answers, each with its reader: those that has_lost_sources is true of."""
    behind = vaults_behind(readers)
    scopes = scopes_for({readers[pk].pk: readers[pk] for pk in behind}.values())
    lost = set()
    for message_id, vault_ids in behind.items():
        user = readers[message_id]
        scope = scopes.get(user.pk)
        if scope is None or not vault_ids <= set(scope.vault_ids):
            lost.add(message_id)
        elif not vault_ids.isdisjoint(rule.vault_id for rule in scope.rules):
            told = answers_behind(message_id)
            if _unreadable(scope).filter(message_id__in=told).exists():
                lost.add(message_id)
    return lost


def lost_answers(user: User) -> set[UUID]:
    """The answers of `user` that has_lost_sources is true of."""
    owned = Message.objects.filter(conversation__owner_id=user.pk)
    sources = _unreadable(scope_for(user)).filter(message__in=owned)
    lost = set(sources.values_list("message_id", flat=True))
    return lost | answers_after(lost, among=owned)


def check_sources(user: User, message_id: UUID) -> None:
    """Raises Refused when the answer rests on what `user` may not read any more."""
    if has_lost_sources(user, message_id):
        raise Refused(RIGHTS_CHANGED, WITHHELD_TEXT, status=403)


@dataclass(frozen=True, slots=True)
class Permission:
    """What a caller may be told now; `lost` are the answers they may follow no longer."""

    is_signed_in: bool
    lost: frozenset[UUID] = frozenset()


def permission_of(caller: Caller, *, message_ids: Iterable[UUID] = ()) -> Permission:
    """Whether the caller is signed in, and which of the answers are lost to them."""
    return permissions_of([Followed(caller, frozenset(message_ids))])[0]


@dataclass(frozen=True, slots=True)
class Followed:
    """Answers that one caller follows."""

    caller: Caller
    message_ids: frozenset[UUID] = frozenset()


def permissions_of(followed: Sequence[Followed]) -> list[Permission]:
    """As permission_of, of many at once, in their order."""
    users = current_users({each.caller for each in followed})
    # An answer has one owner, and no one else follows it.
    readers = {pk: users[f.caller] for f in followed if f.caller in users for pk in f.message_ids}
    lost = lost_to(readers) if readers else set()
    return [Permission(is_signed_in=f.caller in users, lost=f.message_ids & lost) for f in followed]


def is_open(source: Source, scope: Scope) -> bool:
    """As _unreadable, of one passage: whether `scope` opens the place where its note was
    when it was cited, and the place where it is now."""
    if source.vault_id is None or not scope.opens(source.vault_id, source.path):
        return False
    if not scope.rules or source.note is None:
        return True
    return scope.opens(source.vault_id, source.note.path)


def _unreadable(scope: Scope) -> QuerySet[Source]:
    """Passages of vaults and folders that are closed to `scope`: where the note was when it
    was cited, or where it is now."""
    readable = Q(vault_id__in=scope.vault_ids)
    if scope.rules:
        is_open_now = Q(note=None) | in_open_folders(scope, path="note__path")
        readable &= in_open_folders(scope) & is_open_now
    return Source.objects.exclude(readable)


def _sessions(keys: Collection[str]) -> dict[str, dict[str, Any]]:
    """What the sessions under `keys` hold; those that ended are left out."""
    kept = Session.objects.filter(pk__in=keys, expire_date__gt=timezone.now())
    return {session.session_key: session.get_decoded() for session in kept}


def _is_session_of(user: User, session: Mapping[str, Any]) -> bool:
    return (
        session.get(SESSION_KEY) == str(user.pk)
        and session.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
        and constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
    )
