"""manage.py sync: read vaults now, in this process."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from vault import jobs
from vault.lexemes import refresh_lexemes
from vault.locks import Busy
from vault.management.choosing import chosen_vaults
from vault.management.progress import progress_bar
from vault.models import SyncRun, Vault
from vault.run_rows import counts_of, not_read_of
from vault.staleness import has_pending
from vault.sync import SyncProgress, sync_vault
from vault.tasks import request_embed

# Files that are being written are looked at again this often.
MOST_LOOKS = 5


class Command(BaseCommand):
    as_json = False
    help = "Read vaults now. Keyword search knows the notes when it ends; the worker embeds them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("vault", nargs="*", help="Slugs; default: every vault.")
        parser.add_argument("--full", action="store_true", help="Hash every file.")
        parser.add_argument("--json", action="store_true", help="One JSON object a run.")

    def handle(self, *args: Any, **options: Any) -> None:
        self.as_json = options["json"]
        runs = [
            self._sync(vault, full=options["full"]) for vault in chosen_vaults(options["vault"])
        ]
        jobs.take_over("lexemes")
        refresh_lexemes()
        stuck = [run for run in runs if run.state == SyncRun.State.PAUSED]
        if stuck:
            raise CommandError(
                "; ".join(f"{run.vault.slug} is paused: {run.error}" for run in stuck)
            )

    def _sync(self, vault: Vault, *, full: bool) -> SyncRun:
        jobs.take_over(f"sync:{vault.pk}")
        with progress_bar(vault.slug) as show:

            def tell(progress: SyncProgress) -> None:
                show(progress.stage, progress.done, progress.total)

            for _look in range(MOST_LOOKS):
                try:
                    run = sync_vault(vault.pk, full=full, wait=600, on_progress=tell)
                except Busy as error:
                    raise CommandError(f"{vault.slug}: {error}") from error
                self._print(vault, run)
                if not run.counts.get("busy"):
                    break
        if has_pending(vault.pk):
            request_embed(vault.pk)
        return run

    def _print(self, vault: Vault, run: SyncRun) -> None:
        if self.as_json:
            found = {"vault": vault.slug, "state": run.state, "error": run.error}
            numbers = {"counts": counts_of(run), "not_read": not_read_of(run)}
            self.stdout.write(json.dumps({**found, **numbers, "warnings": run.warnings}))
            return
        names = ("created", "updated", "moved", "deleted", "again", "chunks", "warnings")
        counts = ", ".join(f"{run.counts.get(name, 0)} {name}" for name in names)
        self.stdout.write(f"{vault.slug}\t{run.state}\t{counts}")
        for warning in run.warnings:
            line = f":{warning['line']}" if warning["line"] else ""
            self.stderr.write(f"{vault.slug}/{warning['path']}{line}: {warning['reason']}")
