"""The steps of an answer as rows: begun, decided by the reader, ended, and told."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from chat.core.asking import Refused, not_found
from chat.core.tools import LONGEST_TEXT, LONGEST_WHY
from chat.database import in_database
from chat.models import Message, Step
from chat.notify import tell

# Without news, look again: covers a lost NOTIFY.
LOOK_AGAIN = 1.0
DECISIONS = (Step.Decision.ALLOW, Step.Decision.ALLOW_ALL, Step.Decision.REFUSE)
Bell = AbstractContextManager[asyncio.Event]


@dataclass(frozen=True, slots=True)
class Ended:
    """How a step ended: its passages by their numbers, and what is to be said of it."""

    state: str
    said: str = ""
    found: Sequence[int] = ()
    milliseconds: int = 0
    retrieval_run: int | None = None


def begin_step(message: UUID, tool: str, *, what: str, why: str, state: str) -> Step:
    """Keep the next step of an answer."""
    return Step.objects.create(
        message_id=message,
        number=Step.objects.filter(message_id=message).count() + 1,
        tool=tool[:60],
        what=what[: 2 * LONGEST_TEXT],
        why=why[:LONGEST_WHY],
        state=state,
    )


def run_step(step: Step) -> Step:
    """It was allowed: it is carried out now."""
    return _changed(step, state=Step.State.RUNNING)


def end_step(step: Step, ended: Ended) -> Step:
    """Keep how it ended."""
    return _changed(
        step,
        state=ended.state,
        said=ended.said,
        found=list(ended.found),
        milliseconds=ended.milliseconds,
        retrieval_run_id=ended.retrieval_run,
    )


def _changed(step: Step, **fields: Any) -> Step:
    for name, value in fields.items():
        setattr(step, name, value)
    step.save(update_fields=list(fields))
    return step


@transaction.atomic
def decide(message: Message, number: int, decision: object) -> None:
    """The reader's word on a step that waits for it. Raises Refused."""
    if decision not in DECISIONS:
        known = ", ".join(DECISIONS)
        raise Refused("bad_request", f"“decision” must be one of {known}.", status=400)
    step = Step.objects.select_for_update().filter(message=message, number=number).first()
    if step is None:
        raise not_found()
    if step.state != Step.State.ASKED or step.decision:
        raise Refused("decided", _("This search does not wait for you any more."))
    Step.objects.filter(pk=step.pk).update(decision=decision)
    run = getattr(message, "run", None)
    if run is not None:
        tell([run.pk])


async def wait_for_decision(step: Step, bell: Bell, *, seconds: float) -> str:
    """What the reader decides, from any tab and any process; after `seconds` TIME_OUT."""
    until = time.monotonic() + seconds
    with bell as news:
        while True:
            news.clear()
            is_over = time.monotonic() >= until
            if decision := await in_database(_decision_of, step.pk, is_over=is_over):
                return decision
            left = max(until - time.monotonic(), 0.0)
            try:
                async with asyncio.timeout(min(left, LOOK_AGAIN)):
                    await news.wait()
            except TimeoutError:
                continue


@transaction.atomic
def _decision_of(step_id: int, *, is_over: bool) -> str:
    """The decision; once the time `is_over` none is taken any more."""
    step = Step.objects.select_for_update().get(pk=step_id)
    if not step.decision and is_over:
        step.decision = Step.Decision.TIME_OUT
        step.save(update_fields=["decision"])
    return step.decision


def end_open_steps(message_id: UUID) -> None:
    """What was still going on when an answer ended has ended too."""
    open_steps = Step.objects.filter(message_id=message_id, state__in=Step.OPEN)
    open_steps.update(state=Step.State.INTERRUPTED)


def step_json(step: Step) -> dict[str, Any]:
    """A step as events, pages and files have it."""
    return {
        "number": step.number,
        "tool": step.tool,
        "what": step.what,
        "why": step.why,
        "state": step.state,
        "decision": step.decision,
        "said": step.said,
        "found": list(step.found),
        "milliseconds": step.milliseconds,
        "retrieval_run": step.retrieval_run_id,
    }
