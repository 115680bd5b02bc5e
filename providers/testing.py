"""Real implementations of the three protocols that need no model: for tests and demos.

They are registered as kind "fake", so that plain rows select them, also in a server that
runs as a process of its own. A chat model's *name* is then its script: steps separated by
`|`, each `verb` or `verb:argument`.

    cite            the first sentence of each passage with its number
    say:<text>      this text
    words:<n>       n words, one a delta
    again:<n>:<text>  this text n times, one a delta
    think:<text>    reasoning
    pause:<seconds> waits before each delta that follows
    stop:<reason>   end | length | tool | filter
    fail:<code>     raises the error with this code (providers/core/errors.py)
    tool:<name>:<query>  calls a tool, with {"query": <query>} or with JSON as it stands; `&`
                    between several calls them at once. What follows is said when their
                    results are there; without tools in the request it is passed over
    no-tools        refuses a request with tools, as a model does that cannot call any
    tokens:<factor>:<window>  counts tokens as the estimate times the factor, and refuses
                    what is longer than this window, whatever its row says
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import signal
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import cast, get_args

import numpy as np

from providers.core import errors
from providers.core.extractive import first_sentence
from providers.core.protocols import Vectors
from providers.core.text import clean
from providers.core.tokens import estimate_usage
from providers.core.types import (
    ChatRequest,
    EmbeddingSpec,
    Endpoint,
    RankedText,
    ReasoningDelta,
    RerankSpec,
    StopReason,
    StreamPart,
    TextDelta,
    ToolCall,
    Usage,
)
from providers.core.vectors import checked

Step = StreamPart | Exception | asyncio.Event | float
"""A part to yield, an exception to raise, an event to wait for, or seconds to sleep."""

_WORD = re.compile(r"\w+")
_IDEOGRAPHS = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]")


class FakeChat:
    """Plays scripts: those queued by `play` first, then its own, then the model's name.

    `requests` holds what was asked, oldest first.
    """

    queue: deque[list[Step]] = deque()
    requests: deque[ChatRequest] = deque(maxlen=100)

    def __init__(
        self, endpoint: Endpoint | None = None, *, script: Iterable[Step] | None = None
    ) -> None:
        self._script = None if script is None else list(script)

    @classmethod
    def play(cls, *steps: Step) -> None:
        """Queue a script for the next call of any FakeChat in this process."""
        cls.queue.append(list(steps))

    @classmethod
    def reset(cls) -> None:
        """Forget queued scripts and recorded requests."""
        cls.queue.clear()
        cls.requests.clear()

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamPart]:
        type(self).requests.append(request)
        if self.queue:
            steps = self.queue.popleft()
        elif self._script is not None:
            steps = self._script
        else:
            steps = parse_script(request)
        for step in steps:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, asyncio.Event):
                await step.wait()
            elif isinstance(step, float):
                await asyncio.sleep(step)
            else:
                yield step


def parse_script(request: ChatRequest) -> list[Step]:
    """The steps that the model name of `request` spells. Raises ModelNotFound."""
    pause, stop, asked = 0.0, "end", sum(len(m.content.split()) for m in request.messages)
    steps: list[Step] = []
    for part in _round_of(request):
        verb, _, argument = part.strip().partition(":")
        if verb == "tool":
            stop = "tool"
        if verb == "pause":
            pause = float(argument)
            continue
        if verb == "stop":
            stop = argument
            continue
        if verb == "tokens":
            asked = _counted(request, argument)
            continue
        for step in _steps_of(verb, argument, request):
            steps.extend((pause, step) if pause else (step,))
    if stop not in get_args(StopReason):
        raise errors.ModelNotFound(f"The fake model knows no stop reason {stop!r}.")
    written = sum(len(step.text.split()) for step in steps if isinstance(step, TextDelta))
    return [*steps, Usage(asked, written, cast("StopReason", stop))]


def _round_of(request: ChatRequest) -> list[str]:
    """The parts to play now: each `tool` ends a round, and each answered one begins the next."""
    parts = request.model.split("|")
    answered = sum(bool(message.calls) for message in request.messages)
    calling = [n for n, part in enumerate(parts) if part.strip().startswith("tool:")]
    if request.tools and request.tool_choice != "none" and answered < len(calling):
        first = calling[answered - 1] + 1 if answered else 0
        return parts[first : calling[answered] + 1]
    after = calling[answered - 1] + 1 if calling and answered else 0
    return [part for n, part in enumerate(parts) if n >= after and n not in calling]


def _counted(request: ChatRequest, argument: str) -> int:
    """Tokens of the request in a tokenizer of its own. Raises InputTooLong."""
    factor, _, window = argument.partition(":")
    asked = int(estimate_usage(request, ()).input_tokens * float(factor))
    if asked + request.max_output_tokens > int(window):
        raise errors.InputTooLong(f"The fake model counts {asked} tokens: more than it can read.")
    return asked


def _steps_of(verb: str, argument: str, request: ChatRequest) -> list[Step]:
    if verb == "cite":
        return _cited(request)
    if verb == "say":
        return [TextDelta(word) for word in re.findall(r"\s*\S+|\s+$", argument)]
    if verb == "words":
        return [TextDelta(f"word{number} ") for number in range(1, int(argument) + 1)]
    if verb == "again":
        count, _, text = argument.partition(":")
        return [TextDelta(f"{text} ")] * int(count)
    if verb == "think":
        return [ReasoningDelta(argument)]
    if verb == "tool":
        return [_call_of(spelled, n) for n, spelled in enumerate(argument.split("&"), start=1)]
    if verb == "no-tools":
        return [errors.NoTools("The fake model cannot call tools.")] if request.tools else []
    if verb == "fail":
        return [error_with_code(argument)]
    raise errors.ModelNotFound(
        f"The fake model knows no step {verb!r}: see providers/testing.py for its steps."
    )


def _call_of(spelled: str, number: int) -> ToolCall:
    name, _, given = spelled.strip().partition(":")
    arguments = given if given.startswith("{") else json.dumps({"query": given})
    return ToolCall(f"call_{number}", name, arguments)


def _cited(request: ChatRequest) -> list[Step]:
    if request.grounding is None:
        return [TextDelta(request.messages[-1].content[:80] if request.messages else "")]
    return [
        TextDelta(f"{first_sentence(passage.text)} [{passage.number}]\n\n")
        for passage in request.grounding.passages
    ] or [TextDelta("The notes say nothing about this.")]


def error_with_code(code: str) -> errors.ProviderError:
    """An error of the tree by its stable code. Raises ModelNotFound for an unknown one."""
    kinds: deque[type[errors.ProviderError]] = deque([errors.ProviderError])
    while kinds:
        kind = kinds.popleft()
        if kind.code == code:
            return kind(f"The fake model was told to fail with {code}.")
        kinds.extend(kind.__subclasses__())
    raise errors.ModelNotFound(f"The fake model knows no error {code!r}.")


def words_of(text: str) -> list[str]:
    """Words in lower case; scripts without spaces by pairs of characters."""
    words: list[str] = []
    for word in _WORD.findall(clean(text).casefold()):
        if _IDEOGRAPHS.search(word) and len(word) > 1:
            words.extend(word[i : i + 2] for i in range(len(word) - 1))
        else:
            words.append(word)
    return words


class HashEmbedder:
    """Bag of words hashed into `dimensions` buckets: texts with equal words are near.

    Deterministic across processes. `embedded` counts the passages embedded so far. A model
    named `… delay=20ms` takes that long for each passage, for tests of what happens
    meanwhile; one named `… kills=WORD` ends its process at a passage with that word.
    """

    def __init__(
        self,
        endpoint: Endpoint | None = None,
        spec: EmbeddingSpec | None = None,
        *,
        dimensions: int = 64,
        max_tokens: int = 512,
    ) -> None:
        self.dimensions = spec.dimensions if spec else dimensions
        self.max_tokens = spec.max_tokens if spec else max_tokens
        name = spec.model if spec else ""
        delay = re.search(r"delay=(\d+)ms", name)
        self._delay = int(delay.group(1)) / 1000 if delay else 0.0
        kills = re.search(r"kills=(\w+)", name)
        self._kills = kills.group(1) if kills else ""
        self.embedded = 0

    def count_tokens(self, text: str) -> int:
        return len(words_of(text))

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        for text in texts:
            if self.count_tokens(text) > self.max_tokens:
                raise errors.InputTooLong(f"A text has more than {self.max_tokens} tokens.")
            if self._kills and self._kills in text:
                os.kill(os.getpid(), signal.SIGKILL)
        await asyncio.sleep(self._delay * len(texts))
        self.embedded += len(texts)
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words_of(text) or ["(empty)"]:
                digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
                row[int.from_bytes(digest[:4], "big") % self.dimensions] += 1.0
        return checked(rows, count=len(texts), dimensions=self.dimensions)


class OverlapReranker:
    """Scores a text by the share of the query's words that it holds."""

    def __init__(self, endpoint: Endpoint | None = None, spec: RerankSpec | None = None) -> None:
        self.calls = 0

    async def rerank(self, query: str, texts: Sequence[str], *, top_n: int) -> list[RankedText]:
        self.calls += 1
        wanted = set(words_of(query))
        ranked = [
            RankedText(index, len(wanted & set(words_of(text))) / max(len(wanted), 1))
            for index, text in enumerate(texts)
        ]
        return sorted(ranked, key=lambda item: (-item.score, item.index))[:top_n]
