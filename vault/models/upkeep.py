"""How an index is looked after: one row."""

from __future__ import annotations

from datetime import UTC, datetime

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

SUNDAY_AT_THREE = "0 3 * * 0"


def validate_schedule(text: str) -> None:
    """Refuse what is no cron expression of five fields, or names a day that never comes."""
    from croniter import croniter

    if len(text.split()) != 5 or not croniter.is_valid(text):
        raise ValidationError(
            _("“%(text)s” is no schedule: write five fields, as in “0 3 * * 0” (Sunday, 3:00)."),
            params={"text": text},
        )
    if next_time(text, datetime.now(UTC)) is None:
        raise ValidationError(
            _("“%(text)s” never comes: no month has such a day."), params={"text": text}
        )


def next_time(schedule: str, after: datetime) -> datetime | None:
    """When a cron expression is next due after a moment, by that moment's clock; None: never."""
    from croniter import CroniterError, croniter

    try:
        found: datetime = croniter(schedule, after).get_next(datetime)
    except CroniterError:
        return None
    return found


class Upkeep(models.Model):
    """When every vault is checked, and how long the vectors of a replaced model are kept."""

    check_schedule = models.CharField(
        max_length=100,
        default=SUNDAY_AT_THREE,
        validators=[validate_schedule],
        help_text=_(
            "Minute, hour, day, month, weekday, in the time zone of this site. Every vault is "
            "also checked when the worker starts."
        ),
    )
    keep_vectors_days = models.PositiveSmallIntegerField(
        _("keep replaced vectors"),
        default=7,
        validators=[MaxValueValidator(3650)],
        help_text=_("Days during which a vault can go back to the embedding model it had before."),
    )
    checked = models.DateTimeField(
        null=True, blank=True, editable=False, help_text=_("When the last check was begun.")
    )

    class Meta:
        verbose_name = verbose_name_plural = _("upkeep of the index")

    def __str__(self) -> str:
        return str(_("Upkeep of the index"))

    @classmethod
    def chosen(cls) -> Upkeep:
        """What the admin chose; the defaults where nobody chose."""
        return cls.objects.filter(pk=1).first() or cls(pk=1)
