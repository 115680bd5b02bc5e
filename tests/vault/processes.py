"""The real worker command as a process of its own, on the test database."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection

from tests.live import child_environment

# As in production, only quicker.
QUICK = {
    "JOB_WORKERS": "2",
    "WORKER_SWEEP": "0.5",
    "WORKER_CANARY": "1",
    "QUIET_SECONDS": "0",
}
# Seconds after which a process counts as dead or hanging: on an idle machine. A busy one
# must not be taken for that.
PATIENCE = {
    "JOB_LEASE": 3.0,
    "JOB_RING_AGAIN": 2.0,
    "WORKER_CANARY_LIMIT": 6.0,
    "WORKER_PATIENCE": 5.0,
    "WORKER_STOP": 5.0,
}


def slowness() -> float:
    """How many times longer things take now than they would on an idle machine."""
    return min(10.0, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


def patience(**seconds: float) -> dict[str, str]:
    """Settings that are times to wait, as this machine is now."""
    slow = slowness()
    return {name: f"{value * slow:.1f}" for name, value in {**PATIENCE, **seconds}.items()}


def wait_until(is_so: Callable[[], bool], what: str, *, seconds: float = 60) -> None:
    """Look again and again. Fails with `what` when time is over: later on a busy machine."""
    began = time.monotonic()
    while not is_so():
        waited = time.monotonic() - began
        assert waited < seconds * slowness(), f"not in {waited:.0f} s: {what}"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether the process is there, and no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in {"Z", "X"}


def children(pid: int) -> list[int]:
    """Direct children, oldest first."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] != "Z":
                found.append((int(fields[19]), int(entry.name)))
    return [child for _started, child in sorted(found)]


# Sessions of a process that was copied: a copy must neither use nor end them.
_NOT_OURS: list[object] = []


def in_a_copy(work: Callable[[], object]) -> int:
    """Do `work` in a copy of this process with a database session of its own.

    Returns what waitpid says of its end: a signal's number when one killed it, 0 when the
    work was done.
    """
    copy = os.fork()
    if copy:
        return os.waitpid(copy, 0)[1]
    try:
        signal.alarm(60)
        _NOT_OURS.append(connection.connection)
        connection.connection = None
        work()
        os._exit(0)
    finally:
        os._exit(1)


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@dataclass
class RunningWorker:
    """The command, and the queue's processes under it: leader, guard, and what it guards."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def restarts(self) -> int:
        """How often it found its queue dead or hanging, and started it anew."""
        return self.log.read_text(errors="replace").count("cluster_restarted")

    @property
    def leader(self) -> int | None:
        return next(iter(children(self.process.pid)), None)

    @property
    def guard(self) -> int | None:
        return next(iter(children(self.leader)), None) if self.leader else None

    def guarded(self) -> list[int]:
        """Two workers, monitor, pusher: in the order in which the guard starts them."""
        return children(self.guard) if self.guard else []

    def everybody(self) -> list[int]:
        return [pid for pid in (self.leader, self.guard, *self.guarded()) if pid]


@contextmanager
def running_worker(*options: str, **environment: str) -> Iterator[RunningWorker]:
    """The worker command; killed with all it started when the test is over."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker", *options]
    variables = child_environment(**{**QUICK, **patience(), **environment})
    with tempfile.NamedTemporaryFile(prefix="worker", suffix=".log") as log:
        process = subprocess.Popen(command, env=variables, stdout=log, stderr=subprocess.STDOUT)
        worker = RunningWorker(process, Path(log.name))
        try:
            yield worker
        finally:
            _end(worker)
            sys.stderr.write(worker.log.read_text(errors="replace"))


def _end(worker: RunningWorker) -> None:
    worker.process.send_signal(signal.SIGTERM)
    try:
        worker.process.wait(timeout=20 * slowness())
    except subprocess.TimeoutExpired:
        for pid in (*worker.everybody(), worker.process.pid):
            os.kill(pid, signal.SIGKILL)
        worker.process.wait()
