"""The filters of the page of usage: all in the address, so that a view can be shared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from providers.models import UsageRecord
from providers.reports import NOBODY, UsageQuestion, recorded_models

DEFAULT_DAYS = 30
MOST_DAYS = 366
# No record is older than the product; far dates overflow calendars.
EARLIEST = date(2020, 1, 1)
RANGES = (7, 30, 90)
_DATE = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})


class UsageForm(forms.Form):
    """Days, model and purpose; for staff also the person. Everybody else sees their own."""

    first = forms.DateField(label=gettext_lazy("From"), required=False, widget=_DATE)
    last = forms.DateField(label=gettext_lazy("To"), required=False, widget=_DATE)
    user = forms.ChoiceField(label=gettext_lazy("Person"), required=False)
    model = forms.ChoiceField(label=gettext_lazy("Model"), required=False)
    purpose = forms.ChoiceField(label=gettext_lazy("Purpose"), required=False)

    def __init__(self, data: QueryDict, *, user: Any) -> None:
        today = timezone.localdate()
        filled = data.copy()
        filled.setdefault("last", today.isoformat())
        filled.setdefault("first", (today - timedelta(days=DEFAULT_DAYS - 1)).isoformat())
        super().__init__(filled)
        self._filled = filled
        self._user = user
        self._today = today
        own = None if user.is_staff else user.pk
        self._choose("model", ((name, name) for name in recorded_models(own)))
        self._choose("purpose", UsageRecord.Purpose.choices)
        if user.is_staff:
            self._choose("user", [*_people(), (NOBODY, _("Background work"))])
        else:
            del self.fields["user"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        first, last = cleaned.get("first"), cleaned.get("last")
        for day in filter(None, (first, last)):
            if not EARLIEST <= day <= self._today + timedelta(days=MOST_DAYS):
                raise ValidationError(
                    _("Choose days between %(first)s and a year from now.") % {"first": EARLIEST}
                )
        if first and last and first > last:
            raise ValidationError(_("The first day is after the last one."))
        if first and last and (last - first).days >= MOST_DAYS:
            raise ValidationError(
                _("At most %(days)d days can be shown at once.") % {"days": MOST_DAYS}
            )
        return cleaned

    def question(self) -> UsageQuestion:
        """What to report. Of a form with errors: the last days, without filters."""
        own = "" if self._user.is_staff else str(self._user.pk)
        values = self.cleaned_data if self.is_valid() else {}
        last = values.get("last") or self._today
        return UsageQuestion(
            first=values.get("first") or last - timedelta(days=DEFAULT_DAYS - 1),
            last=last,
            user=own or values.get("user", ""),
            model=values.get("model", ""),
            purpose=values.get("purpose", ""),
        )

    def measure(self) -> str:
        """What the chart shows: one of tokens, cost, calls."""
        asked = str(self._filled.get("show", ""))
        return asked if asked in {"cost", "calls"} else "tokens"

    def ranges(self) -> list[tuple[str, str, bool]]:
        """Links to usual ranges: query, label, whether it is the one that is shown."""
        links = []
        asked = self.question()
        for days in RANGES:
            first = self._today - timedelta(days=days - 1)
            label = ngettext("%d day", "%d days", days) % days
            shown = (asked.first, asked.last) == (first, self._today)
            links.append((self._query(first=first, last=self._today), label, shown))
        return links

    def measures(self, labels: Mapping[str, Any]) -> list[tuple[str, Any, bool]]:
        """Links to the measures of the chart, in the same form as `ranges`."""
        return [
            (self._query(show=name), label, name == self.measure())
            for name, label in labels.items()
        ]

    def _query(self, **changes: date | str) -> str:
        query = self._filled.copy()
        for name, value in changes.items():
            query[name] = value.isoformat() if isinstance(value, date) else value
        return f"?{query.urlencode()}"

    def _choose(self, name: str, choices: Iterable[tuple[Any, Any]]) -> None:
        field: Any = self.fields[name]
        field.choices = [("", _("All")), *choices]


def _people() -> list[tuple[str, str]]:
    people = get_user_model().objects.filter(usagerecord__isnull=False).distinct()
    return [(str(user.pk), user.email or user.get_username()) for user in people.order_by("email")]
