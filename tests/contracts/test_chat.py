"""What every chat backend promises of a call, over a real connection."""

from __future__ import annotations

import asyncio
import json

import pytest

from providers.core.errors import (
    InputTooLong,
    ModelNotFound,
    Overloaded,
    ProviderError,
    RateLimited,
    Unauthorized,
    WrongAddress,
)
from providers.core.types import (
    TextDelta,
    Usage,
)
from tests.contracts.server import Reply, json_reply, serving
from tests.contracts.talk import REQUEST, collect, text_of
from tests.contracts.wires import KEY, WIRES, Wire

pytestmark = [pytest.mark.asyncio, pytest.mark.parametrize("wire", WIRES, ids=str)]


async def test_a_good_stream_ends_with_its_usage(wire: Wire) -> None:
    async with serving(wire.good("Hello ", "world.")) as server:
        parts = await collect(wire, server)
    assert text_of(parts) == "Hello world."
    assert parts[-1] == Usage(11, 3, "end")
    assert sum(isinstance(part, Usage) for part in parts) == 1


async def test_everything_said_reaches_the_server(wire: Wire) -> None:
    async with serving(wire.good("ok")) as server:
        await collect(wire, server, temperature=0.25)
        await collect(wire, server)
    with_temperature, without = (received.body for received in server.received)
    said = json.dumps(without)
    assert all(text in said for text in ("Why?", "Because.", "Really?", "Be brief.", "fake-model"))
    assert "500" in said
    assert "temperature" not in said
    assert with_temperature.get("options", with_temperature)["temperature"] == 0.25
    headers = server.received[0].headers
    assert headers.get("x-api-key") == KEY or headers["authorization"] == f"Bearer {KEY}"


async def test_the_first_words_arrive_while_the_rest_is_written(wire: Wire) -> None:
    async with serving(wire.reply(wire.begin, wire.text("Hello"), "hang")) as server:
        stream = wire.chat(server).stream(REQUEST)
        assert await anext(stream) == TextDelta("Hello")
        await stream.aclose()  # type: ignore[attr-defined]


async def test_closing_the_stream_ends_the_call(wire: Wire) -> None:
    async with serving(wire.reply(wire.begin, wire.text("Hello"), "hang")) as server:
        stream = wire.chat(server).stream(REQUEST)
        await anext(stream)
        assert not server.client_left.is_set()
        await stream.aclose()  # type: ignore[attr-defined]
        await asyncio.wait_for(server.client_left.wait(), 60)


async def test_cancelling_the_reader_ends_the_call(wire: Wire) -> None:
    async with serving(wire.reply(wire.begin, wire.text("Hello"), "hang")) as server:
        task = asyncio.create_task(collect(wire, server))
        while not server.received:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.client_left.wait(), 60)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, Unauthorized),
        (403, Unauthorized),
        (404, ModelNotFound),
        (413, InputTooLong),
        (418, ProviderError),
    ],
)
async def test_a_permanent_refusal_is_told_at_once(
    wire: Wire, status: int, error: type[ProviderError]
) -> None:
    body = {"error": {"message": f"model refused, key {KEY} is bad"}}
    async with serving(json_reply(body, status=status)) as server:
        with pytest.raises(error) as caught:
            await collect(wire, server)
    assert len(server.received) == 1
    assert caught.value.permanent
    assert str(status) in str(caught.value)
    assert "model refused" in str(caught.value)


async def test_a_missing_address_names_the_url_that_was_called(wire: Wire) -> None:
    async with serving(json_reply({"error": "not found"}, status=404)) as server:
        with pytest.raises(WrongAddress, match=server.url):
            await collect(wire, server)


async def test_a_prompt_over_the_window_is_told_as_such(wire: Wire) -> None:
    said = "This model's maximum context length is 4096 tokens."
    async with serving(json_reply({"error": {"message": said}}, status=400)) as server:
        with pytest.raises(InputTooLong, match="maximum context length"):
            await collect(wire, server)


@pytest.mark.parametrize(("status", "error"), [(429, RateLimited), (500, Overloaded)])
async def test_trouble_before_the_first_word_is_tried_three_times(
    wire: Wire, status: int, error: type[ProviderError]
) -> None:
    async with serving(Reply([], status, {})) as server:
        with pytest.raises(error):
            await collect(wire, server)
    assert len(server.received) == 3


async def test_a_short_wait_that_the_server_asks_for_is_granted(wire: Wire) -> None:
    refusal = json_reply({"error": {"message": "slow down"}}, status=429, **{"retry-after": "0.05"})
    async with serving(refusal, wire.good("Fine.")) as server:
        assert text_of(await collect(wire, server)) == "Fine."
    assert len(server.received) == 2


async def test_a_long_wait_is_told_instead_of_slept(wire: Wire) -> None:
    async with serving(Reply([], 429, {"retry-after": "120"})) as server:
        with pytest.raises(RateLimited) as caught:
            await collect(wire, server)
    assert caught.value.retry_after == 120
    assert len(server.received) == 1
