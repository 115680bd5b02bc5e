"""The list of conversations, by when they were last used."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from chat.models import Conversation, Folder
from chat.presenters.conversations import PAGE, Place, conversation_list, heading_for, place_of
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
    groups = conversation_list(cast.owner).groups
    assert [[c.title for c in found] for _heading, found in groups] == [
        ["newer", "new"],
        ["week"],
        ["old"],
    ]
    assert [heading for heading, _found in groups][:2] == ["Today", "Last 7 days"]


def titles(user: User, **where: Any) -> list[str]:
    groups = conversation_list(user, **where).groups
    return [str(c) for _heading, found in groups for c in found]


def test_each_place_lists_its_own(cast: Cast) -> None:
    folder = Folder.objects.create(owner=cast.owner, name="Pumps")
    kinds: dict[str, dict[str, Any]] = {
        "plain": {},
        "pinned": {"pinned": True},
        "filed": {"folder": folder},
        "filed and pinned": {"folder": folder, "pinned": True},
        "archived": {"archived": True, "folder": folder},
        "temporary": {"temporary": True},
        "deleted": {"deleted": timezone.now()},
    }
    for title, fields in kinds.items():
        Conversation.objects.create(owner=cast.owner, title=title, **fields)
    main = conversation_list(cast.owner)
    assert titles(cast.owner) == ["plain"]
    assert {str(c) for c in main.pinned} == {"pinned", "filed and pinned"}
    assert [(f.name, f.count) for f in main.folders] == [("Pumps", 2)]  # type: ignore[attr-defined]
    assert main.archived == 1
    assert set(titles(cast.owner, place=Place(folder=folder))) == {"filed", "filed and pinned"}
    assert titles(cast.owner, place=Place(is_archive=True)) == ["archived"]
    archived = Conversation.objects.get(title="archived")
    assert place_of(archived) == Place(is_archive=True)
    assert place_of(Conversation.objects.get(title="filed")) == Place(folder=folder)
    assert conversation_list(cast.mate).is_empty


def test_a_long_list_goes_on_where_the_page_before_ended(cast: Cast) -> None:
    count = PAGE + 5
    made = [Conversation(owner=cast.owner, title=str(n)) for n in range(count)]
    Conversation.objects.bulk_create(made)
    for age, each in enumerate(made):
        then = timezone.now() - timedelta(days=500, seconds=age)
        Conversation.objects.filter(pk=each.pk).update(updated=then)
    first = conversation_list(cast.owner)
    shown = titles(cast.owner)
    assert len(shown) == PAGE
    before = dict(parse_qsl(first.older))["before"]
    rest = conversation_list(cast.owner, before=before)
    assert shown + titles(cast.owner, before=before) == [str(n) for n in range(count)]
    assert [heading for heading, _ in rest.groups] == [""], "the heading is not said again"
    assert rest.older == ""
    assert not rest.folders
    assert titles(cast.owner, before="nonsense") == shown


def test_a_suspended_user_has_no_list(cast: Cast) -> None:
    make_conversation(cast.owner)
    cast.owner.is_active = False
    assert conversation_list(cast.owner).is_empty
