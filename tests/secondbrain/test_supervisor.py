"""The supervisor keeps its children alive and ends them together."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from secondbrain.management.commands.up import StopOnce, StopRequested
from secondbrain.supervisor import LARGEST_LOG, Child, Supervisor, keep_log_small

SLEEPER = [sys.executable, "-c", "print('up', flush=True); import time; time.sleep(300)"]
IGNORES_SIGTERM = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('up', flush=True); time.sleep(300)"
)
STUBBORN = [sys.executable, "-c", IGNORES_SIGTERM]


def until(condition: Callable[[], bool], *, seconds: float = 60.0) -> None:
    """Wait for `condition`; fail when it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture
def events() -> list[str]:
    return []


@pytest.fixture
def supervise(
    tmp_path: Path, events: list[str]
) -> Iterator[Callable[[list[str]], tuple[Supervisor, Child]]]:
    started: list[Supervisor] = []

    def start(command: list[str]) -> tuple[Supervisor, Child]:
        child = Child("The child", command, {"MARK": "set"}, tmp_path / "logs" / "child.log")
        supervisor = Supervisor([child], on_event=events.append)
        supervisor.start()
        started.append(supervisor)
        until(lambda: "up" in child.log.read_text())
        return supervisor, child

    yield start
    for supervisor in started:
        supervisor.stop(patience=0.1)


def test_a_killed_child_is_started_again_and_said(
    supervise: Callable[[list[str]], tuple[Supervisor, Child]], events: list[str]
) -> None:
    supervisor, child = supervise(SLEEPER)
    assert child.process is not None
    first = child.process.pid
    os.kill(first, signal.SIGKILL)

    def came_back() -> bool:
        supervisor.tend()
        return child.process is not None and child.process.pid != first and not child.fell()

    until(came_back)
    assert child.restarts == 1
    assert "signal 9" in events[0]
    assert str(child.log) in events[0]


def test_pauses_grow_while_a_child_keeps_falling(
    supervise: Callable[[list[str]], tuple[Supervisor, Child]],
) -> None:
    supervisor, child = supervise([sys.executable, "-c", "print('up'); raise SystemExit(3)"])

    def fell_three_times() -> bool:
        supervisor.tend()
        return child.restarts >= 2 and child.fell()

    until(fell_three_times)
    assert child.pause >= 2.0


def test_stop_ends_a_child_that_ignores_sigterm(
    supervise: Callable[[list[str]], tuple[Supervisor, Child]],
) -> None:
    supervisor, child = supervise(STUBBORN)
    assert child.process is not None
    pid = child.process.pid
    supervisor.stop(patience=0.2)
    assert not is_running(pid)


def test_a_child_gets_its_environment_and_its_own_session(
    supervise: Callable[[list[str]], tuple[Supervisor, Child]],
) -> None:
    program = "import os; print('up', os.environ['MARK'], os.getsid(0) == os.getpid(), flush=True)"
    _supervisor, child = supervise(
        [sys.executable, "-c", program + "; import time; time.sleep(300)"]
    )
    assert child.log.read_text().split() == ["up", "set", "True"]


def test_a_long_log_is_moved_aside_while_somebody_writes_to_it(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as output:
        output.write(b"x" * (LARGEST_LOG + 1))
        keep_log_small(log)
        assert (tmp_path / "web.old.log").stat().st_size == LARGEST_LOG + 1
        output.write(b"next line")
    assert log.read_bytes() == b"next line"
    log.write_text("short")
    keep_log_small(log)
    assert log.read_text() == "short"


def test_a_second_request_ends_the_wait_at_once(
    supervise: Callable[[list[str]], tuple[Supervisor, Child]],
) -> None:
    supervisor, child = supervise(STUBBORN)
    assert child.process is not None
    pid, began = child.process.pid, time.monotonic()
    stop = StopOnce(supervisor)
    with pytest.raises(StopRequested):
        stop(signal.SIGINT, None)
    stop(signal.SIGINT, None)
    supervisor.stop(patience=150)
    assert not is_running(pid)
    assert time.monotonic() - began < 100
