"""Ends of processes: none may outlive who started it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def die_with_parent(signal_number: int = signal.SIGKILL) -> None:
    """Have the kernel send this process `signal_number` when its parent dies (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    parent = os.getppid()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0)
    if os.getppid() != parent:  # it died in between
        os.kill(os.getpid(), signal_number)


def chain_forks() -> None:
    """Tie this process and every one forked from it to its parent.

    The queue forks a guard, which forks the rest: without it they live on as orphans
    that keep taking tasks.
    """
    die_with_parent()
    os.register_at_fork(after_in_child=die_with_parent)


def kill_group(leader: int) -> None:
    """End a process group at once; fine when it is gone."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
