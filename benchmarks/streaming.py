"""How late words reach their readers when many answers are written at once.

    python benchmarks/streaming.py [--chats 100] [--words 600] [--pause 0.03] [--spread 5]

One process writes answers of a model that gives a word at every PAUSE seconds of the clock,
each followed by one reader: first a single one, then CHATS of them, asked within SPREAD
seconds. Every word is compared with the moment at which the model was to give it; words are
passed on about ten times a second on purpose, so that one waits 50 ms on average and 100 ms
at most even with nobody else. Prints the lateness of both runs and their ratio. Needs no
network; what it makes is removed again.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "secondbrain.settings")
os.environ.setdefault("LOG_LEVEL", "ERROR")
os.environ.setdefault("PROCESS_ROLE", "web")

# As many answers as one person may have written at once.
PER_PERSON = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chats", type=int, default=100)
    parser.add_argument("--words", type=int, default=600)
    parser.add_argument("--pause", type=float, default=0.03, help="Seconds between two words.")
    parser.add_argument("--spread", type=float, default=5.0, help="Seconds in which all are asked.")
    options = parser.parse_args()
    start_django()
    with people(-(-options.chats // PER_PERSON)) as users, model_row() as model:
        asyncio.run(measure(users, model, options))


def start_django() -> None:
    from secondbrain.embedded import ensure_database

    ensure_database()
    import django

    django.setup()


@contextmanager
def people(count: int) -> Iterator[list[Any]]:
    from django.contrib.auth import get_user_model

    names = [f"benchmark-streaming-{number}" for number in range(count)]
    users = get_user_model().objects
    users.filter(username__in=names).delete()
    try:
        yield [users.create_user(username=name) for name in names]
    finally:
        users.filter(username__in=names).delete()


@contextmanager
def model_row() -> Iterator[Any]:
    from providers.models import ChatModel, Provider

    Provider.objects.filter(slug="benchmark-streaming").delete()
    provider = Provider.objects.create(
        slug="benchmark-streaming", name="Scripted", kind="fake", needs_key=False
    )
    try:
        yield ChatModel.objects.create(provider=provider, name="timed", label="Timed")
    finally:
        provider.delete()


class Timed:
    """A model that gives a word at every `pause` seconds of the clock, however late it wakes.

    `begun` is when it was asked, by the clock of `time.perf_counter`.
    """

    begun: ClassVar[dict[str, float]] = {}

    def __init__(self, words: int, pause: float) -> None:
        self._words = words
        self._pause = pause

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        from providers.core.types import TextDelta, Usage

        begun = time.perf_counter()
        self.begun[request.messages[-1].content.split()[-1]] = begun
        for number in range(1, self._words + 1):
            wait = begun + number * self._pause - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            yield TextDelta(f"word{number} " if number % 60 else f"word{number}.\n\n")
        yield Usage(10, self._words)


async def measure(users: list[Any], model: Any, options: argparse.Namespace) -> None:
    alone = await lateness_of(users[:1], model, chats=1, options=options)
    started = time.process_time()
    many = await lateness_of(users, model, chats=options.chats, options=options)
    busy = (time.process_time() - started) / (options.words * options.pause)
    print(f"1 chat: late by p50 {at(alone, 0.5):.0f} ms, p95 {at(alone, 0.95):.0f} ms")
    print(
        f"{options.chats} chats: late by p50 {at(many, 0.5):.0f} ms, p95 {at(many, 0.95):.0f} ms, "
        f"{at(many, 0.95) / at(alone, 0.95):.2f} x the p95 of one; {busy:.0%} of a processor, "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB at most"
    )


async def lateness_of(
    users: list[Any], model: Any, *, chats: int, options: argparse.Namespace
) -> list[float]:
    """Milliseconds between when the model gave a word and when its reader had it."""
    from chat.providing import site_providing
    from chat.runs import Runs

    def timed(model: Any, *, user_id: int | None = None) -> Timed:
        return Timed(options.words, options.pause)

    runs = Runs(replace(site_providing(), chat_provider=timed))
    asks = [users[number // PER_PERSON] for number in range(chats)]
    followed = await asyncio.gather(
        *(follow(runs, user, model, number, options) for number, user in enumerate(asks))
    )
    await runs.drain(10)
    return sorted(late for one in followed for late in one)


async def follow(
    runs: Any, user: Any, model: Any, number: int, options: argparse.Namespace
) -> list[float]:
    """Milliseconds by which each word of one answer came later than the model had it."""
    from asgiref.sync import sync_to_async

    from chat.core.asking import Ask
    from chat.rights import Caller

    pause = options.pause
    await asyncio.sleep(number * options.spread / options.chats)
    ask = Ask(text=f"Say {number}", mode="no_notes", model=model.pk)
    caller = Caller(user_id=user.pk, token_id=await sync_to_async(token_of)(user))
    turn = await runs.start(ask, caller=caller)
    late, words = [], 0
    async with aclosing(runs.follow(turn.ids.run)) as events:
        async for event in events:
            if event.type != "delta":
                continue
            since = time.perf_counter() - Timed.begun[str(number)]
            first, words = words + 1, words + len(event.data["text"].split())
            late += [(since - word * pause) * 1000 for word in range(first, words + 1)]
    return late


def token_of(user: Any) -> int:
    from vault.models import ApiToken

    return ApiToken.objects.get_or_create(user=user, defaults={"digest": user.username})[0].pk


def at(values: list[float], share: float) -> float:
    """The value that this share of the sorted `values` stays under."""
    return values[min(int(len(values) * share), len(values) - 1)]


if __name__ == "__main__":
    main()
