"""Waiting for files that somebody is saving."""

from __future__ import annotations

import time
from collections.abc import Sequence

from django.conf import settings

from vault.core.types import FileState


def wait_until_quiet(files: Sequence[FileState]) -> None:
    """Wait for what was saved a moment ago, once: a save is over within a second."""
    youngest = max((file.modified.timestamp() for file in files), default=0.0)
    age = time.time() - youngest
    if 0 <= age < settings.QUIET_SECONDS:
        time.sleep(settings.QUIET_SECONDS - age + 0.01)
