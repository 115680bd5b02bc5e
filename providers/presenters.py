"""What the page of usage shows, ready to be set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from providers.core.allowances import Allowance
from providers.core.charts import Bar, bars, nice_ceiling
from providers.limits import reset_time, used_of
from providers.models import UsageRecord
from providers.reports import Line, Totals, UsageReport

MEASURES = {
    "tokens": gettext_lazy("Tokens"),
    "cost": gettext_lazy("Cost"),
    "calls": gettext_lazy("Calls"),
}
_CENT = Decimal("0.01")
_DATES_ON_AXIS = 4


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a table, as text."""

    name: str
    calls: str
    failures: str
    input_tokens: str
    output_tokens: str
    cost: str


@dataclass(frozen=True, slots=True)
class NamedBar:
    """A bar and what it stands for."""

    bar: Bar
    name: str


@dataclass(frozen=True, slots=True)
class Chart:
    """Bars with their axes. `summary` says in a sentence what is to be seen."""

    bars: tuple[NamedBar, ...]
    heights: tuple[str, ...]
    dates: tuple[str, ...]
    summary: str


@dataclass(frozen=True, slots=True)
class LimitRow:
    """A limit and how much of it is used."""

    name: str
    used: str
    percent: int
    resets: str
    is_spent: bool
    is_nearly_spent: bool


def money(amount: Decimal) -> str:
    """USD as people read it: cents, and more places for less than a cent."""
    if amount == 0:
        return "$0"
    places = 2 if abs(amount) >= _CENT else 6
    return f"${intcomma(f'{amount:.{places}f}')}"


def usage_tables(report: UsageReport) -> dict[str, list[Row]]:
    """The tables of a report, by name."""
    purposes = dict(UsageRecord.Purpose.choices)
    return {
        "days": _rows(report.days, _day),
        "models": _rows(report.models, str),
        "purposes": _rows(report.purposes, lambda name: str(purposes.get(name, name))),
        "people": _rows(report.people, lambda name: name or _("Background work")),
        "failures": _rows(report.failures, str),
    }


def total_row(totals: Totals) -> Row:
    """The sums over everything."""
    return _row("", totals)


def limit_rows(allowances: Sequence[Allowance]) -> list[LimitRow]:
    """The limits that hold for somebody, the fullest first."""
    return [
        LimitRow(
            name=allowance.name,
            used=used_of(allowance),
            percent=min(int(allowance.share * 100), 100),
            resets=reset_time(allowance.resets),
            is_spent=allowance.is_spent,
            is_nearly_spent=allowance.is_nearly_spent,
        )
        for allowance in allowances
    ]


def usage_chart(days: Sequence[Line], *, measure: str) -> Chart:
    """A bar a day. `measure` is one of MEASURES."""
    values = [float(getattr(line.totals, measure)) for line in days]
    top = nice_ceiling(max(values, default=0.0))
    if measure != "cost":
        top = max(top, 2.0)
    named = [
        NamedBar(bar, f"{_day(line.name)}: {_shown(value, measure)}")
        for bar, line, value in zip(bars(values, top=top), days, values, strict=True)
    ]
    step = max((len(days) - 1) // (_DATES_ON_AXIS - 1), 1)
    shown = [days[place] for place in sorted({*range(0, len(days), step)[:-1], len(days) - 1})]
    return Chart(
        bars=tuple(named),
        heights=tuple(_shown(share * top, measure) for share in (1, 0.5, 0)),
        dates=tuple(date_format(line.name, "j M") for line in shown),
        summary=_summary(days, values, measure),
    )


def _summary(days: Sequence[Line], values: Sequence[float], measure: str) -> str:
    if not any(values):
        return _("Nothing was used from %(first)s to %(last)s.") % {
            "first": _day(days[0].name),
            "last": _day(days[-1].name),
        }
    most = max(range(len(values)), key=values.__getitem__)
    return _("%(measure)s a day from %(first)s to %(last)s; most on %(day)s: %(value)s.") % {
        "measure": MEASURES[measure],
        "first": _day(days[0].name),
        "last": _day(days[-1].name),
        "day": _day(days[most].name),
        "value": _shown(values[most], measure),
    }


def _shown(value: float, measure: str) -> str:
    if measure == "cost":
        return money(Decimal(str(value)))
    return intcomma(round(value))


def _day(day: Any) -> str:
    return date_format(day, "j M Y")


def _rows(lines: Sequence[Line], name: Callable[[Any], str]) -> list[Row]:
    return [_row(name(line.name), line.totals) for line in lines]


def _row(name: str, totals: Totals) -> Row:
    return Row(
        name=name,
        calls=intcomma(totals.calls),
        failures=intcomma(totals.failures),
        input_tokens=intcomma(totals.input_tokens),
        output_tokens=intcomma(totals.output_tokens),
        cost=money(totals.cost),
    )
