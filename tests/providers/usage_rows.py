"""Records of usage on chosen days."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from providers.models import UsageRecord


def make_record(user: User | None = None, *, days_ago: int = 0, **fields: Any) -> UsageRecord:
    """An answer of acme/big with 100 tokens in, 20 out, for half a cent."""
    defaults = {
        "purpose": "answer",
        "provider": "acme",
        "model": "big",
        "input_tokens": 100,
        "output_tokens": 20,
        "cost": Decimal("0.005"),
        "milliseconds": 800,
    }
    record = UsageRecord.objects.create(user=user, **{**defaults, **fields})
    created = fields.get("created", timezone.now() - timedelta(days=days_ago))
    UsageRecord.objects.filter(pk=record.pk).update(created=created)
    return record
