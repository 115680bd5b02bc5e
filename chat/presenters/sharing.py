"""Shared links as their owner sees them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.core.titles import title_from_question
from chat.models import ShareLink
from chat.sharing import token_of


@dataclass(frozen=True, slots=True)
class LinkRow:
    """`address` is "" when the link cannot be shown again; `state` says why it opens nothing."""

    id: UUID
    title: str
    what: str
    audience: str
    address: str
    path: str
    created: datetime
    expires: datetime
    state: str

    @property
    def is_open(self) -> bool:
        return not self.state


def link_rows(links: Iterable[ShareLink], request: HttpRequest) -> list[LinkRow]:
    """One row a link, with the address to be copied."""
    return [_row(link, request) for link in links]


def _row(link: ShareLink, request: HttpRequest) -> LinkRow:
    token = token_of(link)
    path = reverse("shared", args=[token]) if token else ""
    asked = link.message.parent.text if link.message.parent else ""
    is_part = link.only_answer
    return LinkRow(
        id=link.pk,
        title=title_from_question(asked) if is_part and asked else str(link.conversation),
        what=_("one answer") if is_part else _("the conversation up to an answer"),
        audience=_audience(link),
        address=request.build_absolute_uri(path) if path else "",
        path=path,
        created=link.created,
        expires=link.expires,
        state=_state(link),
    )


def _audience(link: ShareLink) -> str:
    if link.audience != ShareLink.Audience.NAMED:
        return str(link.get_audience_display())
    people = [user.email or user.get_username() for user in link.users.all()]
    return ", ".join([*people, *(group.name for group in link.groups.all())])


def _state(link: ShareLink) -> str:
    if link.revoked:
        return _("taken back")
    return _("expired") if link.expires <= timezone.now() else ""
