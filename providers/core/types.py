"""What is said to a model and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["user", "assistant", "tool"]
ToolChoice = Literal["auto", "none"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is told of it. `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model asks for a tool; arguments are its JSON text, which may be broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One side of the conversation so far.

    `calls` are the tools that an assistant's message asked for. A message of role "tool"
    is the result of the call `answers`; `is_failure` says that there is none, and its
    content why.
    """

    role: Role
    content: str
    calls: tuple[ToolCall, ...] = ()
    answers: ToolCall | None = None
    is_failure: bool = False


@dataclass(frozen=True, slots=True)
class GroundingPassage:
    """A numbered passage of a vault, as the answer may cite it. `headings` stand above it."""

    number: int
    title: str
    text: str
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Grounding:
    """The question and its passages in structured form.

    Model servers read the same from the prompt; the extractive backend, which has no
    model, reads it from here.
    """

    question: str
    passages: tuple[GroundingPassage, ...]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One call to a chat model. Sampling arguments are sent only when set.

    With the choice "none" the model knows its tools, as earlier messages may call them,
    but must answer without.
    """

    model: str
    messages: tuple[ChatMessage, ...]
    system: str = ""
    max_output_tokens: int = 2048
    temperature: float | None = None
    context_window: int = 8192
    grounding: Grounding | None = None
    tools: tuple[ToolSpec, ...] = ()
    tool_choice: ToolChoice = "auto"


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """A piece of the model's reasoning: never part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """All text so far was reasoning: forget it, the answer begins after this part.

    Some servers swallow the opening tag of a model's reasoning, so that only the closing
    one tells that what was streamed until then is no answer.
    """


StopReason = Literal["end", "length", "tool", "filter"]


@dataclass(frozen=True, slots=True)
class Usage:
    """The last thing a stream yields: tokens, and why the model stopped.

    `is_reported` is False when the provider sent no figures: the tokens are then unknown,
    which is not the same as none.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    stop_reason: StopReason = "end"
    is_reported: bool = True


StreamPart = TextDelta | ReasoningDelta | Withdrawal | ToolCall | Usage


@dataclass(frozen=True, slots=True)
class RankedText:
    """A text's place in the caller's list and the score a reranker gave it."""

    index: int
    score: float


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds a provider may stay silent. Keep-alives do not count as content."""

    connect: float = 5.0
    first_content: float = 120.0
    between_content: float = 60.0
    # The pause before the first retry; the second waits twice as long.
    retry_pause: float = 0.5


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a backend sends its calls. `key` never appears in a repr.

    `is_trusted` says that the base URL comes from the environment: whoever controls that
    may name a private address without listing it.
    """

    kind: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    limits: TimeLimits = TimeLimits()
    is_trusted: bool = False


@dataclass(frozen=True, slots=True)
class EmbeddingSpec:
    """One embedding model: its name at the provider and what its vectors look like."""

    model: str
    dimensions: int
    max_tokens: int = 512
    query_prefix: str = ""
    passage_prefix: str = ""


@dataclass(frozen=True, slots=True)
class RerankSpec:
    """One rerank model; `shape` is the wire form its server speaks."""

    model: str
    shape: str = "cohere"
