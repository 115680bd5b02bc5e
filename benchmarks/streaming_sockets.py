"""How late words reach browsers when many answers are written at once, sockets and all.

    python benchmarks/streaming_sockets.py [--chats 100] [--words 600] [--pause 0.03] [--spread 5]

A web process of its own, as `serve` runs it, writes answers of a model that gives a word at
every PAUSE seconds of the clock; each word is the moment at which it was due. One websocket
of a signed-in browser asks and listens for each answer: first a single one, then CHATS of
them, asked within SPREAD seconds. Words are passed on about ten times a second on purpose,
so that one waits 50 ms on average and 100 ms at most even with nobody else. Prints the
lateness of both runs, frames a second, and what the web process took. Needs no network and
the packages of requirements-dev.txt; what it makes is removed again.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import psutil
from streaming import PER_PERSON, ROOT, at, model_row, people, start_django
from websockets.asyncio.client import connect

ENDS = {"done", "stopped", "error"}
START_LIMIT = 60.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=100)
    parser.add_argument("--words", type=int, default=600)
    parser.add_argument("--pause", type=float, default=0.03, help="Seconds between two words.")
    parser.add_argument("--spread", type=float, default=5.0, help="Seconds in which all are asked.")
    parser.add_argument("--serve", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    start_django()
    if options.serve:
        serve(options)
        return
    with people(-(-options.chats // PER_PERSON)) as users, model_row() as model:
        cookies = [cookie_of(user) for user in users]
        with web_process(options) as (url, process):
            asyncio.run(measure(url, process, cookies, model.pk, options))


# The web process


class Clock:
    """A model that gives a word at every `pause` seconds, however late it wakes.

    The word is the moment at which it was due, in milliseconds of `time.monotonic`, which
    the processes of one machine share.
    """

    def __init__(self, words: int, pause: float) -> None:
        self._words = words
        self._pause = pause

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        from providers.core.types import TextDelta, Usage

        begun = time.monotonic()
        for number in range(1, self._words + 1):
            due = begun + number * self._pause
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            yield TextDelta(f"{due * 1000:.0f} " if number % 60 else f"{due * 1000:.0f}\n\n")
        yield Usage(10, self._words)


def serve(options: argparse.Namespace) -> None:
    """Serve as the product does, but for the model."""
    import chat.runs
    from secondbrain.server import serve as serve_product

    site_providing = chat.runs.site_providing

    def providing() -> Any:
        def clock(model: Any, *, user_id: int | None = None) -> Clock:
            return Clock(options.words, options.pause)

        return replace(site_providing(), chat_provider=clock)

    chat.runs.site_providing = providing
    serve_product(host="127.0.0.1", port=options.serve)


@contextmanager
def web_process(options: argparse.Namespace) -> Iterator[tuple[str, psutil.Process]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    url = f"http://127.0.0.1:{port}"
    given = [f"--{name}={getattr(options, name)}" for name in ("words", "pause")]
    process = subprocess.Popen(
        [sys.executable, __file__, f"--serve={port}", *given],
        env={**os.environ, "PUBLIC_ORIGIN": url, "PORT": str(port)},
        cwd=ROOT,
    )
    try:
        wait_until_ready(url)
        yield url, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def wait_until_ready(url: str) -> None:
    until = time.monotonic() + START_LIMIT
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(f"{url}/healthz", timeout=2).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
        else:
            return
    raise SystemExit("The web process did not start.")


# The browsers


@dataclass
class Heard:
    """What one browser heard: how late each word was in milliseconds, and how many frames."""

    late: list[float]
    frames: int
    bytes: int
    seconds: float


def cookie_of(user: Any) -> str:
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


async def measure(
    url: str,
    process: psutil.Process,
    cookies: Sequence[str],
    model: int,
    options: argparse.Namespace,
) -> None:
    (alone,) = await listen_all(url, cookies, model, chats=1, options=options)
    late = sorted(alone.late)
    before, began = sum(process.cpu_times()[:2]), time.monotonic()
    many = await listen_all(url, cookies, model, chats=options.chats, options=options)
    busy = (sum(process.cpu_times()[:2]) - before) / (time.monotonic() - began)
    all_late = sorted(ms for heard in many for ms in heard.late)
    frames = sum(heard.frames / heard.seconds for heard in many) / len(many)
    kilobytes = sum(heard.bytes for heard in many) / len(many) / 1000
    print(f"1 chat: late by p50 {at(late, 0.5):.0f} ms, p95 {at(late, 0.95):.0f} ms")
    print(
        f"{options.chats} chats: late by p50 {at(all_late, 0.5):.0f} ms, "
        f"p95 {at(all_late, 0.95):.0f} ms, p99 {at(all_late, 0.99):.0f} ms, "
        f"{at(all_late, 0.95) / at(late, 0.95):.2f} x the p95 of one; "
        f"{frames:.1f} frames of words a second and {kilobytes:.0f} kB for each; the web "
        f"process took {busy:.0%} of a processor and {process.memory_info().rss / 1e6:.0f} MB"
    )


async def listen_all(
    url: str, cookies: Sequence[str], model: int, *, chats: int, options: argparse.Namespace
) -> list[Heard]:
    each = (
        listen(url, cookies[number // PER_PERSON], model, number * options.spread / chats)
        for number in range(chats)
    )
    return await asyncio.gather(*each)


async def listen(url: str, cookie: str, model: int, wait: float) -> Heard:
    await asyncio.sleep(wait)
    async with connect(
        f"{url.replace('http', 'ws', 1)}/ws/chat/",
        additional_headers={"Cookie": cookie, "Origin": url},
        max_size=None,
    ) as line:
        asked = {"type": "ask", "text": "Say it", "mode": "no_notes", "model": model}
        await line.send(json.dumps(asked))
        heard, began, unheard = Heard([], 0, 0, 0.0), time.monotonic(), 0
        while True:
            text = await line.recv()
            frame = json.loads(text)
            heard.bytes += len(text)
            unheard += len(text)
            if frame["type"] == "delta":
                now = time.monotonic() * 1000
                heard.frames += 1
                heard.late += [now - int(word) for word in frame["text"].split()]
            elif frame["type"] in ENDS or frame["type"] == "refused":
                if frame["type"] != "done":
                    raise SystemExit(f"An answer ended badly: {text!r}")
                heard.seconds = time.monotonic() - began
                return heard
            if unheard > 200_000:  # as the page does: who says nothing is taken for gone
                unheard = 0
                await line.send('{"type": "ping"}')


if __name__ == "__main__":
    main()
