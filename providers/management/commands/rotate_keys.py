"""manage.py rotate_keys: stored provider keys under the first of ENCRYPTION_KEYS."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand

from providers.fields import UnreadableSecret
from providers.rotation import rotate_keys


class Command(BaseCommand):
    help = "Encrypt every stored key with the first of ENCRYPTION_KEYS. Prints no key."

    def handle(self, *args: Any, **options: Any) -> None:
        rotation = rotate_keys()
        self.stdout.write(
            f"{rotation.rotated} encrypted anew, {rotation.current} already were, "
            f"{len(rotation.unreadable)} unreadable"
        )
        for name in rotation.unreadable:
            self.stderr.write(f"{name}: {UnreadableSecret.explanation}")
        if rotation.unreadable:
            sys.exit(1)
