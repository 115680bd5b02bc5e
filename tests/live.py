"""A real server on the test database: the web process and, when asked, the worker.

They are processes of their own, as in production: a live server inside the test process
would share its event loop and its database connection.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from django.db import connection

ROOT = Path(__file__).resolve().parents[1]
START_LIMIT = 150.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def database_url() -> str:
    """The database of this test run, as a process of its own reaches it."""
    name = str(connection.settings_dict["NAME"])
    return urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{name}").geturl()


def child_environment(**extra: str) -> dict[str, str]:
    """The environment of a process of the product that works on the test database."""
    return {
        **os.environ,
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "OMP_NUM_THREADS": "1",
        **extra,
    }


def run_command(*arguments: str, **environment: str) -> str:
    """Run `manage.py …` to its end on the test database, unless `environment` names another;
    return what it printed."""
    result = subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "manage.py"), *arguments],
        env=child_environment(**environment),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


@dataclass
class LiveProduct:
    """Processes of the product and their address."""

    log_folder: Path
    port: int = field(default_factory=free_port)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    extra_environment: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self, command: str) -> subprocess.Popen[bytes]:
        """Run `manage.py <command>` on the test database."""
        role = {"serve": "web", "worker": "worker"}[command]
        environment = child_environment(
            PORT=str(self.port),
            PUBLIC_ORIGIN=self.url,
            PROCESS_ROLE=role,
            **self.extra_environment,
        )
        with (self.log_folder / f"{command}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore", str(ROOT / "manage.py"), command],
                env=environment,
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.processes[command] = process
        if command == "serve":
            self.wait_until_ready()
        return process

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_LIMIT
        while time.monotonic() < deadline and self.processes["serve"].poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/healthz", timeout=10) as reply:
                    if reply.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.05)
        raise AssertionError(f"no answer: {self.log('serve')[-3000:]}")

    def log(self, command: str) -> str:
        return (self.log_folder / f"{command}.log").read_text()

    def kill(self, command: str) -> None:
        """kill -9 of the process and everything it started."""
        process = self.processes.pop(command)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in self.processes.values():
            process.terminate()
        for process in self.processes.values():
            try:
                process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.processes.clear()
