"""The worker's sign of life, kept in the shared cache: any process can ask for it."""

from __future__ import annotations

from django.conf import settings
from django.core.cache import cache

KEY = "worker-heartbeat"
# Beats that may be missed: the worker waits while it restarts its queue.
PATIENCE = 10


def beat() -> None:
    """Say that the worker runs; forgotten after some missed beats."""
    cache.set(KEY, "alive", timeout=settings.WORKER_SWEEP * PATIENCE)


def is_beating() -> bool:
    """Whether a worker gave a sign of life lately, on any machine of this install."""
    return cache.get(KEY) is not None


def end() -> None:
    """The worker stops: do not wait for its last sign to be forgotten."""
    cache.delete(KEY)
