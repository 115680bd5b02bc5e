"""The list of conversations: found by title or text, grouped by when they were last used."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import groupby

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from chat.models import Conversation, Message
from chat.rights import lost_answers

# Older ones are reached by the filter, which searches all of them.
MOST_LISTED = 200

Group = tuple[str, list[Conversation]]


def conversation_groups(user: User, *, contains: str = "") -> list[Group]:
    """The user's conversations, newest first, under Today, Yesterday, Last 7 days, …

    `contains` keeps those that have it in their title or in a message.
    """
    found = Conversation.objects.owned_by(user)
    wanted = contains.replace("\x00", "").strip()
    if wanted:
        said = Message.objects.filter(conversation=OuterRef("pk"), text__icontains=wanted)
        # What may not be read any more must not be guessed letter by letter either.
        said = said.exclude(pk__in=lost_answers(user))
        found = found.filter(Q(title__icontains=wanted) | Exists(said))
    today = timezone.localdate()
    listed = found.order_by("-updated")[:MOST_LISTED]
    return [
        (heading, list(group))
        for heading, group in groupby(
            listed, key=lambda c: heading_for(timezone.localdate(c.updated), today=today)
        )
    ]


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
