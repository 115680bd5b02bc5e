"""What model servers do wrong, and what must come of it: one row a fault, for all wires.

`docs/providers.md` shows these rows; `test_faults.py` plays each of them against each
backend, so that the document says what happens.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from providers.core.errors import (
    CutOff,
    InputTooLong,
    ModelNotFound,
    Overloaded,
    ProtocolError,
    ProviderError,
    RateLimited,
    Silent,
    Unauthorized,
    Unreachable,
    WrongAddress,
)
from providers.core.types import StopReason
from tests.contracts.server import MUTE, Reply, Step, json_reply
from tests.contracts.wires import Wire

Script = Callable[[Wire], list[Reply]]


@dataclass(frozen=True)
class Fault:
    """What the server does, and the outcome: an error, or an answer that ends with `stop`.

    `kept` is the text the reader has in the end; `calls` how often the server was asked.
    """

    name: str
    script: Script
    errors: tuple[type[ProviderError], ...] = ()
    kept: str = ""
    calls: int = 1
    stop: StopReason = "end"
    # Ollama's other form is tried where its own is not found.
    calls_of_ollama: int | None = None

    def __str__(self) -> str:
        return self.name

    def calls_of(self, wire: Wire) -> int:
        own = self.calls_of_ollama if wire.name == "ollama" else None
        return self.calls if own is None else own

    @property
    def outcome(self) -> str:
        """The outcome as the document says it."""
        if self.errors:
            return " or ".join(f"`{error.code}`" for error in self.errors)
        return {"end": "an answer", "length": "an answer, marked as cut short"}[self.stop]


def _refusal(status: int, said: str = "", **headers: str) -> Script:
    return lambda wire: [json_reply({"error": {"message": said}}, status=status, **headers)]


def _stream(*steps: Callable[[Wire], bytes | float | str]) -> Script:
    return lambda wire: [wire.reply(*(step(wire) for step in steps))]  # type: ignore[arg-type]


def _begin(wire: Wire) -> bytes:
    return wire.begin


def _text(text: str) -> Callable[[Wire], bytes]:
    return lambda wire: wire.text(text)


def _end(wire: Wire) -> bytes:
    return wire.stop("") + wire.end


def _bytewise(text: str) -> Script:
    """Every byte of the text in a read of its own, as UTF-8 and not as escapes."""

    def script(wire: Wire) -> list[Reply]:
        raw = wire.text("{}").replace(b"{}", text.encode())
        return [wire.reply(wire.begin, *(bytes([byte]) for byte in raw), _end(wire))]

    return script


def _page(wire: Wire) -> list[Reply]:
    return [Reply([b"<html>Please sign in</html>"], 200, {"content-type": "text/html"})]


def _keep_alives(wire: Wire) -> list[Reply]:
    endless: list[Step] = [wire.keep_alive, 0.05] * 100
    return [wire.reply(wire.begin, *endless)]


def _flood(wire: Wire) -> list[Reply]:
    return [wire.reply(wire.begin, *[wire.text("x" * 100)] * 500, "hang")]


def _two_refusals_then_an_answer(wire: Wire) -> list[Reply]:
    refusal = json_reply({"error": {"message": "slow"}}, status=429, **{"retry-after": "0.02"})
    return [refusal, refusal, wire.good("Fine.")]


FAULTS = (
    Fault("refuses the key (401, 403)", _refusal(401, "bad key"), (Unauthorized,)),
    Fault("does not know the model (404)", _refusal(404, "no such model"), (ModelNotFound,)),
    Fault(
        "has nothing at the address (404)",
        _refusal(404, "not found"),
        (WrongAddress,),
        calls_of_ollama=2,
    ),
    Fault(
        "says that the prompt is too long (400)",
        _refusal(400, "maximum context length is 4096 tokens"),
        (InputTooLong,),
    ),
    Fault("answers 429, then well", _two_refusals_then_an_answer, kept="Fine.", calls=3),
    Fault("answers 429 for good", _refusal(429), (RateLimited,), calls=3),
    Fault(
        "answers 429 with Retry-After over ten seconds",
        _refusal(429, **{"retry-after": "120"}),
        (RateLimited,),
    ),
    Fault("answers 500, 502, 503", _refusal(503), (Overloaded,), calls=3),
    Fault(
        "answers a redirect",
        lambda wire: [Reply([], 307, {"location": "http://127.0.0.1:9/"})],
        (ProtocolError,),
    ),
    Fault("sends an HTML page with 200", _page, (ProtocolError,)),
    Fault("sends an empty stream", _stream(), (ProtocolError,)),
    Fault("ends without a stop reason", _stream(_begin, _text("Half")), (CutOff,), "Half"),
    Fault(
        "breaks the connection",
        _stream(_begin, _text("Half"), lambda wire: 0.1, lambda wire: "cut"),
        (Unreachable, CutOff),
        "Half",
    ),
    Fault(
        "sends broken JSON",
        _stream(_begin, _text("Half"), lambda wire: wire.broken, _end),
        (ProtocolError,),
        "Half",
    ),
    Fault(
        "sends an error in the stream",
        _stream(_begin, _text("Half"), lambda wire: wire.error("trouble"), lambda wire: wire.end),
        (Overloaded,),
        "Half",
    ),
    Fault("accepts the call and says nothing", lambda wire: [Reply(["hang"], MUTE)], (Silent,)),
    Fault(
        "falls silent in the middle",
        _stream(_begin, _text("Half"), lambda wire: "hang"),
        (Silent,),
        "Half",
    ),
    Fault("sends keep-alives for ever", _keep_alives, (Silent,)),
    Fault("sends without end", _flood, kept="x" * 1600, stop="length"),
    Fault(
        "reaches its token limit",
        _stream(_begin, _text("Cut"), lambda wire: wire.stop(wire.length), lambda wire: wire.end),
        kept="Cut",
        stop="length",
    ),
    Fault("cuts letters between two reads", _bytewise("Насос 好的 🇺🇦"), kept="Насос 好的 🇺🇦"),
    Fault(
        "sends reasoning in a field of its own",
        _stream(_begin, lambda wire: wire.reasoning("a plan"), _text("The seal."), _end),
        kept="The seal.",
    ),
    Fault(
        "sends reasoning in the text, its tags cut over deltas",
        _stream(_begin, _text("<th"), _text("ink>a plan</th"), _text("ink>The seal."), _end),
        kept="The seal.",
    ),
    Fault(
        "breaks the connection after the stop reason",
        _stream(_begin, _text("Whole."), lambda wire: wire.stop(""), lambda wire: "cut"),
        kept="Whole.",
    ),
)
