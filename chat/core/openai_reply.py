"""An answer in the form of OpenAI's chat completions, whole or as chunks, and its errors.

Besides what that form has, a reply carries `sources`, `notices`, `conversation` and
`message`; clients that do not know them pass them over.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chat.core.events import Event, EventType, RunIds
from chat.core.marks import find_markers, split_prose

# HTTP status by the code of an answer that failed; 502: the model's server is at fault.
_STATUSES = {
    "limit_reached": 429,
    "rate_limited": 429,
    "suspended": 401,
    "rights_changed": 403,
    "input_too_long": 400,
    "not_configured": 503,
    "circuit_open": 503,
    "overloaded": 503,
    "interrupted": 503,
    "not_saved": 503,
    "silent": 504,
    "internal": 500,
}
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
# No second attempt helps before somebody changes something.
_FINAL = frozenset({"limit_reached", "suspended", "rights_changed", "not_configured"})


def error_json(status: int, code: str, text: str, *, param: str | None = None) -> dict[str, Any]:
    """An error as clients of this form read it."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": text, "type": kind, "param": param, "code": code}}


def status_of(code: str) -> int:
    """The HTTP status of an answer that failed with `code`."""
    return _STATUSES.get(code, 502)


def may_retry(code: str) -> bool:
    """Whether the same question may be answered a moment later."""
    return code not in _FINAL


def failure_json(event: Event) -> dict[str, Any]:
    """The error that ended an answer."""
    code = str(event.data["code"])
    words = " ".join(filter(None, (event.data.get("text"), event.data.get("mend"))))
    return error_json(status_of(code), code, words)


def is_failure(event: Event) -> bool:
    """Whether the answer ended with an error; a filter's end has a word of its own."""
    return event.type is EventType.ERROR and event.data.get("code") != "filtered"


@dataclass
class Reply:
    """An answer, told event by event. `origin` makes the addresses of notes whole."""

    ids: RunIds
    model: str
    origin: str
    adds_footnotes: bool = False
    notices: tuple[str, ...] = ()
    created: int = field(default_factory=lambda: int(time.time()))
    _passages: Sequence[Mapping[str, Any]] = ()
    _said: Mapping[str, Any] = field(default_factory=dict)
    _text: list[str] = field(default_factory=list)
    _is_repeating: bool = False

    def take(self, event: Event) -> str:
        """Take an event in; what a reader of the stream is to see of it now."""
        if event.type is EventType.SOURCES:
            self._said, self._passages = event.data, event.data["passages"]
        elif event.type is EventType.DELTA:
            return self._say(event.data["text"])
        elif event.type is EventType.RESET:
            return self._begin_anew(event)
        elif event.is_last:
            return self._end(event)
        return ""

    def whole(self, last: Event) -> dict[str, Any]:
        """The reply at once, after `last` was taken."""
        text = "".join(self._text)
        message = {
            "role": "assistant",
            "content": text,
            "refusal": None,
            "annotations": self._annotations(text, last),
        }
        choice = {"index": 0, "message": message, "logprobs": None, **_finish(last)}
        return {
            **self._frame("chat.completion"),
            "choices": [choice],
            "usage": _usage(last),
            **self._extras(last),
        }

    def chunk(self, delta: Mapping[str, Any]) -> dict[str, Any]:
        """A piece of the reply."""
        choice = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": None}
        return {**self._frame("chat.completion.chunk"), "choices": [choice]}

    def last_chunk(self, last: Event) -> dict[str, Any]:
        """Why the answer ended, and its sources."""
        choice = {"index": 0, "delta": {}, "logprobs": None, **_finish(last)}
        return {
            **self._frame("chat.completion.chunk"),
            "choices": [choice],
            **self._extras(last),
        }

    def usage_chunk(self, last: Event) -> dict[str, Any]:
        """The tokens, in a chunk of their own."""
        return {**self._frame("chat.completion.chunk"), "choices": [], "usage": _usage(last)}

    @property
    def _waits(self) -> bool:
        """Whether words are told at the end alone: where notes alone may speak, what was said
        is taken back when no passage bears it out, which a stream cannot do."""
        return self._said.get("mode") == "notes_only"

    def _say(self, text: str) -> str:
        self._text.append(text)
        return "" if self._is_repeating or self._waits else text

    def _begin_anew(self, event: Event) -> str:
        """What was said was reasoning; or it is said once more, with marks.

        Neither can be taken back from a stream: the first is set apart by an empty line, of
        the second only the sources are told.
        """
        was_streamed = any(self._text)
        self._text.clear()
        self._is_repeating = event.data.get("reason") == "sources_added"
        is_heard = was_streamed and not self._waits
        return "\n\n" if is_heard and not self._is_repeating else ""

    def _end(self, last: Event) -> str:
        rest = "".join(self._text) if self._waits else ""
        notes = self._footnotes(last) if self.adds_footnotes else ""
        self._text.append(notes)
        return rest + notes

    def _frame(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self.ids.message.hex}",
            "object": kind,
            "created": self.created,
            "model": self.model,
        }

    def _extras(self, last: Event) -> dict[str, Any]:
        stopped = ["This answer was stopped."] if last.type is EventType.STOPPED else []
        told = [str(last.data[name]) for name in ("text", "mend") if last.data.get(name)]
        return {
            "sources": self.sources(last),
            "citations": list(last.data.get("citations", ())),
            "notices": [*self.notices, *self._said.get("notices", ()), *stopped, *told],
            "answered_by": self._said.get("model", ""),
            "conversation": str(self.ids.conversation),
            "message": str(self.ids.message),
        }

    def sources(self, last: Event) -> list[dict[str, Any]]:
        """Every passage that was read, and whether the answer cites it."""
        cited = {each["n"] for each in last.data.get("citations", ())}
        return [
            {
                "n": each["number"],
                "cited": each["number"] in cited,
                "title": each["title"],
                "vault": each["vault"],
                "path": each["path"],
                "heading_path": each["heading_path"],
                "text": each["text"],
                "url": self._whole_url(each["url"]),
                "updated": each["updated"],
                "date": each["date"],
                "status": each["status"],
                "superseded_by": each["superseded_by"],
                "valid_until": each["valid_until"],
                "also_in": [f"{copy['vault']}/{copy['path']}" for copy in each["also_in"]],
            }
            for each in self._passages
        ]

    def _whole_url(self, url: str) -> str:
        return f"{self.origin}{url}" if url else ""

    def _footnotes(self, last: Event) -> str:
        cited = [source for source in self.sources(last) if source["cited"]]
        lines = [f"[{source['n']}] {_link(source)}" for source in cited]
        return "\n\n" + "\n\n".join(lines) if lines else ""

    def _annotations(self, text: str, last: Event) -> list[dict[str, Any]]:
        """The marks in `text` as OpenAI's own searches tell theirs."""
        sources = {source["n"]: source for source in self.sources(last) if source["cited"]}
        body = text.removesuffix(self._footnotes(last)) if self.adds_footnotes else text
        return [
            {"type": "url_citation", "url_citation": _url_citation(sources[number], *span)}
            for *span, numbers in marks_in(body, frozenset(sources))
            for number in numbers
        ]


def marks_in(text: str, numbers: frozenset[int]) -> list[tuple[int, int, tuple[int, ...]]]:
    """(start, end, numbers) of the marks in `text` that name one of `numbers`; not in code."""
    found, at = [], 0
    for piece, is_prose in split_prose(text):
        if is_prose:
            marks = find_markers(piece, exists=numbers.__contains__)
            found += [(at + m.start, at + m.end, m.numbers) for m in marks if m.numbers]
        at += len(piece)
    return found


def frame(data: Mapping[str, Any]) -> str:
    """A chunk as a server-sent event."""
    return f"data: {json.dumps(data)}\n\n"


def _finish(last: Event) -> dict[str, Any]:
    reason = "length" if last.data.get("cut_short") else "stop"
    if last.type is EventType.ERROR:
        reason = "content_filter"
    return {"finish_reason": reason}


def _usage(last: Event) -> dict[str, int]:
    used = last.data.get("usage", {})
    asked, written = used.get("input_tokens", 0), used.get("output_tokens", 0)
    return {
        "prompt_tokens": asked,
        "completion_tokens": written,
        "total_tokens": asked + written,
    }


def _link(source: Mapping[str, Any]) -> str:
    where = " > ".join(dict.fromkeys([source["title"], *source["heading_path"]]))
    plain = where.replace("[", "(").replace("]", ")")
    shown = f"[{plain}]({source['url']})" if source["url"] else plain
    return f"{shown} – {source['vault']}/{source['path']}"


def _url_citation(source: Mapping[str, Any], start: int, end: int) -> dict[str, Any]:
    return {
        "start_index": start,
        "end_index": end,
        "title": source["title"],
        "url": source["url"],
    }
