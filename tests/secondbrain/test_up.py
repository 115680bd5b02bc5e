"""`up`: one command from nothing to an answer, through falls, to a clean end."""

from __future__ import annotations

import http.cookiejar
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path

import psutil
import pytest

from tests.live import ROOT, free_port

PASSWORD = "a password for this test"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


class Install:
    """An install in a folder of its own, run by `manage.py up`; fresh when it starts first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.output = folder / "up.log"
        self.was_started = False
        vault = folder / "Field notes"
        vault.mkdir()
        (vault / "Heron.md").write_text(
            "# Heron\n\nThe grey heron of pond seven is called Ottokar.\n"
        )

    @property
    def is_up(self) -> bool:
        return self.was_started and self.process.poll() is None

    def be_up(self) -> None:
        """Start, unless an earlier test left it running: a start costs more than all else."""
        if not self.is_up:
            self.start()

    def start(self) -> None:
        names = ("DATABASE_URL", "DJANGO_SETTINGS_MODULE", "SECRET_KEY", "ENCRYPTION_KEYS")
        environment = {key: value for key, value in os.environ.items() if key not in names}
        environment |= {
            "DATA_DIR": str(self.folder / "data"),
            "PORT": str(self.port),
            "ADMIN_EMAIL": "admin@example.com",
            "ADMIN_PASSWORD": PASSWORD,
            "LOG_LEVEL": "INFO",
        }
        said_before = self.output.read_text().count("Sign in") if self.output.exists() else 0
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "up", str(self.folder / "Field notes")],
                cwd=ROOT,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self.was_started = True
        self.until(lambda: self.output.read_text().count("Sign in") > said_before)

    def until(self, condition: Callable[[], bool], *, seconds: float = 150.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, self.output.read_text()[-2000:]
            assert self.process.poll() is None, self.output.read_text()[-2000:]
            time.sleep(0.1)

    def end(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=120)

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=10) as reply:
                return bool(reply.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    @cached_property
    def signed_in(self) -> urllib.request.OpenerDirector:
        """Signed in once: who looks again and again would run into the limit of sign-ins."""
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        opener = urllib.request.build_opener(cookies)
        page = opener.open(f"{self.url}/accounts/login/").read().decode()
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found
        fields = {"csrfmiddlewaretoken": found[1], "login": "admin@example.com"}
        fields["password"] = PASSWORD
        request = urllib.request.Request(
            f"{self.url}/accounts/login/",
            data=urllib.parse.urlencode(fields).encode(),
            headers={"Referer": f"{self.url}/accounts/login/"},
        )
        reply = opener.open(request)
        assert "/accounts/login" not in reply.url
        return opener

    def search(self, words: str) -> list[dict[str, object]]:
        query = urllib.parse.urlencode({"q": words})
        with self.signed_in.open(f"{self.url}/api/search?{query}") as reply:
            results: list[dict[str, object]] = json.load(reply)["results"]
        return results

    def children(self, word: str) -> list[psutil.Process]:
        family = psutil.Process(self.process.pid).children(recursive=True)
        return [child for child in family if word in child.cmdline()]


@pytest.fixture(scope="module")
def install(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Install]:
    """One folder for the tests of this module: the first that starts there sets it up."""
    folder = tmp_path_factory.mktemp("install")
    # PostgreSQL runs as a user of its own when root starts it: it must reach the folder.
    for each in (folder, *folder.parents[:2]):
        each.chmod(0o755)
    install = Install(folder)
    yield install
    if install.is_up:
        install.end()


def test_from_nothing_to_a_found_note_and_back_again(install: Install) -> None:
    install.be_up()
    install.until(lambda: bool(install.search("Ottokar")))
    [found] = install.search("Ottokar")
    assert found["title"] == "Heron"

    [web] = install.children("serve")
    web.kill()
    install.until(lambda: not web.is_running() and install.answers())

    family = psutil.Process(install.process.pid).children(recursive=True)
    assert install.end() == 0
    assert "Nothing is lost" in install.output.read_text()
    _gone, alive = psutil.wait_procs(family, timeout=60)
    assert alive == []
    assert not (install.folder / "data" / "postgres" / "postmaster.pid").exists()

    install.start()
    assert [hit["title"] for hit in install.search("Ottokar")] == ["Heron"]


def test_the_parts_end_when_their_parent_is_killed(install: Install) -> None:
    install.be_up()
    family = install.children("serve") + install.children("worker")
    assert len(family) >= 2
    install.process.kill()
    install.process.wait()
    _gone, alive = psutil.wait_procs(family, timeout=90)
    assert alive == []
    install.start()
    assert install.answers()
