"""`up [FOLDER]`: everything in one terminal."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import urllib.error
import urllib.request
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections
from rich.console import Console

from secondbrain import embedded, first_start
from secondbrain.env import BASE_DIR, env
from secondbrain.supervisor import Child, Supervisor, keep_log_small
from secondbrain.welcome import IndexProgress, welcome

# Running answers may finish (30 s, see `serve`) before the web process is ended by force.
PATIENCE = 40.0
START_LIMIT = 60.0
TICK = 0.5
# Whether the embedded database still runs is looked at each two seconds.
DATABASE_TICKS = 4


class StopRequested(Exception):
    """SIGINT or SIGTERM."""


class StopOnce:
    """A signal handler: the first signal asks for a stop, every later one for haste."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._is_asked = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self._is_asked:
            self._supervisor.hurry()
            return
        self._is_asked = True
        raise StopRequested


class Command(BaseCommand):
    # The tables that some checks look at are made by this very command.
    requires_system_checks: list[str] = []
    help = "Prepare everything and run SecondBrain here: database, worker and web server."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "folder",
            nargs="?",
            help="a folder of Markdown notes to add as a vault (default: the handbook in docs/)",
        )

    def handle(self, *args: Any, folder: str | None, **options: Any) -> None:
        self.console = Console(stderr=True, highlight=False, soft_wrap=True)
        supervisor = Supervisor(_children(), on_event=self._say)
        stop = StopOnce(supervisor)
        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)
        lock = first_start.lock_data_folder()
        try:
            self._start(supervisor, folder)
            self._watch(supervisor)
        except StopRequested:
            self._say("Stopping: running answers may finish first. Ctrl+C again ends them now.")
        finally:
            connections.close_all()
            supervisor.stop(patience=PATIENCE)
            lock.close()
        self._say("Stopped. Nothing is lost; `make run` starts it again.")

    def _start(self, supervisor: Supervisor, folder: str | None) -> None:
        first_start.check_port_is_free(settings.PORT)
        with self.console.status("Preparing the database…"):
            first_start.prepare_database()
        self.check()
        with self.console.status("Collecting pages…"):
            first_start.collect_static()
        admin = first_start.ensure_admin(
            email=env.str("ADMIN_EMAIL", default=first_start.DEFAULT_ADMIN),
            password=env.str("ADMIN_PASSWORD", default=""),
        )
        place = Path(folder) if folder else first_start.HANDBOOK
        vault = first_start.ensure_vault(place, owner=admin.email)
        connections.close_all()
        with self.console.status("Starting the web server and the worker…"):
            supervisor.start()
            _wait_until_ready(supervisor)
        self.console.print(welcome(admin=admin, vault=vault))

    def _watch(self, supervisor: Supervisor) -> None:
        progress = IndexProgress(self.console)
        with progress:
            for tick in count():
                supervisor.tend()
                if tick % DATABASE_TICKS == 0:
                    self._tend_database()
                progress.refresh()
                time.sleep(TICK)

    def _tend_database(self) -> None:
        keep_log_small(embedded.server_log())
        if embedded.revive():
            self._say("The database had ended and runs again; nothing is lost.")

    def _say(self, text: str) -> None:
        self.console.print(text)


def _children() -> list[Child]:
    """The web process and the worker, each with its role in the environment."""
    python, manage = sys.executable, str(BASE_DIR / "manage.py")
    logs = settings.DATA_DIR / "logs"
    shared = {"DATABASE_URL": os.environ["DATABASE_URL"], "PORT": str(settings.PORT)}
    return [
        Child(
            "The web server",
            [python, manage, "serve"],
            {**shared, "PROCESS_ROLE": "web"},
            logs / "web.log",
        ),
        Child(
            "The worker",
            [python, manage, "worker"],
            {**shared, "PROCESS_ROLE": "worker", "OMP_NUM_THREADS": "1"},
            logs / "worker.log",
        ),
    ]


def _wait_until_ready(supervisor: Supervisor) -> None:
    deadline = time.monotonic() + START_LIMIT
    while time.monotonic() < deadline:
        supervisor.tend()
        if _answers(f"http://127.0.0.1:{settings.PORT}/healthz"):
            return
        time.sleep(0.2)
    log = supervisor.children[0].log
    raise CommandError(f"The web server did not answer within {START_LIMIT:.0f} s; see {log}")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as reply:  # noqa: S310 (our own address)
            return bool(reply.status == 200)
    except (urllib.error.URLError, OSError):
        return False
