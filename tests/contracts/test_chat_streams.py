"""What every chat backend promises of a stream, whatever the server sends."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback

import pytest

from providers.core.errors import (
    CutOff,
    Overloaded,
    ProtocolError,
    ProviderError,
    Silent,
    Unreachable,
)
from providers.core.types import (
    TextDelta,
    TimeLimits,
    Usage,
)
from tests.contracts.server import MUTE, Reply, Step, json_reply, serving
from tests.contracts.talk import HASTY, REQUEST, collect, failure_of, reasoning_of, text_of
from tests.contracts.wires import KEY, WIRES, Wire

pytestmark = [pytest.mark.asyncio, pytest.mark.parametrize("wire", WIRES, ids=str)]


async def test_a_page_instead_of_a_stream_is_no_answer(wire: Wire) -> None:
    page = Reply([b"<html><body>Please sign in</body></html>"], 200, {"content-type": "text/html"})
    async with serving(page) as server:
        with pytest.raises(ProtocolError, match="text/html"):
            await collect(wire, server)


async def test_a_page_that_calls_itself_a_stream_is_no_answer(wire: Wire) -> None:
    text, error = await failure_of(wire, b"<html><body>502 Bad Gateway</body></html>")
    assert isinstance(error, ProtocolError)
    assert text == ""


async def test_an_empty_stream_is_no_answer(wire: Wire) -> None:
    text, error = await failure_of(wire)
    assert isinstance(error, ProtocolError)
    assert text == ""


async def test_a_clean_end_without_a_reason_is_a_cut(wire: Wire) -> None:
    text, error = await failure_of(wire, wire.begin, wire.text("Half an ans"))
    assert isinstance(error, CutOff)
    assert text == "Half an ans"


async def test_a_broken_line_keeps_the_text_and_is_not_tried_again(wire: Wire) -> None:
    async with serving(wire.reply(wire.begin, wire.text("Half"), 0.1, "cut")) as server:
        stream = wire.chat(server).stream(REQUEST)
        assert await anext(stream) == TextDelta("Half")
        with pytest.raises((Unreachable, CutOff)):
            await anext(stream)
    assert len(server.received) == 1


async def test_a_cut_after_the_reason_is_a_whole_answer(wire: Wire) -> None:
    async with serving(wire.reply(wire.begin, wire.text("Whole."), wire.stop(""), "cut")) as server:
        parts = await collect(wire, server)
    assert text_of(parts) == "Whole."
    assert isinstance(parts[-1], Usage)


async def test_a_server_that_never_hangs_up_does_not_hold_the_answer(wire: Wire) -> None:
    limits = TimeLimits(connect=2, first_content=5, between_content=0.2)
    reply = wire.reply(wire.begin, wire.text("Whole."), wire.stop(""), "hang")
    async with serving(reply) as server:
        parts = await asyncio.wait_for(collect(wire, server, limits=limits), 4)
    assert parts[-1] == Usage(11, 3, "end")


async def test_broken_json_keeps_the_text(wire: Wire) -> None:
    text, error = await failure_of(wire, wire.begin, wire.text("Half"), wire.broken, wire.stop(""))
    assert isinstance(error, ProtocolError)
    assert text == "Half"


async def test_json_cut_in_the_middle_keeps_the_text(wire: Wire) -> None:
    text, error = await failure_of(wire, wire.begin, wire.text("Half"), wire.text(" more")[:-9])
    assert isinstance(error, ProtocolError | CutOff)
    assert text == "Half"


async def test_an_error_in_the_stream_keeps_the_text(wire: Wire) -> None:
    text, error = await failure_of(
        wire, wire.begin, wire.text("Half"), wire.error(f"upstream failed for key {KEY}"), wire.end
    )
    assert isinstance(error, Overloaded)
    assert "upstream failed" in str(error)
    assert text == "Half"


async def test_silence_ends(wire: Wire) -> None:
    _text, error = await failure_of(wire, wire.begin, "hang", limits=HASTY)
    assert isinstance(error, Silent)


async def test_no_reply_at_all_ends(wire: Wire) -> None:
    async with serving(Reply(["hang"], status=MUTE)) as server:
        with pytest.raises(Silent):
            await collect(wire, server, limits=HASTY)


async def test_silence_after_some_text_ends_and_keeps_it(wire: Wire) -> None:
    text, error = await failure_of(wire, wire.begin, wire.text("Half"), "hang", limits=HASTY)
    assert isinstance(error, Silent)
    assert text == "Half"


async def test_keep_alives_are_not_content(wire: Wire) -> None:
    endless: list[Step] = [wire.keep_alive, 0.05] * 100
    _text, error = await failure_of(wire, wire.begin, *endless, limits=HASTY)
    assert isinstance(error, Silent)


async def test_a_slow_stream_is_not_cut(wire: Wire) -> None:
    limits = TimeLimits(connect=2, first_content=1, between_content=1)
    slow: list[Step] = []
    for number in range(8):
        slow += [wire.text(f"{number} "), 0.2]
    async with serving(wire.reply(wire.begin, *slow, wire.stop(""), wire.end)) as server:
        parts = await collect(wire, server, limits=limits)
    assert text_of(parts) == "0 1 2 3 4 5 6 7 "


async def test_redirects_are_not_followed(wire: Wire) -> None:
    async with serving(wire.good("secret")) as other:
        redirect = Reply([], 307, {"location": f"{other.url}/v1/chat/completions"})
        async with serving(redirect) as server:
            with pytest.raises(ProtocolError, match="redirect"):
                await collect(wire, server)
        assert other.received == []


async def test_a_flood_is_cut_at_the_limit(wire: Wire) -> None:
    flood: list[Step] = [wire.text("x" * 1000)] * 500
    async with serving(wire.reply(wire.begin, *flood, "hang")) as server:
        parts = await collect(wire, server, max_output_tokens=100)
        await asyncio.wait_for(server.client_left.wait(), 5)
    assert text_of(parts) == "x" * 1600
    usage = parts[-1]
    assert isinstance(usage, Usage)
    assert usage.stop_reason == "length"


async def test_the_token_limit_is_told(wire: Wire) -> None:
    steps = (wire.begin, wire.text("Cut off"), wire.stop(wire.length), wire.end)
    async with serving(wire.reply(*steps)) as server:
        assert (await collect(wire, server))[-1] == Usage(11, 3, "length")


async def test_letters_cut_between_reads_arrive_whole(wire: Wire) -> None:
    text = "Насос 好的 👩‍👩‍👧‍👦 naïve 🇺🇦."
    single = [bytes([byte]) for byte in _unescaped(wire.text(text))]
    async with serving(wire.reply(wire.begin, *single, wire.stop(""), wire.end)) as server:
        assert text_of(await collect(wire, server)) == text


async def test_halves_of_a_pair_are_joined_and_nul_is_dropped(wire: Wire) -> None:
    steps = (wire.text("\ud83d"), wire.text("\ude00 ok"), wire.text("\0 end"), wire.text("\ud83d"))
    async with serving(wire.reply(wire.begin, *steps, wire.stop(""), wire.end)) as server:
        text = text_of(await collect(wire, server))
    assert text == "😀 ok end\ufffd"
    text.encode()


async def test_reasoning_is_never_text(wire: Wire) -> None:
    steps = (wire.reasoning("secret plan"), wire.text("The seal [1]."))
    async with serving(wire.reply(wire.begin, *steps, wire.stop(""), wire.end)) as server:
        parts = await collect(wire, server)
    assert text_of(parts) == "The seal [1]."
    assert reasoning_of(parts) == "secret plan"


async def test_reasoning_inside_the_text_is_never_text(wire: Wire) -> None:
    pieces = ("<th", "ink>secret plan [2]</th", "ink>\n\nThe seal [1].")
    async with serving(wire.good(*pieces)) as server:
        parts = await collect(wire, server)
    assert text_of(parts) == "The seal [1]."
    assert reasoning_of(parts) == "secret plan [2]"


@pytest.mark.parametrize(
    "script",
    [
        "status 401",
        "status 429",
        "status 500",
        "status 400",
        "html",
        "empty",
        "no end",
        "cut",
        "broken",
        "error",
        "silence",
        "redirect",
        "refused port",
    ],
)
async def test_the_key_is_in_no_error_and_no_log(
    wire: Wire, script: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = f"bad key {KEY} of Bearer {KEY}"
    replies = {
        "html": Reply([said.encode()], 200, {"content-type": "text/html"}),
        "empty": wire.reply(),
        "no end": wire.reply(wire.begin, wire.text("x")),
        "cut": wire.reply(wire.begin, "cut"),
        "broken": wire.reply(wire.begin, wire.broken + said.encode()),
        "error": wire.reply(wire.begin, wire.error(said)),
        "silence": wire.reply("hang"),
        "redirect": Reply([], 307, {"location": "http://127.0.0.1:9/elsewhere"}),
        "refused port": wire.good("x"),
    }
    status = script.removeprefix("status ")
    reply = replies.get(script) or json_reply({"error": {"message": said}}, status=int(status))
    async with serving(reply) as server:
        if script == "refused port":
            server.port = 9
        with pytest.raises(ProviderError) as caught:
            await collect(wire, server, limits=HASTY)
    logging.getLogger("providers").error("The call failed", exc_info=caught.value)
    shown = "".join(traceback.format_exception(caught.value))
    assert KEY not in shown + str(caught.value) + repr(caught.value) + caught.value.mend
    assert KEY not in caplog.text
    assert caught.value.__cause__ is None


def _unescaped(raw: bytes) -> bytes:
    """The same JSON with its letters as UTF-8 instead of escapes."""
    text = raw.decode()
    start, end = text.index("{"), text.rindex("}") + 1
    document = json.dumps(json.loads(text[start:end]), ensure_ascii=False)
    return (text[:start] + document + text[end:]).encode()
