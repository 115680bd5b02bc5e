"""manage.py embed: embed what is stale now, in this process."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from providers.core.errors import ProviderError
from vault import jobs
from vault.embedding import EmbedProgress, GoOn, OnProgress, embed_pending
from vault.generations import ready_to_switch
from vault.index_tasks import request_switch
from vault.locks import Busy
from vault.management.choosing import chosen_vaults
from vault.management.progress import progress_bar
from vault.models import Vault
from vault.refusals import failed_chunks, retry_failed
from vault.vector_index import fit_index

SLICE = 10.0


class Command(BaseCommand):
    help = "Embed stale chunks now. May be stopped at any time; the next run goes on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("vault", nargs="*", help="Slugs; default: every vault.")
        parser.add_argument("--retry-failed", action="store_true")
        parser.add_argument("--json", action="store_true", help="One JSON object a vault.")

    def handle(self, *args: Any, **options: Any) -> None:
        failed = 0
        for vault in chosen_vaults(options["vault"]):
            if vault.embedding_model is None and vault.next_embedding_model is None:
                self.stderr.write(f"{vault.slug}: no embedding model is chosen.")
                continue
            if options["retry_failed"]:
                retry_failed(vault.pk)
            embedded, reused = self._embed(vault)
            refused = failed_chunks(vault.pk).count()
            failed += refused
            if options["json"]:
                counts = {"embedded": embedded, "reused": reused, "failed": refused}
                self.stdout.write(json.dumps({"vault": vault.slug, **counts}))
            else:
                self.stdout.write(f"{vault.slug}\t{embedded} embedded, {reused} reused")
        if failed:
            raise CommandError(f"{failed} chunks failed: see index_status for the reasons.")

    def _embed(self, vault: Vault) -> tuple[int, int]:
        """(chunks embedded, chunks that took a vector there was already)."""
        jobs.take_over(f"embed:{vault.pk}")
        embedded = reused = done = 0
        go_on = GoOn()
        with progress_bar(vault.slug) as show:

            def tell(progress: EmbedProgress) -> None:
                now = done + progress.done
                show(f"{progress.per_second:.0f} a second", now, now + progress.left)

            while True:
                progress = self._slice(vault, go_on, tell)
                embedded += progress.embedded
                reused += progress.reused
                done += progress.done
                go_on = GoOn(after=progress.after)
                if not progress.left:
                    break
        if ready_to_switch(vault.pk):
            # The worker tries the model first, and an owner may have to be asked.
            request_switch(vault.pk)
        if vault.embedding_model is not None:
            fit_index(vault.embedding_model)
        return embedded, reused

    def _slice(self, vault: Vault, go_on: GoOn, tell: OnProgress) -> EmbedProgress:
        while True:
            try:
                return embed_pending(vault.pk, most_seconds=SLICE, go_on=go_on, on_progress=tell)
            except Busy:
                time.sleep(0.5)  # the worker is at it: go on when its slice is over
            except ProviderError as error:
                raise CommandError(f"{vault.slug}: {error} {error.mend}") from error
