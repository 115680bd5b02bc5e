"""Whether somebody may still do what they began: asked again at every step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from importlib import import_module
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.utils.crypto import constant_time_compare

from chat.core.asking import Refused
from chat.models import Message, Source
from vault.access import scope_for
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
    user = get_user_model().objects.filter(pk=caller.user_id, is_active=True).first()
    if user is None:
        return None
    if caller.token_id is not None:
        valid = ApiToken.objects.filter(pk=caller.token_id, user=user).exists()
    else:
        valid = _session_is_valid(caller.session_key or "", user)
    return user if valid else None


def has_lost_sources(user: User, message_id: UUID) -> bool:
    """Whether the answer rests on a vault that `user` may not read any more.

    It does when it was written from one, or when the model was told an answer that was.
    """
    told = Message.objects.filter(pk=message_id).values_list("told", flat=True).first() or []
    return _unreadable(user).filter(message_id__in=[message_id, *told]).exists()


def lost_answers(user: User) -> set[UUID]:
    """The answers of `user` that has_lost_sources is true of."""
    owned = Message.objects.filter(conversation__owner_id=user.pk)
    sources = _unreadable(user).filter(message__in=owned)
    lost = set(sources.values_list("message_id", flat=True))
    if lost:
        after = owned.filter(told__has_any_keys=[str(pk) for pk in lost])
        lost.update(after.values_list("pk", flat=True))
    return lost


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
    user = current_user(caller)
    if user is None:
        return Permission(is_signed_in=False)
    lost = frozenset(pk for pk in message_ids if has_lost_sources(user, pk))
    return Permission(is_signed_in=True, lost=lost)


def is_open(source: Source, scope: Scope) -> bool:
    """As _unreadable, of one passage: whether `scope` opens the place where its note was
    when it was cited, and the place where it is now."""
    if source.vault_id is None or not scope.opens(source.vault_id, source.path):
        return False
    if not scope.rules or source.note is None:
        return True
    return scope.opens(source.vault_id, source.note.path)


def _unreadable(user: User) -> QuerySet[Source]:
    """Passages of vaults and folders that are closed to `user`: where the note was when it
    was cited, or where it is now."""
    scope = scope_for(user)
    readable = Q(vault_id__in=scope.vault_ids)
    if scope.rules:
        is_open_now = Q(note=None) | in_open_folders(scope, path="note__path")
        readable &= in_open_folders(scope) & is_open_now
    return Source.objects.exclude(readable)


def _session_is_valid(key: str, user: User) -> bool:
    store = import_module(settings.SESSION_ENGINE).SessionStore(session_key=key)
    session = store.load() if key else {}
    return (
        session.get(SESSION_KEY) == str(user.pk)
        and session.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
        and constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
    )
