"""What servers say of the models they have, in each of the forms they say it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from providers.core.errors import ProtocolError

Use = Literal["chat", "embeddings", "rerank", "other"]

LONGEST_NAME = 200
LARGEST_WINDOW = 2_000_000_000

_USES: Mapping[str, Use] = {
    "chat": "chat",
    "language": "chat",
    "llm": "chat",
    "vlm": "chat",
    "embedding": "embeddings",
    "embeddings": "embeddings",
    "rerank": "rerank",
    "reranker": "rerank",
}
# Where the server does not say, its names do.
_NAMES: tuple[tuple[re.Pattern[str], Use], ...] = (
    (re.compile(r"rerank", re.IGNORECASE), "rerank"),
    (re.compile(r"embed|(?:^|[/-])(?:bge|gte|e5)-", re.IGNORECASE), "embeddings"),
    (
        re.compile(
            r"whisper|\btts\b|dall-e|moderation|transcribe|realtime|\bsora|\bimage|\baudio"
            r"|babbage|davinci|-instruct-0914",
            re.IGNORECASE,
        ),
        "other",
    ),
)
_WINDOWS = ("context_length", "context_window", "max_model_len", "max_context_length")
_DATED = re.compile(r"-\d{8}$")


@dataclass(frozen=True, slots=True)
class ListedModel:
    """A model as its provider lists it. `context_window` in tokens, None where unsaid."""

    name: str
    use: Use
    label: str = ""
    context_window: int | None = None


def parse_models(reply: Any) -> tuple[ListedModel, ...]:
    """The models of a reply: `{"data": [...]}`, `{"models": [...]}` or a bare list.

    Raises ProtocolError when it is neither. Entries without a usable name are left out.
    """
    entries = reply
    if isinstance(reply, dict):
        entries = next((reply[key] for key in ("data", "models") if key in reply), None)
    if not isinstance(entries, list):
        raise ProtocolError("The reply has no list of models.")
    found = (_listed(entry) for entry in entries if isinstance(entry, dict))
    by_name = {model.name: model for model in found if model is not None}
    return tuple(sorted(by_name.values(), key=lambda model: model.name))


def is_listed(name: str, listed: Iterable[str]) -> bool:
    """Whether a list names this model, be it under the full name that `name` stands for.

    `llama3.2` is Ollama's `llama3.2:latest`; Anthropic lists `…-20250929` of `…`.
    """
    return any(
        other in {name, f"{name}:latest"} or _DATED.sub("", other) == name for other in listed
    )


def _listed(entry: Mapping[str, Any]) -> ListedModel | None:
    name = next((entry[key] for key in ("id", "name") if _is_name(entry.get(key))), None)
    if name is None:
        return None
    label = next((entry[key] for key in ("display_name", "name") if _is_name(entry.get(key))), "")
    return ListedModel(
        name=name,
        use=_use_of(entry, name),
        label="" if label == name else label,
        context_window=_window_of(entry),
    )


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()


def _use_of(entry: Mapping[str, Any], name: str) -> Use:
    kind = entry.get("type")
    # "model" is what some call everything: then the name decides.
    if isinstance(kind, str) and kind != "model":
        return _USES.get(kind.lower(), "other")
    return next((use for pattern, use in _NAMES if pattern.search(name)), "chat")


def _window_of(entry: Mapping[str, Any]) -> int | None:
    values = (entry.get(key) for key in _WINDOWS)
    whole = (it for it in values if isinstance(it, int) and not isinstance(it, bool))
    return next((value for value in whole if 0 < value < LARGEST_WINDOW), None)
