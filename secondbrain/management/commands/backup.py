"""`backup`: all that cannot be made anew, in one file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from secondbrain.backup import BackupFailed, write_backup


class Command(BaseCommand):
    help = "Write the database, without its vectors, and the secrets into one file."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            size = write_backup(file)
        except BackupFailed as failed:
            raise CommandError(str(failed)) from failed
        self.stdout.write(
            f"{file}: {size / 1e6:.1f} MB. It holds secrets: keep it as you keep them."
        )
