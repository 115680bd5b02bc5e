"""`restore`: a backup, into an empty database."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from secondbrain.backup import BackupFailed, restore_backup


class Command(BaseCommand):
    help = "Bring a file that `backup` wrote back, into an empty database."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            said = restore_backup(file)
        except BackupFailed as failed:
            raise CommandError(str(failed)) from failed
        for line in (*said, "Restored. Start the product: its worker makes the vectors anew."):
            self.stdout.write(line)
