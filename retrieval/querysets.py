"""Reads of the tables of evaluation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from retrieval.models import EvalRun  # noqa: F401


class EvalRunQuerySet(models.QuerySet["EvalRun"]):
    def of_what_serves(self) -> EvalRunQuerySet:
        """Runs that asked the vault as it was, no model or sizes that were only tried."""
        return self.filter(trial_model=None, size_trial=None)
