"""What was used is summed by day, model, purpose, person and failure."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from providers.reports import (
    NOBODY,
    Totals,
    UsageQuestion,
    UsageReport,
    recorded_models,
    usage_report,
)
from tests.cast import Cast
from tests.providers.usage_rows import make_record

pytestmark = pytest.mark.django_db


def last_days(count: int = 3, **filters: str) -> UsageReport:
    today = timezone.localdate()
    return usage_report(UsageQuestion(today - timedelta(days=count - 1), today, **filters))


def test_every_day_has_a_line_and_records_outside_are_left_out(cast: Cast) -> None:
    for days_ago in (0, 0, 2, 3, 40):
        make_record(cast.owner, days_ago=days_ago)
    report = last_days(3)
    assert [line.totals.calls for line in report.days] == [1, 0, 2]
    assert report.days[-1].name == timezone.localdate()
    assert report.total == Totals(3, 0, 300, 60, Decimal("0.015"))
    assert report.total.tokens == 360


def test_a_day_begins_at_midnight_of_the_sites_time_zone(settings: object) -> None:
    settings.TIME_ZONE = "Asia/Tokyo"  # type: ignore[attr-defined]
    with timezone.override("Asia/Tokyo"):
        make_record(created=datetime(2026, 3, 1, 14, 59, tzinfo=UTC))
        make_record(created=datetime(2026, 3, 1, 15, 1, tzinfo=UTC))
        report = usage_report(UsageQuestion(date(2026, 3, 1), date(2026, 3, 2)))
    assert [line.totals.calls for line in report.days] == [1, 1]


def test_models_purposes_and_people_come_with_the_dearest_first(cast: Cast) -> None:
    make_record(cast.mate, model="small", cost=Decimal("0.001"))
    make_record(cast.owner, cost=Decimal("0.3"), purpose="condense")
    make_record(None, provider="voyage", model="vec", purpose="embed_passages", cost=Decimal(0))
    report = last_days()
    assert [line.name for line in report.models] == ["acme/big", "acme/small", "voyage/vec"]
    assert [line.name for line in report.purposes] == ["condense", "answer", "embed_passages"]
    assert [line.name for line in report.people] == ["owner@example.com", "mate@example.com", None]


def test_failures_are_counted_and_named(cast: Cast) -> None:
    make_record(cast.owner, failed_with="silent")
    make_record(cast.owner, failed_with="silent")
    make_record(cast.owner, failed_with="rate_limited", cost=Decimal(0))
    make_record(cast.owner)
    report = last_days()
    assert (report.total.calls, report.total.failures) == (4, 3)
    assert [(line.name, line.totals.calls) for line in report.failures] == [
        ("silent", 2),
        ("rate_limited", 1),
    ]


def test_filters_narrow_everything(cast: Cast) -> None:
    make_record(cast.owner)
    make_record(cast.mate, purpose="title")
    make_record(None, model="org/vec:free", purpose="embed_passages")
    assert last_days(user=str(cast.mate.pk)).total.calls == 1
    assert last_days(user=NOBODY).models[0].name == "acme/org/vec:free"
    assert last_days(model="acme/org/vec:free").purposes[0].name == "embed_passages"
    assert last_days(purpose="title").people[0].name == "mate@example.com"
    assert last_days(model="acme/none").total == Totals()


def test_the_models_to_choose_from_are_those_with_records() -> None:
    make_record()
    make_record(model="small")
    make_record(model="small")
    assert recorded_models() == ["acme/big", "acme/small"]
