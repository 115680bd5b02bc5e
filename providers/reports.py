"""What was used in a range of days: by day, model, purpose, person and kind of failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from providers.models import UsageRecord

NOBODY = "none"
"""The `user` of a question about work that no person asked for, such as embedding notes."""


@dataclass(frozen=True, slots=True)
class UsageQuestion:
    """Days (both included, in the site's time zone) and what to leave out.

    `user`: a user's id, NOBODY, or "" for everybody. `model` is "provider/model".
    """

    first: date
    last: date
    user: str = ""
    model: str = ""
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over calls. `cost` is in USD."""

    calls: int = 0
    failures: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Line:
    """A day, model, purpose, person or error code, with what belongs to it."""

    name: Any
    totals: Totals


@dataclass(frozen=True, slots=True)
class UsageReport:
    """`days` has a line for every day of the range; the others hold the largest first."""

    total: Totals
    days: tuple[Line, ...]
    models: tuple[Line, ...]
    purposes: tuple[Line, ...]
    people: tuple[Line, ...]
    failures: tuple[Line, ...]


def usage_report(question: UsageQuestion) -> UsageReport:
    """Everything the page of usage shows."""
    rows = _asked_for(question)
    by_model = _lines(rows, "provider", "model")
    return UsageReport(
        total=_sum(line.totals for line in by_model),
        days=_every_day(question, _lines(rows.annotate(day=TruncDate("created")), "day")),
        models=by_model,
        purposes=_lines(rows, "purpose"),
        people=_lines(rows, "user__email"),
        failures=_lines(rows.exclude(failed_with=""), "failed_with"),
    )


def recorded_models(user_id: int | None = None) -> list[str]:
    """Every "provider/model" that has a record (of this user), in order."""
    rows = UsageRecord.objects.order_by("provider", "model")
    if user_id is not None:
        rows = rows.filter(user_id=user_id)
    pairs = rows.values_list("provider", "model").distinct()
    return [f"{provider}/{model}" for provider, model in pairs]


def _asked_for(question: UsageQuestion) -> QuerySet[UsageRecord]:
    rows = UsageRecord.objects.filter(
        created__gte=_midnight(question.first),
        created__lt=_midnight(question.last + timedelta(days=1)),
    )
    if question.user == NOBODY:
        rows = rows.filter(user=None)
    elif question.user:
        rows = rows.filter(user_id=question.user)
    if question.model:
        provider, _, model = question.model.partition("/")
        rows = rows.filter(provider=provider, model=model)
    return rows.filter(purpose=question.purpose) if question.purpose else rows


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _lines(rows: QuerySet[Any], *keys: str) -> tuple[Line, ...]:
    # Without an order of its own, an inherited one would split the groups.
    grouped = (
        rows.order_by()
        .values(*keys)
        .annotate(
            calls=Count("pk"),
            failures=Count("pk", filter=~Q(failed_with="")),
            tokens_in=Sum("input_tokens"),
            tokens_out=Sum("output_tokens"),
            spent=Sum("cost"),
        )
    )
    lines = [
        Line(
            "/".join(row[key] for key in keys) if len(keys) > 1 else row[keys[0]],
            Totals(
                row["calls"], row["failures"], row["tokens_in"], row["tokens_out"], row["spent"]
            ),
        )
        for row in grouped
    ]
    return tuple(sorted(lines, key=_largest_first))


def _largest_first(line: Line) -> tuple[Decimal, int, int, str]:
    totals = line.totals
    return -totals.cost, -totals.tokens, -totals.calls, str(line.name)


def _every_day(question: UsageQuestion, lines: Sequence[Line]) -> tuple[Line, ...]:
    known = {line.name: line.totals for line in lines}
    count = (question.last - question.first).days + 1
    days = (question.first + timedelta(days=number) for number in range(count))
    return tuple(Line(day, known.get(day, Totals())) for day in days)


def _sum(parts: Any) -> Totals:
    total = Totals()
    for part in parts:
        total = Totals(
            total.calls + part.calls,
            total.failures + part.failures,
            total.input_tokens + part.input_tokens,
            total.output_tokens + part.output_tokens,
            total.cost + part.cost,
        )
    return total
