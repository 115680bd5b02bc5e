"""manage.py worker: scan, index and embed in the background until stopped."""

from __future__ import annotations

import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from vault.process_groups import die_with_parent
from vault.worker import Worker


class Command(BaseCommand):
    help = "Run the background worker. SIGTERM or Ctrl+C lets it finish what it is at."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--no-watch", action="store_true", help="Scan only; do not watch the folders."
        )
        parser.add_argument(
            "--die-with-parent", action="store_true", help="Stop when the starting process ends."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["die_with_parent"]:
            die_with_parent(signal.SIGTERM)
        worker = Worker(watch=not options["no_watch"])
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: worker.stop())
        worker.run()
