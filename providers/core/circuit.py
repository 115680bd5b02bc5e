"""When a provider that keeps failing is left alone, and for how long: pure state.

Closed: calls go through. Open: calls fail at once. Half open: the time is over, and one
call may try; its outcome closes the circuit or opens it again for twice as long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

FAILURES_TO_OPEN = 5
FIRST_SECONDS = 15.0
LONGEST_SECONDS = 600.0
LONGEST_ASKED_SECONDS = 3600.0
"""A provider's Retry-After is obeyed up to an hour: one that asks for a year is mistaken."""

_MOST_REASON = 300


@dataclass(frozen=True, slots=True)
class Circuit:
    """`open_until` is in seconds since the epoch; `openings` counts since the last success."""

    failures: int = 0
    openings: int = 0
    open_until: float = 0.0
    reason: str = ""

    def is_open(self, now: float) -> bool:
        return now < self.open_until

    def is_half_open(self, now: float) -> bool:
        return self.openings > 0 and not self.is_open(now)

    @property
    def is_clean(self) -> bool:
        """Whether the last call went well: there is nothing to forget."""
        return self == Circuit()


def after_failure(
    circuit: Circuit, *, now: float, reason: str, retry_after: float | None = None
) -> Circuit:
    """The circuit after a transient failure; `retry_after` is what the provider asked for,
    in seconds, when it is more than a call may wait."""
    failed = replace(circuit, failures=circuit.failures + 1, reason=reason[:_MOST_REASON])
    if retry_after is not None:
        until = now + min(retry_after, LONGEST_ASKED_SECONDS)
        return replace(
            failed, openings=max(circuit.openings, 1), open_until=max(until, circuit.open_until)
        )
    if circuit.is_open(now):
        # A call that had begun before: it says nothing new.
        return circuit
    if circuit.openings or failed.failures >= FAILURES_TO_OPEN:
        return replace(
            failed,
            openings=circuit.openings + 1,
            open_until=now + min(FIRST_SECONDS * 2**circuit.openings, LONGEST_SECONDS),
        )
    return failed
