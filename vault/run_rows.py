"""What a run of sync leaves in the table of runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from vault.core.types import FileWarning
from vault.models import SyncRun, Vault

MOST_WARNINGS = 500
KILLED = "The process was ended while it was at this. The run after it did the rest."


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended: counts of what was done, what was wrong with which file.

    `not_read` counts files of kinds that are not read by suffix; None without a scan.
    """

    state: SyncRun.State
    counts: Mapping[str, int]
    warnings: tuple[FileWarning, ...]
    error: str = ""
    not_read: Mapping[str, int] | None = None


def begin_run(vault: Vault, *, full: bool) -> SyncRun:
    """The row of a run that begins now. Call while nobody else may sync the vault: a row
    that still says it runs is of a process that was killed."""
    left = SyncRun.objects.filter(vault=vault, kind="sync", state=SyncRun.State.RUNNING)
    left.update(state=SyncRun.State.FAILED, error=KILLED, finished=timezone.now())
    return SyncRun.objects.create(vault=vault, counts={"full": full})


def last_runs(vault_ids: Collection[int], *, is_over: bool = False) -> list[SyncRun]:
    """The newest run of each of these vaults, or the newest that is over."""
    runs = SyncRun.objects.filter(vault=OuterRef("pk"), kind=SyncRun.Kind.SYNC).order_by("-started")
    if is_over:
        runs = runs.exclude(state=SyncRun.State.RUNNING)
    newest = Vault.every.filter(pk__in=vault_ids).values(run=Subquery(runs.values("pk")[:1]))
    return list(SyncRun.objects.filter(pk__in=newest))


def end_run(run: SyncRun, outcome: Outcome) -> SyncRun:
    """Write the outcome; of runs that found nothing to do only the last is kept."""
    run.state = outcome.state
    run.error = outcome.error.replace("\0", "")
    kinds = ("created", "updated", "moved", "deleted", "again")
    changes = sum(outcome.counts.get(kind, 0) for kind in kinds)
    run.counts |= {**outcome.counts, "changes": changes, "warnings": len(outcome.warnings)}
    if outcome.not_read is not None:
        # As pairs: the database orders the keys of an object as it likes.
        run.counts["not_read"] = [list(pair) for pair in outcome.not_read.items()]
    run.warnings = [_row(warning) for warning in outcome.warnings[:MOST_WARNINGS]]
    run.finished = timezone.now()
    run.save()
    if not changes:
        # It tells as much as all of its sort.
        same = SyncRun.objects.filter(vault=run.vault_id, state=run.state, counts__changes=0)
        same.filter(counts__full=run.counts["full"]).exclude(pk=run.pk).delete()
    return run


def not_read_of(run: SyncRun) -> dict[str, int]:
    """Files that the run left out since their kind is not read: by suffix, most frequent first."""
    return dict(run.counts.get("not_read", ()))


def counts_of(run: SyncRun) -> dict[str, int]:
    """The numbers of a run, each by its name."""
    return {name: count for name, count in run.counts.items() if name != "not_read"}


def _row(warning: FileWarning) -> dict[str, Any]:
    reason = warning.reason.replace("\0", "").encode("utf-8", "replace").decode()
    return {"path": warning.path, "reason": reason, "line": warning.line}
