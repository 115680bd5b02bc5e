"""A step of the model as an event: for scripts its fields, for pages its line of the list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.core.events import EventType, RunIds
from chat.core.tools import READ, SEARCH, SIMILAR
from chat.models import Step
from chat.parts import Said
from chat.steps import DECISIONS, step_json

LABELS = {SEARCH: _("Search"), READ: _("Read"), SIMILAR: _("Notes like")}
ICONS = {SEARCH: "search", READ: "note", SIMILAR: "sources"}


@dataclass(frozen=True, slots=True)
class StepRow:
    """A step as the list shows it. `url` takes the reader's word while it is waited for."""

    number: int
    label: str
    icon: str
    what: str
    why: str
    state: str
    outcome: str
    milliseconds: int
    run: int | None
    url: str

    @property
    def is_asked(self) -> bool:
        return self.state == Step.State.ASKED

    @property
    def is_busy(self) -> bool:
        return self.state == Step.State.RUNNING

    @property
    def is_bad(self) -> bool:
        return self.state in (Step.State.FAILED, Step.State.REFUSED, Step.State.INTERRUPTED)

    @property
    def decisions(self) -> list[tuple[str, str]]:
        """What the reader may say, and its words."""
        return [(value, str(Step.Decision(value).label)) for value in DECISIONS]


def step_said(step: Step, ids: RunIds) -> Said:
    """What is told of a step in the state it is in."""
    data = step_json(step)
    row = step_row(data, conversation=ids.conversation, message=ids.message)
    html = render_to_string("chat/step.html", {"step": row})
    return Said(EventType.TOOL, {**data, "html": html})


def step_row(data: Mapping[str, Any], *, conversation: Any, message: Any) -> StepRow:
    """A step of step_json() for the page."""
    number = data["number"]
    return StepRow(
        number=number,
        label=str(LABELS.get(data["tool"], data["tool"])),
        icon=ICONS.get(data["tool"], "warning"),
        what=data["what"],
        why=data["why"],
        state=data["state"],
        outcome=_outcome(data),
        milliseconds=data["milliseconds"],
        run=data["retrieval_run"],
        url=reverse("decide_step", args=[conversation, message, number]),
    )


def _outcome(data: Mapping[str, Any]) -> str:
    """How it stands, in a few words."""
    found = data["found"]
    if data["state"] == Step.State.DONE and found:
        numbers = ", ".join(f"[{number}]" for number in found)
        count = ngettext("%(count)d passage", "%(count)d passages", len(found))
        return f"{count % {'count': len(found)}}: {numbers}"
    if data["state"] == Step.State.DONE:
        return str(_("nothing found"))
    if data["state"] == Step.State.REFUSED and data["decision"] == Step.Decision.TIME_OUT:
        return str(_("refused: nobody answered in time"))
    label = str(Step.State(data["state"]).label)
    return f"{label}: {data['said']}" if data["said"] else label
