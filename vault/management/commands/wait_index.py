"""manage.py wait_index: wait until everything that is to be indexed is."""

from __future__ import annotations

import json
import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from vault import heartbeat
from vault.management.choosing import chosen_vaults
from vault.management.progress import progress_bar
from vault.models import Job, Vault
from vault.staleness import pending_chunks

LOOK_EVERY = 0.5
NO_WORKER = ". No worker runs: start one with manage.py worker."
WAITED_FOR = ("sync", "embed", "enrich", "switch", "check")


class Command(BaseCommand):
    help = "Wait for the worker. Exit code 1 when time is over, or when it cannot go on."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("vault", nargs="*", help="Slugs; default: every vault.")
        parser.add_argument("--timeout", type=float, default=600, help="Seconds.")
        parser.add_argument("--json", action="store_true", help="One JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:
        began = time.monotonic()
        until = began + options["timeout"]
        with progress_bar("index") as show:
            while True:
                waiting = _waiting(chosen_vaults(options["vault"]))
                if not waiting:
                    break
                if time.monotonic() > until:
                    mend = "" if heartbeat.is_beating() else NO_WORKER
                    raise CommandError("Time is over: " + "; ".join(waiting) + mend)
                show(waiting[0], 0, 0)
                time.sleep(LOOK_EVERY)
        seconds = round(time.monotonic() - began, 1)
        data = json.dumps({"state": "ready", "seconds": seconds})
        self.stdout.write(data if options["json"] else "ready")


def _waiting(vaults: list[Vault]) -> list[str]:
    """What is still to be done, in words. Raises CommandError when it never will be."""
    waiting = [text for vault in vaults for text in _of_vault(vault)]
    if Job.objects.open().filter(kind__in=["lexemes", "vector_index"]).exists():
        waiting.append("the search index is being brought up to date")
    return waiting


def _of_vault(vault: Vault) -> list[str]:
    if vault.state == Vault.State.PAUSED:
        raise CommandError(f"{vault.slug} is paused: {vault.pause_reason}")
    jobs = Job.objects.open().filter(vault=vault, kind__in=WAITED_FOR)
    waiting = [f"{vault.slug}: {job.kind} {job.state}" for job in jobs]
    models = filter(None, (vault.embedding_model, vault.next_embedding_model))
    pending = sum(pending_chunks(vault.pk, model).count() for model in models)
    if pending and not waiting:
        dead = Job.objects.filter(key=f"embed:{vault.pk}", state=Job.State.FAILED).first()
        if dead is not None:
            raise CommandError(f"{vault.slug}: {pending} chunks wait. {dead.last_error}")
        waiting.append(f"{vault.slug}: {pending} chunks to embed")
    return waiting
