"""The worker: keeps a queue cluster alive and everything that is to be done known to it.

The cluster runs in a session of its own, so that it can be ended as a whole. A killed
member may freeze it for ever (it takes the queue's lock along); two signs show that: a
canary that does not come back, and a job that nobody takes. Then the group is killed and
started anew. Nothing is lost by that: what was being done is a Job row with a lease.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from vault import doorbell, heartbeat, jobs
from vault.index_tasks import (
    request_checks,
    request_expired_cleanups,
    request_scheduled_checks,
    request_tidied_trials,
)
from vault.models import Job, Vault
from vault.process_groups import kill_group
from vault.tasks import request_sync
from vault.watching import FolderWatch

log = structlog.get_logger(__name__)

TICK = 0.5
RESTART_PAUSE = 2.0
# Seconds until a new cluster, which has not shown any life yet, is given up.
START_PATIENCE = 60.0


@dataclass(slots=True)
class _Every:
    """True once in `seconds`, first at once."""

    seconds: float
    last: float = field(default=float("-inf"))

    def is_due(self) -> bool:
        now = time.monotonic()
        if now - self.last < self.seconds:
            return False
        self.last = now
        return True


class Cluster:
    """The queue's processes: one group that lives and dies together."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start `manage.py qcluster` in a session of its own."""
        environment = os.environ | {
            "PROCESS_ROLE": "worker",
            # One thread for each process: two embedders with four threads each are
            # slower than two with one.
            "OMP_NUM_THREADS": "1",
        }
        command = [sys.executable, str(_manage_py()), "qcluster"]
        # The command is fixed; nothing of it comes from outside.
        self._process = subprocess.Popen(  # noqa: S603
            command, env=environment, start_new_session=True, stdin=subprocess.DEVNULL
        )
        log.info("cluster_started", pid=self._process.pid)

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """End every process of the group, also those whose leader is gone."""
        if self._process is None:
            return
        kill_group(self._process.pid)
        self._process.wait()
        self._process = None

    def stop(self, *, seconds: float) -> None:
        """Ask the leader to finish what it is at; end the rest after `seconds`.

        Only the leader gets the signal: a group that gets it as a whole hangs.
        """
        if self._process is None:
            return
        self._process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=seconds)
        self.kill()


class Watchdog:
    """Whether the cluster still does what it is asked."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = _Every(settings.WORKER_CANARY)
        self.restarted()

    def restarted(self) -> None:
        """A new cluster has not been asked anything yet."""
        self._canary: int | None = None
        self._is_up = False
        self._sent = self._since = self._clock()

    def database_was_away(self) -> None:
        """Nothing could come back meanwhile, so the cluster is asked anew."""
        self.restarted()

    def verdict(self) -> str:
        """What is wrong; empty when nothing is. Raises DatabaseError when nobody can tell."""
        if self._canary is not None and doorbell.canary_is_back(self._canary):
            self._canary, self._is_up = None, True
        if self._canary is None and self._next.is_due():
            self._canary, self._sent = doorbell.send_canary(), self._clock()
        if self._is_starting():
            return ""
        waited, limit = self._clock() - self._sent, settings.WORKER_CANARY_LIMIT
        # On a busy machine it waits behind many jobs, and between two of them nobody works.
        if self._canary is not None and waited > limit and not jobs.is_worked_at(seconds=limit):
            return f"a canary did not come back in {waited:.0f} s"
        patience = settings.WORKER_PATIENCE
        if self._clock() - self._since > patience and jobs.unheard(seconds=patience):
            return "a job is due and nobody takes it"
        return ""

    def _is_starting(self) -> bool:
        """Whether a new cluster may still be loading: on a busy machine that takes long, and
        killing it for that would never end."""
        self._is_up = self._is_up or Job.objects.at_work().exists()
        return not self._is_up and self._clock() - self._since < START_PATIENCE


class Worker:
    """The loop of the worker command."""

    def __init__(self, *, watch: bool = True) -> None:
        self.cluster = Cluster()
        self.watchdog = Watchdog()
        self.stopping = threading.Event()
        self.watch = FolderWatch() if watch else None
        self._sweep = _Every(settings.WORKER_SWEEP)
        self._scan = _Every(settings.SCAN_INTERVAL)
        self._places = _Every(10.0)
        self._schedule = _Every(30.0)
        self._is_first = True

    def run(self) -> None:
        """Work until `stop` is called. Leaves no process behind."""
        try:
            self._wait_for_database()
            if not self.stopping.is_set():
                self._start()
            while not self.stopping.wait(TICK):
                self._guarded(self._tick)
        finally:
            if self.watch is not None:
                self.watch.close()
            self._guarded(heartbeat.end)
            self.cluster.stop(seconds=settings.WORKER_STOP)
            connection.close()

    def stop(self) -> None:
        """End `run` soon; safe in a signal handler."""
        self.stopping.set()

    def _tick(self) -> None:
        if not self.cluster.is_alive:
            self._restart("the cluster's leader is gone")
        wrong = self.watchdog.verdict()
        if wrong:
            self._restart(wrong)
        if self._sweep.is_due():
            heartbeat.beat()
            jobs.sweep()
        if self._scan.is_due():
            for vault_id in _active_vaults():
                request_sync(vault_id)
            request_expired_cleanups()
            request_tidied_trials()
        self._check()
        self._follow_folders()

    def _check(self) -> None:
        """Every index is checked when the worker starts, and by the schedule."""
        if self._is_first:
            request_checks()
            self._is_first = False
        if self._schedule.is_due():
            request_scheduled_checks()

    def _follow_folders(self) -> None:
        if self.watch is None:
            return
        if self._places.is_due():
            folders = Vault.objects.filter(source_kind=Vault.SourceKind.FOLDER)
            places = folders.filter(state=Vault.State.ACTIVE)
            self.watch.follow(dict(places.values_list("pk", "place")))
        for vault_id in self.watch.changed():
            request_sync(vault_id)

    def _restart(self, why: str) -> None:
        log.error("cluster_restarted", why=why)
        self.cluster.kill()
        if not self.stopping.wait(RESTART_PAUSE):
            self._start()

    def _start(self) -> None:
        """Start a cluster with an empty queue and ring for all that is due."""
        doorbell.silence()
        jobs.sweep(again=True)
        self.cluster.start()
        self.watchdog.restarted()

    def _guarded(self, step: Callable[[], None]) -> None:
        """A database that is away is waited for: everything else goes on after it."""
        try:
            step()
        except (DatabaseError, InterfaceError) as error:
            log.warning("database_away", error=str(error))
            self.watchdog.database_was_away()
            connection.close()
            self.stopping.wait(RESTART_PAUSE)

    def _wait_for_database(self) -> None:
        """Until the tables are there: `up` migrates while this starts."""
        told = False
        while not self.stopping.is_set():
            try:
                Job.objects.exists()
            except (DatabaseError, InterfaceError) as error:
                if not told:
                    log.warning("waiting_for_database", error=str(error).strip())
                told = True
                connection.close()
                self.stopping.wait(1.0)
            else:
                return


def _active_vaults() -> list[int]:
    active = Vault.objects.filter(state=Vault.State.ACTIVE)
    return list(active.order_by("pk").values_list("pk", flat=True))


def _manage_py() -> Path:
    return Path(settings.BASE_DIR) / "manage.py"
