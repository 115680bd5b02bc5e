"""Streams as servers in the field really send them: odd chunks, odd ends, odd letters."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from providers.backends.openai_chat import OpenAIChat
from providers.core.errors import (
    CutOff,
    ModelNotFound,
    Overloaded,
    ProtocolError,
    ProviderError,
    RateLimited,
    Unauthorized,
)
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    Endpoint,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    Usage,
    Withdrawal,
)
from tests.contracts.server import ModelServer, Reply, json_reply, serving
from tests.contracts.wires import ANTHROPIC, KEY, OLLAMA, OPENAI, PATIENT, Wire

pytestmark = pytest.mark.asyncio
REQUEST = ChatRequest("fake", (ChatMessage("user", "Why?"),), max_output_tokens=200)


def sse(*events: Any, done: bool = True) -> Reply:
    lines = [event if isinstance(event, str) else f"data: {json.dumps(event)}" for event in events]
    lines += ["data: [DONE]"] if done else []
    return Reply(["\n\n".join([*lines, ""]).encode()])


def chunk(content: Any = None, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    if content is not None:
        delta["content"] = content
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def usage(asked: int, written: int) -> dict[str, Any]:
    return {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}


async def hear(reply: Reply, wire: Wire = OPENAI) -> tuple[str, str, list[StreamPart]]:
    """The text and the reasoning that a reader ends up with, and all parts."""
    async with serving(reply) as server:
        parts = [part async for part in wire.chat(server).stream(REQUEST)]
    text = reasoning = ""
    for part in parts:
        if isinstance(part, Withdrawal):
            reasoning, text = reasoning + text, ""
        elif isinstance(part, ReasoningDelta):
            reasoning += part.text
        elif isinstance(part, TextDelta):
            text += part.text
    return text, reasoning, parts


async def test_nulls_comments_and_empty_choices_are_passed_over() -> None:
    text, _, parts = await hear(
        sse(
            {"id": "c", "choices": [], "prompt_filter_results": []},
            ": keep-alive comment",
            {"id": "c", "choices": [{"index": 0, "delta": {"role": "assistant", "content": None}}]},
            chunk(),
            chunk(""),
            chunk("One "),
            {"id": "c", "choices": None},
            'data:{"id": "c", "choices": [{"index": 0, "delta": {"content": "two "}}]}',
            {"id": "c", "choices": [{"index": 0, "delta": None, "finish_reason": None}]},
            {"id": "c", "choices": [{}]},
            chunk("three.", "stop"),
            {"id": "c", "choices": [], "usage": usage(11, 3)},
            done=False,
        )
    )
    assert text == "One two three."
    assert parts[-1] == Usage(11, 3, "end")


@pytest.mark.parametrize("odd", [5, "text", [1], None, {"choices": 5}, {"choices": [None, "x"]}])
async def test_chunks_of_another_kind_say_nothing(odd: Any) -> None:
    text, _, _ = await hear(sse(chunk("One "), odd, chunk("two.", "stop")))
    assert text == "One two."


async def test_carriage_returns_end_lines_too() -> None:
    reply = sse(chunk("One "), chunk("two.", "stop"))
    assert isinstance(reply.steps[0], bytes)
    reply.steps[0] = reply.steps[0].replace(b"\n", b"\r\n")
    assert (await hear(reply))[0] == "One two."


async def test_a_stream_without_figures_has_unknown_usage() -> None:
    _, _, parts = await hear(sse(chunk("No usage at all."), chunk(finish="stop")))
    assert parts[-1] == Usage(0, 0, "end", is_reported=False)


async def test_of_figures_in_every_chunk_the_last_count() -> None:
    first, last = chunk("Hi"), chunk("!", "stop")
    _, _, parts = await hear(sse({**first, "usage": usage(5, 1)}, {**last, "usage": usage(5, 2)}))
    assert parts[-1] == Usage(5, 2, "end")


@pytest.mark.parametrize(
    ("events", "text", "reason"),
    [
        ((chunk("The seal took th"), chunk(finish="length")), "The seal took th", "length"),
        ((chunk(""), chunk(finish="length")), "", "length"),
        ((chunk(""), chunk(finish="stop")), "", "end"),
        ((chunk("I can"), chunk(finish="content_filter")), "I can", "filter"),
        ((chunk(refusal="I cannot help."), chunk(finish="stop")), "I cannot help.", "end"),
        ((chunk("<think>only reasoning"), chunk(finish="length")), "", "length"),
    ],
)
async def test_why_it_stopped_is_told(events: tuple[Any, ...], text: str, reason: str) -> None:
    heard, _, parts = await hear(sse(*events))
    assert heard == text
    assert isinstance(parts[-1], Usage)
    assert parts[-1].stop_reason == reason


async def test_anthropic_refusals_are_told() -> None:
    reply = ANTHROPIC.reply(ANTHROPIC.begin, ANTHROPIC.stop("refusal"), ANTHROPIC.end)
    _, _, parts = await hear(reply, ANTHROPIC)
    assert parts == [Usage(11, 3, "filter")]


@pytest.mark.parametrize(
    ("events", "text", "secret"),
    [
        (("<th", "ink>secret ulvane [2]</th", "ink>\n\nThe seal [1]."), "The seal [1].", "ulvane"),
        (("secret wemrick", " more</think>", "Answer [1]."), "Answer [1].", "wemrick"),
        (("<think>a wemrick</think>", "b"), "b", "wemrick"),
    ],
)
async def test_reasoning_in_the_text(events: tuple[str, ...], text: str, secret: str) -> None:
    heard, reasoning, _ = await hear(sse(*map(chunk, events), chunk(finish="stop")))
    assert heard == text
    assert secret in reasoning


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
async def test_reasoning_in_a_field_of_its_own(field: str) -> None:
    events = (
        chunk(**{field: "secret yarmond"}),
        chunk(None, **{field: " more"}),
        chunk("The seal."),
    )
    heard, reasoning, _ = await hear(sse(*events, chunk(finish="stop")))
    assert heard == "The seal."
    assert reasoning == "secret yarmond more"


async def test_an_answer_about_the_tag_survives() -> None:
    said = ("In HTML you may write `<think>` or ", "```\n<think>x</think>\n```\n and it stays [1].")
    heard, reasoning, _ = await hear(sse(*map(chunk, said), chunk(finish="stop")))
    assert heard == "".join(said)
    assert reasoning == ""


@pytest.mark.parametrize(
    ("reply", "error", "kept"),
    [
        (Reply([b"<html><body>502 Bad Gateway</body></html>"]), ProtocolError, ""),
        (sse(chunk("The seal was worn [1] and"), done=False), CutOff, "The seal was worn [1] and"),
        (
            sse(chunk("The seal"), 'data: {"choices":[{"index":0,"delta":{"con', done=False),
            ProtocolError,
            "The seal",
        ),
        (
            sse(chunk("The seal"), {"error": {"message": "failed for sk-test-000000"}}),
            Overloaded,
            "The seal",
        ),
        (Reply([b"rate limited"], 429, {"retry-after": "60"}), RateLimited, ""),
        (json_reply({"error": "bad key sk-test-000000"}, status=401), Unauthorized, ""),
        (json_reply({"error": "model not found"}, status=404), ModelNotFound, ""),
        (json_reply({"choices": [{"message": {"content": "whole"}}]}), ProtocolError, ""),
    ],
)
async def test_what_arrived_is_kept_when_it_breaks(
    reply: Reply, error: type[ProviderError], kept: str
) -> None:
    text = ""
    async with serving(reply) as server:
        with pytest.raises(error) as caught:
            async for part in OPENAI.chat(server).stream(REQUEST):
                text += part.text if isinstance(part, TextDelta) else ""
    assert text == kept
    assert "sk-test-000000" not in str(caught.value)


async def test_anthropic_overloaded_in_the_middle_keeps_the_text() -> None:
    reply = ANTHROPIC.reply(ANTHROPIC.begin, ANTHROPIC.text("The seal"), ANTHROPIC.error("busy"))
    async with serving(reply) as server:
        stream = ANTHROPIC.chat(server).stream(REQUEST)
        assert await anext(stream) == TextDelta("The seal")
        with pytest.raises(Overloaded, match="busy"):
            await anext(stream)


async def test_escaped_halves_of_a_letter_are_joined_over_chunks() -> None:
    raw = (
        rb'data: {"id":"c","choices":[{"index":0,"delta":{"content":"\ud83d"}}]}',
        rb'data: {"id":"c","choices":[{"index":0,"delta":{"content":"\ude00 ok"}}]}',
        rb'data: {"choices":[{"delta":{"content":"\u0000 end"},"finish_reason":"stop"}]}',
        b"data: [DONE]",
        b"",
    )
    assert (await hear(Reply([b"\n\n".join(raw)])))[0] == "😀 ok end"


BASES = [
    ("/v1", "/v1/chat/completions"),
    ("/v1/", "/v1/chat/completions"),
    ("", "/v1/chat/completions"),
    ("/", "/v1/chat/completions"),
    ("/api/v1", "/api/v1/chat/completions"),
    ("/api/paas/v4", "/api/paas/v4/chat/completions"),
    ("/v1beta/openai/", "/v1beta/openai/chat/completions"),
    ("/v1/chat/completions", "/v1/chat/completions"),
]


@pytest.mark.parametrize(("base", "path"), BASES)
async def test_each_form_of_a_base_url_calls_one_address(base: str, path: str) -> None:
    from providers.core.base_urls import normalise_base_url

    async with serving(OPENAI.good("ok")) as server:
        root = normalise_base_url(f" {server.url}{base} ")
        chat = OpenAIChat(Endpoint("openai", root, "k", PATIENT, is_trusted=True))
        assert [part async for part in chat.stream(REQUEST)]
    assert server.received[0].path == path


async def test_anthropic_is_called_at_its_own_address_in_its_own_version() -> None:
    async with serving(ANTHROPIC.good("ok")) as server:
        assert [part async for part in ANTHROPIC.chat(server).stream(REQUEST)]
    (received,) = server.received
    assert received.path == "/v1/messages"
    assert "anthropic-version" in received.headers
    assert received.headers["authorization"] == f"Bearer {KEY}"


async def test_ollama_is_told_its_context_length() -> None:
    async with serving(OLLAMA.good("ok")) as server:
        assert [part async for part in OLLAMA.chat(server).stream(REQUEST)]
    (received,) = server.received
    assert received.path == "/api/chat"
    assert received.body["options"] == {"num_ctx": 8192, "num_predict": 200}


async def test_a_compatible_server_at_the_ollama_url_is_spoken_to_in_its_form() -> None:
    unknown = json_reply({"error": "404 page not found"}, status=404)
    async with serving(unknown, OPENAI.good("Compatible.")) as server:
        parts = [part async for part in OLLAMA.chat(server).stream(REQUEST)]
    assert TextDelta("Compatible.") in parts
    assert [received.path for received in server.received] == ["/api/chat", "/v1/chat/completions"]


async def test_chat_completions_at_ollamas_address_are_asked_for_at_their_own() -> None:
    async with serving(OPENAI.good("ignored"), OPENAI.good("Compatible.")) as server:
        parts = [part async for part in OLLAMA.chat(server).stream(REQUEST)]
    assert [part for part in parts if isinstance(part, TextDelta)] == [TextDelta("Compatible.")]
    assert [received.path for received in server.received] == ["/api/chat", "/v1/chat/completions"]


async def test_a_model_that_ollama_lacks_is_not_looked_for_elsewhere() -> None:
    missing = json_reply({"error": "model 'fake' not found"}, status=404)
    async with serving(missing) as server:
        with pytest.raises(ModelNotFound, match="'fake' not found"):
            await anext(OLLAMA.chat(server).stream(REQUEST))
    assert len(server.received) == 1


async def test_nothing_of_the_environment_travels_along(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "OPENAI_ORG_ID",
        "OPENAI_PROJECT_ID",
        "OPENAI_API_KEY",
        "OPENAI_ADMIN_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
    ):
        monkeypatch.setenv(name, "planted-elsewhere")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    for wire in (OPENAI, ANTHROPIC):
        async with serving(wire.good("ok")) as server:
            assert [part async for part in wire.chat(server).stream(REQUEST)]
        headers = server.received[0].headers
        assert "planted-elsewhere" not in str(headers)
        assert not {"openai-organization", "openai-project"} & set(headers)


async def test_many_streams_run_side_by_side() -> None:
    async def one(server: ModelServer) -> str:
        parts = [part async for part in OPENAI.chat(server).stream(REQUEST)]
        return "".join(part.text for part in parts if isinstance(part, TextDelta))

    reply = OPENAI.reply(OPENAI.begin, OPENAI.text("a"), 0.2, OPENAI.text("b"), OPENAI.stop(""))
    async with serving(reply) as server:
        assert await asyncio.gather(*(one(server) for _ in range(10))) == ["ab"] * 10
