"""manage.py rescrub: take out of the stored notes what is a secret by today's rules."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from vault.locks import Busy
from vault.management.choosing import chosen_vaults
from vault.management.progress import progress_bar
from vault.models import Vault
from vault.rescrub import Rescrubbed, rescrub_vault
from vault.tasks import request_embed, request_sync

SECONDS_TO_WAIT = 600.0


class Command(BaseCommand):
    help = (
        "Scrub stored notes again, by the rules of this version. The files are read anew by "
        "the next sync, which also brings back what was marked by mistake."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("vault", nargs="*", help="Slugs; default: every vault.")
        parser.add_argument("--json", action="store_true", help="One JSON object a vault.")

    def handle(self, *args: Any, **options: Any) -> None:
        for vault in chosen_vaults(options["vault"]):
            done = self._rescrub(vault)
            request_sync(vault.pk)
            if done.changed:
                request_embed(vault.pk)
            if options["json"]:
                self.stdout.write(json.dumps({"vault": vault.slug, **asdict(done)}))
            else:
                self.stdout.write(
                    f"{vault.slug}\t{done.notes} notes looked at, {done.changed} changed, "
                    f"{done.secrets} secrets taken out, {done.kept} texts kept with answers changed"
                )

    def _rescrub(self, vault: Vault) -> Rescrubbed:
        with progress_bar(vault.slug) as show:

            def tell(looked: int, total: int) -> None:
                show("scrubbing", looked, total)

            try:
                return rescrub_vault(vault.pk, wait=SECONDS_TO_WAIT, on_progress=tell)
            except Busy as error:
                raise CommandError(f"{vault.slug}: {error}") from error
