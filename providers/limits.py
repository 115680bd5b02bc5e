"""Limits on what people use: how they stand, the warning before, the stop at the end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

import structlog
from django.contrib.auth import get_user_model
from django.db import InterfaceError, OperationalError
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from providers.core.allowances import Allowance, Period, period_around
from providers.core.errors import LimitReached
from providers.models import ChatModel, Provider, UsageLimit, UsageRecord

FREE_KINDS = frozenset({"extractive", "local_e5"})
"""Kinds of provider that run in this process: nobody pays for them and they cannot be down."""
log = structlog.get_logger("providers.limits")


def allowances(user_id: int | None, *, now: datetime | None = None) -> list[Allowance]:
    """Every limit that holds for the user, with what is used of it; the fullest first.

    None is work that no person asked for: only what everybody has together holds for it.
    """
    moment = timezone.localtime(now)
    found = [_allowance(limit, user_id, moment) for limit in _limits_of(user_id)]
    return sorted(found, key=lambda allowance: -allowance.share)


def refuse_over_limit(user_id: int | None) -> None:
    """Raise LimitReached when a limit of the user is used up.

    A database that is away for a moment stops nobody: an answer is worth more than a check.
    """
    try:
        found = allowances(user_id)
    except (OperationalError, InterfaceError) as error:
        log.warning("limits_not_read", error=type(error).__name__)
        return
    for allowance in found:
        if allowance.is_spent:
            left = (allowance.resets - timezone.now()).total_seconds()
            raise LimitReached(_spent(allowance), retry_after=max(left, 0.0))


def limit_notices(user_id: int | None, model: ChatModel) -> tuple[str, ...]:
    """Warnings about limits that are nearly used up; none for a model that is not limited."""
    if model.provider.kind in FREE_KINDS:
        return ()
    return tuple(_nearly(it) for it in allowances(user_id) if it.is_nearly_spent)


@dataclass(frozen=True, slots=True)
class LimitAhead:
    """The limit that is nearest for a person, in a sentence; `is_spent`: nothing is left."""

    text: str
    is_spent: bool


def limit_ahead(user_id: int) -> LimitAhead | None:
    """What somebody should know before they ask; None while less than four fifths are used."""
    fullest = next(iter(allowances(user_id)), None)
    if fullest is None or not (fullest.is_spent or fullest.is_nearly_spent):
        return None
    text = _spent(fullest) if fullest.is_spent else _nearly(fullest)
    return LimitAhead(text, fullest.is_spent)


def allowance_of(limit: UsageLimit) -> Allowance | None:
    """How a limit stands now; None for one that is counted for each person."""
    if limit.per_person and limit.user_id is None:
        return None
    return _allowance(limit, limit.user_id, timezone.localtime())


def _limits_of(user_id: int | None) -> list[UsageLimit]:
    everybody = Q(user=None, group=None)
    if user_id is None:
        return list(UsageLimit.objects.filter(everybody, enabled=True, per_person=False))
    groups = Q(group__in=get_user_model().objects.filter(pk=user_id).values("groups"))
    rows = UsageLimit.objects.filter(everybody | groups | Q(user_id=user_id), enabled=True)
    limits = list(rows.select_related("user", "group").order_by("pk"))
    own_periods = {limit.period for limit in limits if limit.user_id == user_id}
    return [
        limit
        for limit in limits
        if limit.user_id == user_id or not limit.per_person or limit.period not in own_periods
    ]


def _allowance(limit: UsageLimit, user_id: int | None, now: datetime) -> Allowance:
    begin, end = period_around(now, cast("Period", limit.period))
    records = _records_of(limit, user_id).filter(created__gte=begin, created__lt=end)
    used: dict[str, Any] = records.aggregate(
        tokens_in=Sum("input_tokens", default=0),
        tokens_out=Sum("output_tokens", default=0),
        cost=Sum("cost", default=0),
    )
    return Allowance(
        name=limit.whose,
        used_tokens=used["tokens_in"] + used["tokens_out"],
        used_cost=used["cost"],
        most_tokens=limit.most_tokens,
        most_cost=limit.most_cost,
        resets=end,
    )


def _records_of(limit: UsageLimit, user_id: int | None) -> QuerySet[UsageRecord]:
    free = Provider.objects.filter(kind__in=FREE_KINDS)
    records = UsageRecord.objects.exclude(provider__in=free.values("slug"))
    if user_id is not None and (limit.user_id is not None or limit.per_person):
        return records.filter(user_id=user_id)
    if limit.group_id is not None:
        return records.filter(user__groups=limit.group_id)
    return records


def used_of(allowance: Allowance) -> str:
    """“4,100 of 5,000 tokens”, or the same in money where that is nearer to its limit."""
    if allowance.is_about_cost or allowance.most_tokens is None:
        most = allowance.most_cost or 0
        return _("$%(used).2f of $%(most).2f") % {"used": allowance.used_cost, "most": most}
    return _("%(used)s of %(most)s tokens") % {
        "used": f"{allowance.used_tokens:,}",
        "most": f"{allowance.most_tokens:,}",
    }


def reset_time(moment: datetime) -> str:
    """When, as people say it: with the day, and the zone of the clock."""
    return date_format(timezone.localtime(moment), "j F Y, H:i (T)")


def _spent(allowance: Allowance) -> str:
    return _("The limit of %(name)s is used up: %(used)s. It begins anew on %(when)s.") % {
        "name": allowance.name,
        "used": used_of(allowance),
        "when": reset_time(allowance.resets),
    }


def _nearly(allowance: Allowance) -> str:
    return _(
        "%(share)d %% of the limit of %(name)s is used: %(used)s. It begins anew on %(when)s."
    ) % {
        "share": int(allowance.share * 100),
        "name": allowance.name,
        "used": used_of(allowance),
        "when": reset_time(allowance.resets),
    }
