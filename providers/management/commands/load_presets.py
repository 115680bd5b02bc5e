"""manage.py load_presets: the shipped providers and models into the tables."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from providers.core.presets import InvalidPresets
from providers.presets import PRESETS_FILE, load_presets


class Command(BaseCommand):
    help = "Load the shipped providers and models; rows edited in the admin are left alone."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--file", type=Path, default=PRESETS_FILE, help="Another presets file.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            loaded = load_presets(options["file"])
        except (InvalidPresets, OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['file']}: {error}") from error
        self.stdout.write(
            f"{loaded.created} created, {loaded.updated} updated, "
            f"{loaded.unchanged} unchanged, {loaded.kept} edited here and kept"
        )
