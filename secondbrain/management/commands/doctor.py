"""`doctor`: what works, what does not, and what mends it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from secondbrain.health import Level, health

MARKS = {Level.OK: "ok  ", Level.WARNING: "warn", Level.BAD: "BAD "}


class Command(BaseCommand):
    help = "Check every part. Exit code 1 when something is broken."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *args: Any, as_json: bool, **options: Any) -> None:
        checks = health()
        if as_json:
            self.stdout.write(json.dumps([asdict(check) for check in checks]))
        else:
            for check in checks:
                self.stdout.write(f"{MARKS[check.level]}  {check.name}: {check.text}")
                if check.mend and check.level is not Level.OK:
                    self.stdout.write(f"      → {check.mend}")
        if any(check.level is Level.BAD for check in checks):
            sys.exit(1)
