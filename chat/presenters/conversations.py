"""The list of conversations: by place, grouped by when they were last used, a page at a time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from itertools import groupby
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from chat.core.moments import moment_in
from chat.models import Conversation, Folder
from chat.querysets import ConversationQuerySet
from chat.searching import MOST_HITS, Hit, find_messages

PAGE = 60

Group = tuple[str, list[Conversation]]


@dataclass(frozen=True, slots=True)
class Place:
    """Which conversations are listed: those in no folder, of one folder, or the archive."""

    folder: Folder | None = None
    is_archive: bool = False

    @property
    def query(self) -> str:
        """As the address names it."""
        if self.is_archive:
            return "archive=1"
        return f"folder={self.folder.pk}" if self.folder else ""

    @property
    def is_main(self) -> bool:
        return not self.query


@dataclass(frozen=True)
class ConversationList:
    """What the left column shows."""

    place: Place = field(default_factory=Place)
    filter: str = ""
    hits: list[Hit] = field(default_factory=list)
    pinned: list[Conversation] = field(default_factory=list)
    folders: list[Folder] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)
    archived: int = 0
    older: str = ""
    is_continued: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.hits or self.pinned or self.groups)

    @property
    def has_all_hits(self) -> bool:
        return len(self.hits) < MOST_HITS


def conversation_list(
    user: User, *, place: Place | None = None, contains: str = "", before: str = ""
) -> ConversationList:
    """The user's conversations of `place`, or where their titles and messages have `contains`.

    `before` continues a list after that moment, as `older` of the page before has it.
    """
    wanted = contains.strip()
    if wanted:
        return ConversationList(filter=wanted, hits=find_messages(user, wanted))
    place = place or Place()
    moment = _moment(before)
    listed = Conversation.objects.owned_by(user).listed()
    shown = _in_place(listed, place)
    page = list(
        (shown.filter(updated__lt=moment) if moment else shown).order_by("-updated")[: PAGE + 1]
    )
    older = {"before": page[PAGE - 1].updated.isoformat()} if len(page) > PAGE else {}
    is_first_of_main = place.is_main and moment is None
    return ConversationList(
        place=place,
        pinned=list(listed.filter(pinned=True)) if is_first_of_main else [],
        folders=_folders(user) if is_first_of_main else [],
        groups=_by_day(page[:PAGE], after=moment),
        archived=listed.filter(archived=True).count() if is_first_of_main else 0,
        older="&".join(filter(None, [place.query, urlencode(older)])) if older else "",
        is_continued=moment is not None,
    )


def place_of(conversation: Conversation) -> Place:
    """Where a conversation is listed."""
    return Place(
        folder=None if conversation.archived else conversation.folder,
        is_archive=conversation.archived,
    )


def heading_for(day: date, *, today: date) -> str:
    """The group a day belongs to, seen from `today`."""
    age = today - day
    if age <= timedelta(0):
        return _("Today")
    if age == timedelta(days=1):
        return _("Yesterday")
    if age <= timedelta(days=7):
        return _("Last 7 days")
    if age <= timedelta(days=30):
        return _("Last 30 days")
    return date_format(day, "F Y")


def _in_place(listed: ConversationQuerySet, place: Place) -> ConversationQuerySet:
    if place.is_archive:
        return listed.filter(archived=True)
    kept = listed.filter(archived=False, folder=place.folder)
    return kept.filter(pinned=False) if place.is_main else kept


def _folders(user: User) -> list[Folder]:
    """With how many conversations each holds, as `count`."""
    held = Q(
        conversation__archived=False,
        conversation__deleted=None,
        conversation__temporary=False,
    )
    return list(Folder.objects.owned_by(user).annotate(count=Count("conversation", filter=held)))


def _by_day(page: Iterable[Conversation], *, after: datetime | None) -> list[Group]:
    """Under headings; the one that the page before ended with is not said again."""
    today = timezone.localdate()
    said = heading_for(timezone.localdate(after), today=today) if after else ""
    groups = groupby(page, key=lambda c: heading_for(timezone.localdate(c.updated), today=today))
    return [("" if heading == said else heading, list(group)) for heading, group in groups]


def _moment(text: str) -> datetime | None:
    try:
        return moment_in(text)
    except ValueError:
        return None
