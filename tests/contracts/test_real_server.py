"""Our backends and a real model server: protocol and plumbing, never the answer's quality."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from providers.backends.anthropic_messages import AnthropicMessages
from providers.backends.ollama import OllamaChat
from providers.backends.openai_chat import OpenAIChat
from providers.core.errors import InputTooLong
from providers.core.protocols import ChatProvider
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    Endpoint,
    StreamPart,
    TextDelta,
    TimeLimits,
    ToolCall,
    ToolSpec,
    Usage,
)
from tests.contracts.processes import python_server

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]
LIMITS = TimeLimits(connect=5, first_content=100, between_content=60)
FORMS = pytest.mark.parametrize("form", ["openai", "anthropic", "ollama"])


@dataclass(frozen=True)
class RealServer:
    url: str
    log: Path

    def chat(self, form: str) -> ChatProvider:
        if form == "anthropic":
            return AnthropicMessages(Endpoint(form, self.url, "none", LIMITS, is_trusted=True))
        if form == "ollama":
            return OllamaChat(Endpoint(form, self.url, "", LIMITS, is_trusted=True))
        return OpenAIChat(Endpoint(form, f"{self.url}/v1", "none", LIMITS, is_trusted=True))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealServer]:
    """llama.cpp with SmolLM2 on a free port, in a process of its own."""
    log = tmp_path_factory.mktemp("model") / "server.log"
    with python_server("tests.contracts.real_server", "{port}", log=log) as port:
        yield RealServer(f"http://127.0.0.1:{port}", log)


def ask(text: str, *, tokens: int) -> ChatRequest:
    return ChatRequest(
        "smollm2",
        (ChatMessage("user", text),),
        system="Be brief.",
        max_output_tokens=tokens,
        temperature=0.0,
    )


@FORMS
async def test_an_answer_is_streamed_and_ends_with_its_usage(server: RealServer, form: str) -> None:
    request = ask("Write about the sea.", tokens=6)
    parts: list[StreamPart] = [part async for part in server.chat(form).stream(request)]
    texts = [part.text for part in parts if isinstance(part, TextDelta)]
    assert len(texts) > 1
    assert "".join(texts).strip()
    usage = parts[-1]
    assert isinstance(usage, Usage)
    assert usage.is_reported
    assert usage.stop_reason == "length"
    assert 0 < usage.output_tokens <= 6


@FORMS
async def test_calls_of_tools_and_their_results_are_taken(server: RealServer, form: str) -> None:
    spec = ToolSpec("search_notes", "Searches.", {"type": "object", "properties": {}})
    call = ToolCall("c1", "search_notes", "{}")
    asked = ask("Search the notes for the pump seal.", tokens=12)
    said = (
        ChatMessage("assistant", "", calls=(call,)),
        ChatMessage("tool", "The seal was worn out.", answers=call),
    )
    request = replace(asked, messages=(*asked.messages, *said), tools=(spec,))
    parts = [part async for part in server.chat(form).stream(request)]
    assert "".join(part.text for part in parts if isinstance(part, TextDelta)).strip()
    assert isinstance(parts[-1], Usage)


@FORMS
async def test_closing_the_stream_frees_the_server(server: RealServer, form: str) -> None:
    before = server.log.read_text().count("cancel task")
    stream = server.chat(form).stream(ask("Count to a thousand.", tokens=2000))
    assert isinstance(await anext(stream), TextDelta)
    await stream.aclose()  # type: ignore[attr-defined]
    # The only slot is free again: the next answer does not wait for two thousand tokens.
    after = [part async for part in server.chat(form).stream(ask("Hello.", tokens=1))]
    assert isinstance(after[-1], Usage)
    assert server.log.read_text().count("cancel task") > before


@FORMS
async def test_a_prompt_over_the_window_is_refused_in_words(server: RealServer, form: str) -> None:
    with pytest.raises(InputTooLong, match="context"):
        await anext(server.chat(form).stream(ask("word " * 6000, tokens=1)))
