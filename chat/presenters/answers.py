"""Questions and answers as the thread shows them, with their passages and how they were found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from chat.continuing import can_continue
from chat.core.rendering import lead_to_cards
from chat.models import AnswerMode, Conversation, Message, ToolUse
from chat.presenters.after import After, after_answers
from chat.presenters.cards import (
    NearNote,
    NoteNow,
    SourceCard,
    card_id,
    near_note,
    notes_now,
    source_card,
)
from chat.presenters.versions import Versions, versions_in
from chat.step_events import StepRow, step_row
from chat.threads import thread
from retrieval.models import RetrievalRun
from vault.access import visible_to

_Now = Mapping[tuple[str, int], NoteNow]
# What fits the place of a question on a phone; chat/static/chat/thread.js has the same.
LONG_QUESTION, LONG_LINES = 600, 8
ARM_LABELS = {
    "lexical": _("keyword"),
    "keyword": _("keyword"),
    "vector": _("meaning"),
    "meaning": _("meaning"),
    "semantic": _("meaning"),
    "code": _("code"),
    "note": _("whole notes"),
    "title": _("title"),
    "rerank": _("reranking"),
    "condense": _("rewriting"),
}
PURPOSE_LABELS = {
    "answer": _("writing the answer"),
    "embed_query": _("embedding the question"),
    "condense": _("rewriting the question"),
    "rerank": _("reranking"),
}
TIMING_LABELS = {
    "condense": _("rewriting the question"),
    "embed": _("embedding the question"),
    "search": _("searching"),
    "rerank": _("reranking"),
    "expand": _("reading around the hits"),
}


@dataclass(frozen=True, slots=True)
class CallRow:
    """A call to a model that an answer took. `cost` is in USD; 0 where no price is known."""

    label: str
    model: str
    input_tokens: int
    output_tokens: int
    milliseconds: int
    cost: Decimal
    failed: str


@dataclass(frozen=True, slots=True)
class ArmRow:
    label: str
    ran: bool
    reason: str
    found: int
    path: str


@dataclass(frozen=True, slots=True)
class Found:
    """How the passages were found. Timings are milliseconds. `run`: the kept search's id."""

    queries: tuple[str, ...]
    vaults: tuple[str, ...]
    arms: tuple[ArmRow, ...]
    timings: tuple[tuple[str, int], ...]
    milliseconds: int
    notices: tuple[str, ...]
    run: int = 0

    @property
    def arm_names(self) -> list[str]:
        """The arms that ran and found something."""
        return list(dict.fromkeys(arm.label for arm in self.arms if arm.ran and arm.found))


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, finished or being written. `run_id` is set while it is being written."""

    id: str
    conversation_id: UUID
    status: str
    html: SafeString
    text: str
    error: str
    error_code: str
    mend: str
    is_withheld: bool
    cut_short: bool
    mode: str
    model: str
    persona: str
    tokens: str
    notices: tuple[str, ...]
    sources: tuple[SourceCard, ...]
    cited_numbers: frozenset[int]
    hidden_numbers: tuple[int, ...]
    run_id: str = ""
    created: datetime | None = None
    sources_added: bool = False
    calls: tuple[CallRow, ...] = ()
    nearest: tuple[NearNote, ...] = ()
    found: Found | None = None
    versions: Versions | None = None
    after: After | None = None
    tool_use: str = ToolUse.NEVER
    steps: tuple[StepRow, ...] = ()

    @property
    def steps_are_open(self) -> bool:
        """Whether the list is shown whole: while it goes on."""
        return self.is_running or any(step.is_asked for step in self.steps)

    @property
    def tool_use_label(self) -> str:
        return str(ToolUse(self.tool_use).label)

    @property
    def is_running(self) -> bool:
        return self.status == Message.Status.RUNNING

    @property
    def can_continue(self) -> bool:
        """Whether it ended early, with something to go on from."""
        is_there = not self.is_withheld and not self.is_running
        return is_there and can_continue(self.status, self.text, cut_short=self.cut_short)

    @property
    def found_nothing(self) -> bool:
        """The notes were searched to the end, and none of their passages fits."""
        is_whole = self.status == Message.Status.DONE and not self.is_withheld
        searched = self.found is not None and bool(self.found.queries)
        return is_whole and searched and not self.sources and not self.hidden_sources

    @property
    def hidden_sources(self) -> int:
        return len(self.hidden_numbers)

    @property
    def mode_label(self) -> str:
        return str(AnswerMode(self.mode).label)

    @property
    def cited(self) -> list[SourceCard]:
        return [source for source in self.sources if source.number in self.cited_numbers]

    @property
    def read(self) -> list[SourceCard]:
        return [source for source in self.sources if source.number not in self.cited_numbers]

    @property
    def note_count(self) -> int:
        return len({source.url.partition("?")[0] for source in self.sources})

    @property
    def vault_names(self) -> list[str]:
        return list(dict.fromkeys(source.where.split(" › ")[0] for source in self.sources))

    @property
    def markdown(self) -> str:
        """The text with its list of sources, to paste elsewhere."""
        lines = [f"[{s.number}] {s.title}, {s.path}" for s in self.cited]
        sources = "\n\n" + str(_("Sources:")) + "\n\n" + "\n".join(lines) if lines else ""
        return self.text.strip() + sources


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its answer, in the versions that are shown."""

    id: str
    conversation_id: UUID
    question: str
    answer: Answer | None = None
    versions: Versions | None = None

    @property
    def is_long(self) -> bool:
        """Whether the question fills more than its place: its rest is shown on demand."""
        return len(self.question) > LONG_QUESTION or self.question.count("\n") > LONG_LINES


def turns_of(conversation: Conversation, user: User, *, at: UUID | None = None) -> list[Turn]:
    """The turns of the branch that is shown, oldest first; `at` chooses another one."""
    messages = thread(conversation, user, at=at)
    places: dict[str | None, list[str]] = defaultdict(list)
    for message in messages:
        places[message["parent"]].append(message["id"])
    runs = _retrieval_runs(messages)
    names = dict(visible_to(user).values_list("slug", "name"))
    now = notes_now(message["id"] for message in messages if message["active"])
    turns: list[Turn] = []
    for message in messages:
        if not message["active"]:
            continue
        versions = versions_in(message["id"], places[message["parent"]])
        if message["role"] == Message.Role.USER:
            turns.append(Turn(message["id"], conversation.pk, message["text"], versions=versions))
        elif turns:
            answer = replace(_answer(conversation.pk, message, now), versions=versions)
            turns[-1] = replace(turns[-1], answer=answer)
    return _with_after([_with_found(turn, runs, names) for turn in turns], user)


def _with_after(turns: list[Turn], user: User) -> list[Turn]:
    """The turns with what stands below their finished answers."""
    done = [turn.answer.id for turn in turns if turn.answer and not turn.answer.is_running]
    after = after_answers(user, done)
    return [
        replace(turn, answer=replace(turn.answer, after=after.get(turn.answer.id)))
        if turn.answer
        else turn
        for turn in turns
    ]


def shared_turns(conversation_id: UUID, messages: Sequence[dict[str, Any]]) -> list[Turn]:
    """The turns of what is shared, as its reader may see them."""
    now = notes_now(message["id"] for message in messages)
    turns: list[Turn] = []
    for message in messages:
        if message["role"] == Message.Role.USER:
            turns.append(Turn(message["id"], conversation_id, message["text"]))
        elif turns:
            turns[-1] = replace(turns[-1], answer=_answer(conversation_id, message, now))
    return turns


def _answer(conversation_id: UUID, message: dict[str, Any], now: _Now) -> Answer:
    # The first citation of each passage is what its card begins with.
    quotes = {c["n"]: c["quote"] for c in reversed(message["citations"])}
    gone = {
        number: card_id(message["id"], number)
        for number in (source["number"] for source in message["sources"])
        if now.get((message["id"], number), NoteNow()).is_gone
    }
    return Answer(
        id=message["id"],
        conversation_id=conversation_id,
        status=message["status"],
        # Made by chat.core.rendering, which lets nothing through but its own list of tags.
        html=mark_safe(lead_to_cards(message["html"], gone)),  # noqa: S308
        text=message["text"],
        error=message["error"]["text"],
        error_code=message["error"]["code"],
        mend=message["error"]["mend"],
        is_withheld=message["withheld"],
        cut_short=message["cut_short"],
        mode=message["mode"],
        model=message["model"],
        persona=message["persona"],
        tokens=_tokens(message["usage"]),
        sources_added=message["sources_added"],
        calls=tuple(_call(call) for call in message["calls"]),
        nearest=tuple(near_note(note) for note in message.get("nearest", ())),
        notices=tuple(message["notices"]),
        sources=tuple(
            source_card(
                source,
                quote=quotes.get(source["number"], ""),
                now=now.get((message["id"], source["number"])),
            )
            for source in message["sources"]
        ),
        cited_numbers=frozenset(citation["n"] for citation in message["citations"]),
        hidden_numbers=tuple(message["hidden_sources"]),
        run_id=message.get("run", ""),
        created=datetime.fromisoformat(message["created"]),
        tool_use=message["tool_use"],
        steps=tuple(
            step_row(step, conversation=conversation_id, message=message["id"])
            for step in message["steps"]
        ),
    )


def _call(call: dict[str, Any]) -> CallRow:
    return CallRow(
        label=str(PURPOSE_LABELS.get(call["purpose"], call["purpose"])),
        model=call["model"],
        input_tokens=call["input_tokens"],
        output_tokens=call["output_tokens"],
        milliseconds=call["milliseconds"],
        cost=Decimal(call["cost"]).normalize(),
        failed=call["failed_with"],
    )


def _tokens(usage: dict[str, int]) -> str:
    count = sum(usage.get(key, 0) or 0 for key in ("input_tokens", "output_tokens"))
    return (
        ngettext("%(count)d token", "%(count)d tokens", count) % {"count": count} if count else ""
    )


@dataclass(frozen=True, slots=True)
class _Runs:
    by_id: dict[int, RetrievalRun] = field(default_factory=dict)
    of_message: dict[str, int] = field(default_factory=dict)


def _retrieval_runs(messages: Sequence[dict[str, Any]]) -> _Runs:
    of_message = {m["id"]: m["retrieval_run"] for m in messages if m.get("retrieval_run")}
    return _Runs(RetrievalRun.objects.in_bulk(list(of_message.values())), of_message)


def _with_found(turn: Turn, runs: _Runs, names: dict[str, str]) -> Turn:
    run = runs.by_id.get(runs.of_message.get(turn.answer.id, 0)) if turn.answer else None
    if turn.answer is None or run is None:
        return turn
    return replace(turn, answer=replace(turn.answer, found=_found(run, names)))


def _found(run: RetrievalRun, names: dict[str, str]) -> Found:
    """Vaults are named only while they may be read."""
    return Found(
        queries=tuple(run.queries),
        vaults=tuple(names[slug] for slug in run.vaults if slug in names),
        arms=tuple(
            ArmRow(
                label=str(ARM_LABELS.get(arm["name"], arm["name"])),
                ran=arm["ran"],
                reason=arm.get("reason", ""),
                found=arm.get("found", 0),
                path=arm.get("path", ""),
            )
            for arm in run.arms
        ),
        timings=tuple(
            (str(label), round(run.timings[name]))
            for name, label in TIMING_LABELS.items()
            if round(run.timings.get(name, 0))
        ),
        milliseconds=round(run.timings.get("total", 0)),
        notices=tuple(run.notices),
        run=run.pk,
    )
