"""What a failed reply means: a status, an error in a stream, a Retry-After header."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from providers.core.errors import (
    BadRequest,
    InputTooLong,
    ModelNotFound,
    NoTools,
    Overloaded,
    ProtocolError,
    ProviderError,
    RateLimited,
    Unauthorized,
    WrongAddress,
)

_MOST_DETAIL = 300
_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size)|too[_ ](?:long|many tokens)|maximum (?:sequence )?length"
    r"|less than \d+ tokens|exceeds? the (?:maximum|context|model|available)|input length"
    r"|maximum (?:number of )?tokens|reduce the (?:length|size)|token limit",
    re.IGNORECASE,
)
# Ollama, OpenRouter, vLLM, llama.cpp, DeepSeek, Mistral, Groq: each has its own words.
_NO_TOOLS = re.compile(
    r"(?:not|n't) (?:yet )?support (?:the use of )?(?:tool|function)"
    r"|(?:tool|function)[\w` -]{0,40} (?:is|are) not (?:supported|enabled|available)"
    r"|no endpoints found that support tool|requires --enable-auto-tool-choice"
    r"|tools param requires",
    re.IGNORECASE,
)
_TAGS = re.compile(r"<[^>]*>|\s+")
_TYPES: dict[str, type[ProviderError]] = {
    "authentication_error": Unauthorized,
    "permission_error": Unauthorized,
    "invalid_api_key": Unauthorized,
    "not_found_error": ModelNotFound,
    "model_not_found": ModelNotFound,
    "rate_limit_error": RateLimited,
    "rate_limit_exceeded": RateLimited,
    "insufficient_quota": RateLimited,
    "invalid_request_error": BadRequest,
    "request_too_large": InputTooLong,
    "context_length_exceeded": InputTooLong,
    "exceed_context_size_error": InputTooLong,
}


def error_for_status(
    status: int, *, body: Any, url: str, retry_after: float | None = None
) -> ProviderError:
    """The error for a reply with this HTTP status; `body` is its JSON or its text."""
    said = detail_of(body)
    place = f"{url} answered {status}"
    if status in {401, 403}:
        return Unauthorized(_sentence(f"{place}: the key was refused", said))
    if status != 429 and _NO_TOOLS.search(said):
        return NoTools(_sentence(f"{place}: the model cannot call tools", said))
    if status == 404:
        if "model" in said.lower():
            return ModelNotFound(_sentence(f"{place}: no such model", said))
        return WrongAddress(_sentence(f"{place}: nothing is there", said))
    if status == 429:
        return RateLimited(_sentence(f"{place}: too many calls", said), retry_after=retry_after)
    if 300 <= status < 400:
        return ProtocolError(f"{place}: a redirect. It was not followed; enter the final address.")
    if status >= 500 or status in {408, 409, 425}:
        return Overloaded(_sentence(f"{place}: it is in trouble", said), retry_after=retry_after)
    if status == 413 or _TOO_LONG.search(said):
        return InputTooLong(_sentence(f"{place}: the text is too long for the model", said))
    return BadRequest(_sentence(f"{place}: the request was refused", said))


def error_in_stream(body: Any, *, url: str) -> ProviderError:
    """The error for an error event in the middle of a stream that began with status 200."""
    said = detail_of(body)
    inner = body.get("error", body) if isinstance(body, dict) else {}
    names = [inner.get(key) for key in ("code", "type")] if isinstance(inner, dict) else []
    for name in names:
        if isinstance(name, int) and name >= 300:
            return error_for_status(name, body=body, url=url)
    kind = next((_TYPES[name] for name in names if name in _TYPES), Overloaded)
    if issubclass(kind, BadRequest) and _TOO_LONG.search(said):
        kind = InputTooLong
    if _NO_TOOLS.search(said):
        kind = NoTools
    return kind(_sentence(f"{url} broke off with an error", said))


def detail_of(body: Any) -> str:
    """What the provider itself said, in one line of at most 300 characters."""
    if isinstance(body, bytes):
        body = body.decode("utf-8", "replace")
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return _one_line(body)
    return _one_line(_message_in(body))


def seconds_to_wait(header: str | None, *, now: datetime | None = None) -> float | None:
    """Seconds of a Retry-After header (seconds or a date); None when there is none."""
    if not header:
        return None
    try:
        seconds = float(header)
        return max(seconds, 0.0) if isfinite(seconds) else None
    except ValueError:
        pass
    try:
        until = parsedate_to_datetime(header)
    except (ValueError, OverflowError):
        return None
    until = until if until.tzinfo else until.replace(tzinfo=UTC)
    return max((until - (now or datetime.now(UTC))).total_seconds(), 0.0)


def _message_in(body: Any) -> str:
    if isinstance(body, dict):
        for key in ("error", "message", "detail", "error_message", "msg"):
            if body.get(key):
                return _message_in(body[key])
        return ""
    if isinstance(body, list):
        return "; ".join(_message_in(item) for item in body[:3])
    return "" if body is None else str(body)


def _one_line(text: str) -> str:
    text = " ".join(_TAGS.sub(" ", text).split())
    return text if len(text) <= _MOST_DETAIL else f"{text[:_MOST_DETAIL]}…"


def _sentence(ours: str, theirs: str) -> str:
    return f"{ours}. It said: {theirs}" if theirs else f"{ours}."
