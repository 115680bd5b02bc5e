"""manage.py index_status: how far every vault is, and what is wrong."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from vault.json_presenters import status_json
from vault.management.choosing import chosen_vaults
from vault.models import Vault
from vault.status import VaultStatus, vault_statuses


class Command(BaseCommand):
    help = "Show notes, chunks, vectors, problems and work under way."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("vault", nargs="*", help="Slugs; default: every vault.")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        vaults = chosen_vaults(options["vault"])
        rows = list(zip(vaults, vault_statuses(vaults), strict=True))
        if options["json"]:
            data = {"vaults": [status_json(vault, status) for vault, status in rows]}
            self.stdout.write(json.dumps(data, indent=1))
            return
        for vault, status in rows:
            self._print(vault, status)

    def _print(self, vault: Vault, status: VaultStatus) -> None:
        self.stdout.write(
            f"{vault.slug}\t{status.coverage} {status.how}\t"
            f"{_shown(status.embedded)} of {_shown(status.chunks)} chunks embedded, "
            f"{_shown(status.failed)} failed\t{status.state}"
        )
        if status.question:
            self.stdout.write(f"  ? {status.question}")
        for job in status.jobs:
            self.stdout.write(f"  {job.kind} {job.state} {job.stage} {job.last_error}".rstrip())
        for problem in (*status.problems, *status.suspicious):
            line = f":{problem.line}" if problem.line else ""
            self.stdout.write(f"  {problem.severity}: {problem.path}{line}: {problem.reason}")


def _shown(count: int | None) -> str:
    return "unknown" if count is None else str(count)
