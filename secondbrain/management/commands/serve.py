"""`serve`: the web process."""

from __future__ import annotations

import argparse
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from secondbrain.server import serve


class Command(BaseCommand):
    help = "Serve pages, the API and websockets. SIGTERM lets running answers finish first."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=settings.PORT)

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        serve(host=host, port=port)
