"""Many asks made one: who asks gets their own answer, or their own error."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from django.db import DataError, OperationalError

from chat.gathering import Gathered, seconds_to_beat

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


class Doubling:
    """Doubles numbers; 13 is refused, 0 breaks the database, and a negative one the code."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []

    def __call__(self, numbers: Sequence[int]) -> list[int | Exception]:
        self.batches.append(list(numbers))
        if 0 in numbers:
            raise OperationalError("away")
        if min(numbers) < 0:
            raise ArithmeticError("negative")
        return [DataError("refused") if number == 13 else number * 2 for number in numbers]


async def test_what_comes_within_a_moment_is_one_call() -> None:
    work = Doubling()
    gathered = Gathered(work, seconds=0.02)
    assert await asyncio.gather(*(gathered.ask(n) for n in range(1, 6))) == [2, 4, 6, 8, 10]
    assert work.batches == [[1, 2, 3, 4, 5]]


async def test_who_asks_while_a_call_runs_or_ends_is_answered_too() -> None:
    gathered = Gathered(Doubling(), seconds=0.001)

    async def ask_again_and_again(begin: int) -> list[int]:
        answers = []
        for number in range(begin, begin + 20):
            await asyncio.sleep(0.0004 * (number % 7))
            answers.append(await gathered.ask(number))
        return answers

    askers = [ask_again_and_again(begin) for begin in range(100, 1000, 100)]
    async with asyncio.timeout(60):
        answers = await asyncio.gather(*askers)
    assert answers == [[n * 2 for n in range(b, b + 20)] for b in range(100, 1000, 100)]


async def test_a_refused_one_fails_alone() -> None:
    gathered = Gathered(Doubling(), seconds=0.01)
    answers = await asyncio.gather(*map(gathered.ask, (12, 13, 14)), return_exceptions=True)
    assert (answers[0], answers[2]) == (24, 28)
    assert isinstance(answers[1], DataError)


@pytest.mark.parametrize(("number", "error"), [(0, OperationalError), (-1, ArithmeticError)])
async def test_a_broken_call_is_told_to_all_and_the_next_one_works(
    number: int, error: type[Exception]
) -> None:
    gathered = Gathered(Doubling(), seconds=0.01)
    answers = await asyncio.gather(*map(gathered.ask, (1, number)), return_exceptions=True)
    assert [type(answer) for answer in answers] == [error, error]
    assert await gathered.ask(2) == 4


async def test_who_went_away_takes_nothing_from_the_others() -> None:
    gathered = Gathered(Doubling(), seconds=0.02)
    gone = asyncio.create_task(gathered.ask(1))
    stays = asyncio.create_task(gathered.ask(2))
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == 4


async def test_all_wait_for_the_same_moments() -> None:
    assert seconds_to_beat(10.25, 1.0) == pytest.approx(0.75)
    assert seconds_to_beat(10.0, 0.5) == pytest.approx(0.5)
