"""Limits of people, groups and everybody: a warning, then a stop that says until when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db import OperationalError, connection
from django.utils import timezone

from providers.core.errors import LimitReached
from providers.limits import allowances, limit_notices, refuse_over_limit
from providers.models import UsageLimit
from tests.cast import Cast
from tests.providers.rows import make_chat_model, make_provider
from tests.providers.usage_rows import make_record

pytestmark = pytest.mark.django_db
# Days end at different moments, and each has a name that people are told.
ZONES = {"UTC": "UTC", "Pacific/Kiritimati": "+14", "Pacific/Honolulu": "HST"}


def limit(**fields: Any) -> UsageLimit:
    row = UsageLimit(**{"period": "day", "most_tokens": 1_000, **fields})
    row.full_clean()
    row.save()
    return row


def use(user: User | None, tokens: int, **fields: Any) -> None:
    make_record(user, input_tokens=tokens, output_tokens=0, **fields)


def is_refused(user: User | None) -> bool:
    try:
        refuse_over_limit(user.pk if user else None)
    except LimitReached:
        return True
    return False


def test_without_limits_nobody_is_refused(cast: Cast) -> None:
    use(cast.owner, 10**9)
    assert not is_refused(cast.owner)
    assert allowances(cast.owner.pk) == []


@pytest.mark.parametrize(("zone", "said"), ZONES.items())
def test_a_persons_limit_stops_that_person_and_says_when_it_ends(
    cast: Cast, zone: str, said: str
) -> None:
    limit(user=cast.owner)
    use(cast.owner, 1_200)
    with timezone.override(zone), pytest.raises(LimitReached) as refused:
        refuse_over_limit(cast.owner.pk)
    tomorrow = datetime.now(ZoneInfo(zone)).date() + timedelta(days=1)
    assert str(refused.value) == (
        "The limit of owner@example.com is used up: 1,200 of 1,000 tokens. "
        f"It begins anew on {tomorrow.day} {tomorrow:%B %Y}, 00:00 ({said})."
    )
    assert 0 < (refused.value.retry_after or 0) <= 24 * 3600
    assert not is_refused(cast.mate)


def test_cost_is_limited_as_well_and_said_in_money(cast: Cast) -> None:
    limit(user=cast.owner, most_tokens=None, most_cost=Decimal(2))
    use(cast.owner, 5, cost=Decimal("2.5"))
    with pytest.raises(LimitReached, match=r"\$2\.50 of \$2\.00"):
        refuse_over_limit(cast.owner.pk)


@pytest.mark.parametrize("zone", ZONES)
def test_yesterday_and_last_month_do_not_count(cast: Cast, zone: str) -> None:
    moment = partial(datetime, 2026, tzinfo=ZoneInfo(zone))
    limit(user=cast.owner)
    limit(user=cast.owner, period="month", most_tokens=5_000)
    use(cast.owner, 700, created=moment(2, 28, 23, 59))
    use(cast.owner, 600, created=moment(3, 14, 23, 59))
    use(cast.owner, 500, created=moment(3, 15, 0, 0))
    with timezone.override(zone):
        day, month = allowances(cast.owner.pk, now=moment(3, 15, 12).astimezone(UTC))
    assert (day.used_tokens, day.resets) == (500, moment(3, 16))
    assert (month.used_tokens, month.resets) == (1_100, moment(4, 1))


def test_a_groups_limit_is_shared_by_its_members(cast: Cast) -> None:
    group = Group.objects.create(name="Birds")
    group.user_set.add(cast.owner, cast.mate)
    limit(group=group)
    use(cast.owner, 600)
    use(cast.outsider, 900)
    assert not is_refused(cast.mate)
    use(cast.mate, 500)
    assert is_refused(cast.owner)
    assert is_refused(cast.mate)
    assert not is_refused(cast.outsider)


def test_a_limit_per_person_counts_each_one_alone(cast: Cast) -> None:
    group = Group.objects.create(name="Birds")
    group.user_set.add(cast.owner, cast.mate)
    limit(group=group, per_person=True)
    use(cast.owner, 1_000)
    assert is_refused(cast.owner)
    assert not is_refused(cast.mate)


def test_everybodys_limit_holds_for_background_work_too(cast: Cast) -> None:
    limit()
    use(None, 600)
    use(cast.owner, 500)
    assert is_refused(cast.mate)
    assert is_refused(None)


def test_background_work_has_no_limit_per_person() -> None:
    limit(per_person=True)
    use(None, 5_000)
    assert not is_refused(None)


def test_a_limit_of_ones_own_takes_the_place_of_one_per_person(cast: Cast) -> None:
    limit(per_person=True, most_tokens=100)
    limit(user=cast.owner, most_tokens=10_000)
    for person in (cast.owner, cast.mate):
        use(person, 500)
    assert not is_refused(cast.owner)
    assert is_refused(cast.mate)


def test_what_runs_here_for_free_does_not_count(cast: Cast) -> None:
    make_provider("quotes", kind="extractive")
    limit()
    use(cast.owner, 5_000, provider="quotes")
    assert not is_refused(cast.owner)


def test_a_limit_that_is_switched_off_holds_for_nobody(cast: Cast) -> None:
    limit(user=cast.owner, most_tokens=0, enabled=False)
    assert not is_refused(cast.owner)


def test_a_warning_comes_from_four_fifths_and_before_the_stop(cast: Cast) -> None:
    model = make_chat_model(make_provider())
    limit(user=cast.owner)
    use(cast.owner, 799)
    assert limit_notices(cast.owner.pk, model) == ()
    use(cast.owner, 51)
    (notice,) = limit_notices(cast.owner.pk, model)
    assert notice.startswith(
        "85 % of the limit of owner@example.com is used: 850 of 1,000 tokens. It begins anew on"
    )
    use(cast.owner, 150)
    assert limit_notices(cast.owner.pk, model) == ()
    assert is_refused(cast.owner)


def test_quotes_without_a_model_need_no_warning(cast: Cast) -> None:
    limit(user=cast.owner)
    use(cast.owner, 900)
    quotes = make_chat_model(make_provider("quotes", kind="extractive"))
    assert limit_notices(cast.owner.pk, quotes) == ()


def test_a_database_that_is_away_stops_nobody(cast: Cast) -> None:
    limit(user=cast.owner, most_tokens=0)

    def away(execute: object, *args: object) -> None:
        raise OperationalError("away")

    with connection.execute_wrapper(away):
        refuse_over_limit(cast.owner.pk)
    assert is_refused(cast.owner)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"most_tokens": None}, "Enter the most tokens, the most cost, or both."),
        ({"most_cost": Decimal(-1)}, "The most cost cannot be negative."),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        limit(**fields)


def test_a_limit_is_of_a_user_or_of_a_group(cast: Cast) -> None:
    with pytest.raises(ValidationError, match="a user or a group, not both"):
        limit(user=cast.owner, group=Group.objects.create(name="Birds"))


def test_a_limit_says_whom_it_limits(cast: Cast) -> None:
    group = Group.objects.create(name="Birds")
    said = [
        limit(user=cast.owner).whose,
        limit(group=group).whose,
        limit(group=group, per_person=True).whose,
        limit().whose,
        str(limit(per_person=True, period="month")),
    ]
    assert said == [
        "owner@example.com",
        "Birds together",
        "each of Birds",
        "everybody together",
        "each person (month)",
    ]
