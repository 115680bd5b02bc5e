"""What was done and what is to be done."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from vault.models.vaults import Vault
from vault.querysets import JobQuerySet


class SyncRun(models.Model):
    """One reading of a vault's source: what changed, and what was wrong with which file; or
    one check of all that was made from it (vault/checking.py)."""

    class Kind(models.TextChoices):
        SYNC = "sync", _("sync")
        CHECK = "check", _("check")

    class State(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        WARNINGS = "warnings", _("done with warnings")
        PAUSED = "paused", _("paused with a question")
        FAILED = "failed", _("failed")

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE, related_name="sync_runs")
    kind = models.CharField(max_length=5, choices=Kind, default=Kind.SYNC)
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    counts = models.JSONField(default=dict)
    warnings = models.JSONField(default=list)
    error = models.TextField(blank=True)
    started = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-started"]
        indexes = [models.Index(fields=["vault", "-started"], name="syncrun_newest")]

    def __str__(self) -> str:
        return f"{self.vault} {self.started:%Y-%m-%d %H:%M}"


class Job(models.Model):
    """Work to be done. This row is the truth; the queue only rings the bell."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    OPEN = (State.QUEUED, State.RUNNING)

    key = models.CharField(
        max_length=200, help_text=_("Names the work; only one open job may have it.")
    )
    kind = models.CharField(max_length=40)
    vault = models.ForeignKey(Vault, null=True, blank=True, on_delete=models.CASCADE)
    payload = models.JSONField(default=dict, help_text=_("ids only"))
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    most_attempts = models.PositiveSmallIntegerField(default=5)
    run_after = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    wanted_again = models.BooleanField(
        default=False, help_text=_("Asked for while it ran: run once more.")
    )
    rung = models.DateTimeField(
        null=True, blank=True, help_text=_("When the queue was last told of it.")
    )
    progress = models.JSONField(default=dict)
    last_error = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-created"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=Q(state__in=["queued", "running"]),
                name="job_open_once_per_key",
            )
        ]
        indexes = [models.Index(fields=["state", "lease_until"])]

    def __str__(self) -> str:
        return self.key
