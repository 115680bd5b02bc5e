"""The check of a vault's index: whether what is stored still follows from the notes.

Nothing of it should ever find anything. It looks all the same, mends what it finds, and
says in the vault's history what that was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from vault.core.scrub import SCRUBBER_VERSION, scrub
from vault.generations import orphans_of
from vault.lexemes import refresh_lexemes
from vault.locks import Busy
from vault.models import Chunk, Job, SyncRun, Upkeep, Vault
from vault.models.upkeep import next_time
from vault.note_vectors import drop_note_vectors_of_nothing, write_note_vectors
from vault.rescrub import rescrub_vault
from vault.staleness import models_of, pending_chunks
from vault.sync import sync_vault

# Checks of a vault that stay in its history.
MOST_KEPT = 20
_BATCH = 1000
_LOCKED = ("context", "summary", "embed_hash", "embed_failed", "embed_failed_by", "embed_attempts")

OnStage = Callable[[str], None]


def check_vault(vault_id: int, *, most_seconds: float, on_stage: OnStage | None = None) -> SyncRun:
    """Check everything that is derived from a vault's notes, and mend it.

    The run's counts say what was found: `checked` files and how many `differ` from what was
    read, `hashes` of chunks that were wrong, `vectors` that are missing and that no job is
    about to make, `note_vectors` made anew or dropped, `orphans` (vectors of no model of the
    vault, for the next cleanup), `secrets` taken out. Raises vault.locks.Busy while somebody
    else syncs the vault.
    """
    checks = SyncRun.objects.filter(vault_id=vault_id, kind=SyncRun.Kind.CHECK)
    checks.filter(state=SyncRun.State.RUNNING).delete()  # of one that was killed
    run = SyncRun.objects.create(vault_id=vault_id, kind=SyncRun.Kind.CHECK)
    run.state = SyncRun.State.FAILED
    run.error = str(_("It did not come to its end; the list of jobs says why."))
    try:
        run.counts = dict(_Check(vault_id, most_seconds, on_stage or (lambda _stage: None)).go())
        run.state, run.error = SyncRun.State.DONE, ""
    except Busy:
        run.delete()
        raise
    finally:
        if run.pk is not None:
            run.finished = timezone.now()
            run.save()
    _forget_old_checks(vault_id)
    return run


def claim_scheduled_check(now: datetime) -> bool:
    """Whether the schedule asks for a check now; true for one of all who ask."""
    row, _made = Upkeep.objects.get_or_create(pk=1)
    if row.checked is not None:
        following = next_time(row.check_schedule, timezone.localtime(row.checked))
        if following is None or following > now:
            return False
    return bool(Upkeep.objects.filter(pk=1, checked=row.checked).update(checked=now))


class _Check:
    """One check of a vault."""

    def __init__(self, vault_id: int, most_seconds: float, on_stage: OnStage) -> None:
        self.vault_id, self.most_seconds, self.on_stage = vault_id, most_seconds, on_stage
        self.counts: Counter[str] = Counter()

    def go(self) -> Counter[str]:
        for stage in ("files", "scrub", "hashes", "vectors", "words"):
            self.on_stage(stage)
            getattr(self, f"_{stage}")()
        return self.counts

    def _files(self) -> None:
        """Every file is hashed, whatever its size and time say."""
        run = sync_vault(self.vault_id, full=True, most_seconds=self.most_seconds, wait=5.0)
        self.counts.update(checked=run.counts.get("files", 0), differ=run.counts["changes"])
        self.counts["left"] = run.counts.get("left", 0)

    def _scrub(self) -> None:
        """What became a secret with this version is taken out of notes and lines."""
        last = SyncRun.objects.filter(
            vault_id=self.vault_id, kind=SyncRun.Kind.CHECK, state=SyncRun.State.DONE
        ).first()
        self.counts["scrubber"] = SCRUBBER_VERSION
        if last is not None and last.counts.get("scrubber") != SCRUBBER_VERSION:
            self.counts["secrets"] += rescrub_vault(self.vault_id, wait=5.0).secrets

    def _hashes(self) -> None:
        """Each chunk names the text that its vector is to be made from."""
        emails = Vault.objects.get(pk=self.vault_id).scrub_emails
        last = 0
        while True:
            with transaction.atomic():
                rows = Chunk.objects.select_for_update().filter(vault_id=self.vault_id)
                chunks = list(rows.filter(pk__gt=last).order_by("pk").defer("tsv")[:_BATCH])
                wrong = [chunk for chunk in chunks if self._is_wrong(chunk, emails=emails)]
                Chunk.objects.bulk_update(wrong, _LOCKED, batch_size=200)
            if not chunks:
                return
            last = chunks[-1].pk

    def _is_wrong(self, chunk: Chunk, *, emails: bool) -> bool:
        context, summary = chunk.context, chunk.summary
        if context or summary:
            chunk.context = scrub(context, emails=emails).text
            chunk.summary = scrub(summary, emails=emails).text
        is_secret = (chunk.context, chunk.summary) != (context, summary)
        self.counts["secrets"] += is_secret
        is_renewed = chunk.renew_vector_hash()
        self.counts["hashes"] += is_renewed and not is_secret
        return is_renewed or is_secret

    def _vectors(self) -> None:
        is_awaited = Job.objects.open().filter(key=f"embed:{self.vault_id}").exists()
        for model in models_of(self.vault_id):
            if not is_awaited:
                self.counts["vectors"] += pending_chunks(self.vault_id, model).count()
            self.counts["note_vectors"] += write_note_vectors(self.vault_id, model)
        self.counts["note_vectors"] += drop_note_vectors_of_nothing(self.vault_id)
        self.counts["orphans"] += orphans_of(self.vault_id).count()

    def _words(self) -> None:
        with suppress(Busy):  # whoever counts them now counts all
            refresh_lexemes(force=True)


def _forget_old_checks(vault_id: int) -> None:
    checks = SyncRun.objects.filter(vault_id=vault_id, kind=SyncRun.Kind.CHECK)
    kept = list(checks.values_list("pk", flat=True)[:MOST_KEPT])
    checks.exclude(pk__in=kept).delete()
