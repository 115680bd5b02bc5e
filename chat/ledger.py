"""The rows of a run: events appended by the second, its lease, its end, its replay."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import DatabaseError, DataError, IntegrityError, InterfaceError, transaction
from django.db.models.functions import Now

from chat.core.events import Event, EventType, RunIds, from_row, said_text, to_row
from chat.core.rendering import render_answer
from chat.models import Message, Run, RunEvent
from chat.notify import tell
from chat.rights import lost_to
from chat.sources import quotables_of
from chat.steps import end_open_steps

INTERRUPTED = "interrupted"
INTERRUPTED_TEXT = "The answer was interrupted: the server stopped while it was being written."
INTERRUPTED_MEND = "What was written is kept. Continue to have the rest."


@dataclass(frozen=True, slots=True)
class Standing:
    """What the rows say to the process that writes the answer."""

    is_ours: bool
    stop_wanted: bool = False
    user_is_active: bool = True
    sources_are_readable: bool = True


@dataclass(frozen=True, slots=True)
class Close:
    """How a run ended, as its message keeps it."""

    status: str
    text: str
    error_code: str = ""
    error: str = ""
    mend: str = ""
    cut_short: bool = False
    sources_added: bool = False
    usage: dict[str, int] = field(default_factory=dict)
    calls: list[dict[str, object]] = field(default_factory=list)
    citations: list[dict[str, object]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class News:
    """What was said in a run since it was last kept; `lease` in seconds from now."""

    run: UUID
    events: Sequence[Event]
    lease: float


def append_events(run_id: UUID, events: Sequence[Event], *, lease_seconds: float) -> Standing:
    """Keep `events`, renew the lease, and say how the run stands. One transaction."""
    return _append_all([News(run_id, events, lease_seconds)], waits=True)[run_id]


def append_news(news: Sequence[News]) -> list[Standing | Exception]:
    """As append_events, of many runs in one transaction.

    A run that another transaction holds, and all of them when one has a row that the
    database refuses, are kept one by one: an answer that is an error is that run's alone.
    """
    try:
        kept = _append_all(news, waits=False)
    except (DataError, IntegrityError):
        kept = {}
    return [kept[each.run] if each.run in kept else _append_one(each) for each in news]


def _append_one(news: News) -> Standing | Exception:
    try:
        return append_events(news.run, news.events, lease_seconds=news.lease)
    except (DatabaseError, InterfaceError) as error:
        return error


def _append_all(news: Sequence[News], *, waits: bool) -> dict[UUID, Standing]:
    """How each run stands now. Without `waits`, a run that is locked is left out."""
    with transaction.atomic():
        runs = _ours([each.run for each in news], waits=waits)
        own = [each for each in news if each.run in runs]
        _renew(own)
        _append({each.run: each.events for each in own})
        lost = lost_to({run.message_id: run.conversation.owner for run in runs.values()})
    standings = {
        run.pk: Standing(
            is_ours=True,
            stop_wanted=run.stop_wanted,
            user_is_active=run.conversation.owner.is_active,
            sources_are_readable=run.message_id not in lost,
        )
        for run in runs.values()
    }
    missing = [each.run for each in news if each.run not in runs] if waits else []
    return standings | {run_id: Standing(is_ours=False) for run_id in missing}


def _renew(news: Sequence[News]) -> None:
    by_lease: dict[float, list[UUID]] = defaultdict(list)
    for each in news:
        by_lease[each.lease].append(each.run)
    for seconds, run_ids in by_lease.items():
        until = Now() + timedelta(seconds=seconds)
        Run.objects.filter(pk__in=run_ids).update(lease_until=until)


def save_end(run_id: UUID, events: Sequence[Event], close: Close) -> bool:
    """Keep the message as `close` says, the last events and the end of the run.

    False when the run is not ours any more: it was deleted, or taken for dead and ended.
    """
    with transaction.atomic():
        run = _ours([run_id], waits=True).get(run_id)
        if run is None:
            return False
        _end(run, events, close)
    return True


def read_events(run_id: UUID, *, after: int, before: int | None = None) -> list[Event]:
    """Events with after < seq (< before), in order."""
    rows = RunEvent.objects.filter(run_id=run_id, last__gt=after)
    if before is not None:
        rows = rows.filter(first__lt=before)
    events = [from_row(row) for kept in rows for row in kept.events]
    return [e for e in events if e.seq > after and (before is None or e.seq < before)]


def read_news(run_id: UUID, *, after: int) -> tuple[list[Event], bool]:
    """New events, and whether the run goes on. A run whose process died ends here."""
    end_abandoned([run_id])
    is_active = Run.objects.active().filter(pk=run_id).exists()
    # Asked in this order: what was said before the end is not missed.
    return read_events(run_id, after=after), is_active


def want_stop(run_id: UUID) -> None:
    """Ask the process that writes the answer, whichever it is, to stop."""
    with transaction.atomic():
        Run.objects.active().filter(pk=run_id).update(stop_wanted=True)
        tell([run_id], stop=True)


def end_abandoned(run_ids: Iterable[UUID] | None = None) -> int:
    """End runs whose process no longer renews its lease; all text they kept stays."""
    abandoned = Run.objects.abandoned()
    if run_ids is not None:
        abandoned = abandoned.filter(pk__in=run_ids)
    ended = 0
    for run_id in list(abandoned.values_list("pk", flat=True)):
        with transaction.atomic():
            run = (
                Run.objects.abandoned()
                .select_for_update(skip_locked=True, of=("self",))
                .select_related("conversation", "message")
                .filter(pk=run_id)
                .first()
            )
            if run is not None:
                _interrupt(run)
                ended += 1
    return ended


def _interrupt(run: Run) -> None:
    events = read_events(run.pk, after=0)
    text = said_text(events)
    rendered = render_answer(text, quotables_of(run.message))
    citations = [citation.as_json() for citation in rendered.citations]
    said: list[Event] = []
    if not events:
        said.append(Event(1, EventType.SOURCES, no_sources()))
    last = Event(
        seq=len(events) + len(said) + 1,
        type=EventType.ERROR,
        data={
            "code": INTERRUPTED,
            "text": INTERRUPTED_TEXT,
            "mend": INTERRUPTED_MEND,
            "html": rendered.html,
        },
    )
    close = Close(
        status=Message.Status.INTERRUPTED,
        text=text,
        error_code=INTERRUPTED,
        error=INTERRUPTED_TEXT,
        mend=INTERRUPTED_MEND,
        citations=citations,
    )
    _end(run, [*said, last], close)


def no_sources() -> dict[str, Any]:
    """`sources` of a run that ended before anything was searched."""
    return {
        "queries": [],
        "passages": [],
        "arms": [],
        "timings": {},
        "notices": [],
        "searched": [],
        "mode": "",
        "model": "",
        "persona": "",
    }


def ids_of(run: Run) -> RunIds:
    return RunIds(run=run.pk, conversation=run.conversation_id, message=run.message_id)


def _ours(run_ids: Sequence[UUID], *, waits: bool) -> dict[UUID, Run]:
    """Those of the runs that still are active, locked, with their conversations' owners."""
    active = Run.objects.active().filter(pk__in=run_ids).order_by("pk")
    locked = active.select_for_update(of=("self",), skip_locked=not waits)
    return {run.pk: run for run in locked.select_related("conversation__owner")}


def _append(said: Mapping[UUID, Sequence[Event]]) -> None:
    """Keep what was said in each run, and tell it.

    A row that was kept although its process never heard so, because the line to the
    database broke, is said again with what came since: it takes the place of the first.
    """
    rows = [
        RunEvent(
            run_id=run_id,
            first=events[0].seq,
            last=events[-1].seq,
            events=[to_row(event) for event in events],
        )
        for run_id, events in said.items()
        if events
    ]
    RunEvent.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["run", "first"],
        update_fields=["last", "events"],
    )
    tell([row.run_id for row in rows])


def _end(run: Run, events: Sequence[Event], close: Close) -> None:
    Message.objects.filter(pk=run.message_id).update(
        status=close.status,
        text=close.text,
        error_code=close.error_code,
        error=close.error,
        error_mend=close.mend,
        cut_short=close.cut_short,
        sources_added=close.sources_added,
        usage=close.usage,
        calls=close.calls,
        citations=close.citations,
    )
    end_open_steps(run.message_id)
    Run.objects.filter(pk=run.pk).update(state=Run.State.ENDED)
    _append({run.pk: events})
    run.conversation.save(update_fields=["updated"])
