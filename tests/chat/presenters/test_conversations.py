"""The list of conversations, by when they were last used."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.utils import timezone

from chat.models import Conversation
from chat.presenters.conversations import conversation_groups, heading_for
from tests.cast import Cast
from tests.chat.pages import make_conversation

TODAY = date(2026, 3, 15)


@pytest.mark.parametrize(
    ("age", "heading"),
    [
        (-1, "Today"),
        (0, "Today"),
        (1, "Yesterday"),
        (2, "Last 7 days"),
        (7, "Last 7 days"),
        (8, "Last 30 days"),
        (30, "Last 30 days"),
        (31, "February 2026"),
        (400, "February 2025"),
    ],
)
def test_a_day_has_its_heading(age: int, heading: str) -> None:
    assert heading_for(TODAY - timedelta(days=age), today=TODAY) == heading


def test_groups_are_in_order_and_whole(cast: Cast) -> None:
    for title, days in [("old", 90), ("new", 0), ("newer", 0), ("week", 3)]:
        made = make_conversation(cast.owner, title=title)
        when = timezone.now() - timedelta(days=days, seconds=0 if title == "newer" else 1)
        Conversation.objects.filter(pk=made.pk).update(updated=when)
    groups = conversation_groups(cast.owner)
    assert [[c.title for c in found] for _heading, found in groups] == [
        ["newer", "new"],
        ["week"],
        ["old"],
    ]
    assert [heading for heading, _found in groups][:2] == ["Today", "Last 7 days"]


def test_wildcards_and_nul_in_the_filter_are_plain_characters(cast: Cast) -> None:
    make_conversation(cast.owner, title="100% sure")
    make_conversation(cast.owner, title="1000 pumps")
    found = conversation_groups(cast.owner, contains="100%\x00")
    assert [c.title for _h, group in found for c in group] == ["100% sure"]


def test_a_suspended_user_has_no_list(cast: Cast) -> None:
    make_conversation(cast.owner)
    cast.owner.is_active = False
    assert conversation_groups(cast.owner) == []
