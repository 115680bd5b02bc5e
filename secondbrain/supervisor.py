"""Keeps the web process and the worker running, and ends them together."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from vault.process_groups import die_with_parent, kill_group

LONGEST_PAUSE = 30.0
# A process that lived this long was healthy: its next fall starts with a short pause again.
HEALTHY_AFTER = 60.0
LARGEST_LOG = 10 * 2**20
# Seconds after which a stop that is waited for sees that it shall hurry.
LOOK_AGAIN = 0.1


@dataclass
class Child:
    """A process to keep alive. Its output goes to `log`."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    pause: float = 0.5
    restart_at: float = 0.0
    restarts: int = field(default=0)

    def start(self) -> None:
        """Start the process in a session of its own, so that Ctrl+C reaches only us."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(  # noqa: S603 (our own command line)
                self.command,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # One prctl call, which takes no lock: safe between fork and exec.
                preexec_fn=partial(die_with_parent, signal.SIGTERM),  # noqa: PLW1509
            )
        self.started = time.monotonic()

    def fell(self) -> bool:
        """Whether it has been started and is not running any more."""
        return self.process is not None and self.process.poll() is not None


def keep_log_small(log: Path) -> None:
    """Copy a log over LARGEST_LOG bytes aside, in place of the older copy, and empty it.

    Whoever writes to it goes on: it is the same file, which was opened to append. Lines of the
    instant between the two steps are lost.
    """
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        shutil.copyfile(log, log.with_suffix(".old.log"))
        os.truncate(log, 0)


class Supervisor:
    """Starts children, restarts those that fall, stops all of them on request."""

    def __init__(self, children: Sequence[Child], *, on_event: Callable[[str], None]) -> None:
        self.children = children
        self.on_event = on_event
        self.stopping = False
        self._is_hurried = False

    def start(self) -> None:
        for child in self.children:
            child.start()

    def tend(self) -> None:
        """Restart what fell: at once the first time, then after growing pauses. Logs that grew
        too large are cut."""
        for child in self.children:
            keep_log_small(child.log)
            if child.restart_at:
                self._restart_when_due(child)
            elif child.process is not None and child.fell():
                self._plan_restart(child, code=child.process.returncode)

    def stop(self, *, patience: float) -> None:
        """SIGTERM to all, then SIGKILL to the process group of who is left in `patience` s.

        A signal handler may call `hurry` meanwhile.
        """
        self.stopping = True
        running = [child.process for child in self.children if child.process]
        for process in running:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + patience
        for process in running:
            self._end(process, deadline)

    def hurry(self) -> None:
        """Wait for nobody any more: somebody asked a second time."""
        self._is_hurried = True

    def _end(self, process: subprocess.Popen[bytes], deadline: float) -> None:
        while not self._is_hurried and time.monotonic() < deadline:
            try:
                process.wait(timeout=LOOK_AGAIN)
            except subprocess.TimeoutExpired:
                continue
            return
        if process.poll() is None:
            kill_group(process.pid)
            process.wait()

    def _plan_restart(self, child: Child, *, code: int) -> None:
        if time.monotonic() - child.started > HEALTHY_AFTER:
            child.pause = 0.5
        child.restart_at = time.monotonic() + child.pause
        child.pause = min(child.pause * 2, LONGEST_PAUSE)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        self.on_event(f"{child.name} ended ({how}) and is started again; see {child.log}")

    def _restart_when_due(self, child: Child) -> None:
        if time.monotonic() >= child.restart_at:
            child.restart_at = 0.0
            child.restarts += 1
            child.start()
