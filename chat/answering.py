"""The model's part of a turn: its words, and the steps it takes before it has enough."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from uuid import UUID

import structlog

from chat.calling import Reply, stream_what_fits
from chat.core.events import EventType
from chat.core.prompt import PromptPassage, show_passages
from chat.core.tool_use import ToolLoop
from chat.core.tools import LONGEST_WHY, CallRefused, Wanted
from chat.database import in_database, release_connection
from chat.models import Message, Source, Step
from chat.parts import Said, Sourced, TurnPart, Withdrawn, Words
from chat.sources import add_sources
from chat.step_events import step_said
from chat.steps import Bell, Ended, begin_step, end_step, run_step, wait_for_decision
from chat.tools import Found, Toolbox, ToolFailed
from providers.core.errors import NoTools, ProviderError
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    GroundingPassage,
    ToolCall,
    Usage,
)
from retrieval.core.standing import standing_of, standing_words
from retrieval.core.types import Passage

log = structlog.get_logger("chat.answering")


NO_TOOLS = "This model cannot search again by itself, so it answered from the first search."
REFUSED = "The reader refused this search. Answer from the passages you have."
NOBODY = "The reader did not answer. Answer from the passages you have."
NOTHING = "Nothing was found."


@dataclass
class Writing:
    """An answer in the making.

    `requests` are the call to make, and a shorter one for a model that takes less; `sources`
    the passages so far, numbered. `tell_sources` gives the event that tells them anew.
    """

    box: Toolbox
    requests: Sequence[ChatRequest]
    mark: str
    loop: ToolLoop
    sources: list[Source]
    tell_sources: Callable[[Sequence[Source]], Sourced]
    bell: Callable[[], Bell]
    usage: Usage = field(default_factory=Usage)
    said: list[ChatMessage] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    has_tools: bool = True

    @property
    def message(self) -> UUID:
        return self.box.turn.ids.message

    @property
    def is_held(self) -> bool:
        """Whether words are kept back: notes alone may speak, and none has so far."""
        is_strict = self.box.options.mode == "notes_only" and not self.begun
        return is_strict and not self.sources

    def calls_to_make(self) -> list[ChatRequest]:
        """The requests with what was said and found since they were made."""
        specs = self.loop.rules.specs if self.has_tools else ()
        if not specs:
            return list(self.requests)
        return [
            replace(
                request,
                messages=(*request.messages, *self.said),
                tools=specs,
                tool_choice="auto" if self.loop.may_call else "none",
                grounding=request.grounding
                and replace(request.grounding, passages=self._grounding()),
            )
            for request in self.requests
        ]

    def _grounding(self) -> tuple[GroundingPassage, ...]:
        return tuple(GroundingPassage(it.number, it.title, it.text) for it in self.sources)

    @property
    def begun(self) -> str:
        """The text that the answer goes on from, if it does."""
        begun = self.box.turn.begun
        return begun.text if begun else ""

    def take_back(self, reply: Reply) -> list[TurnPart]:
        """What ends the words that led to a call; those that the answer began with stay."""
        if self.is_held or not reply.text:
            return []
        return [Withdrawn(), Words(self.begun)] if self.begun else [Withdrawn()]

    def count(self, usage: Usage) -> None:
        """Add the tokens of one call; the last one's end is the answer's."""
        self.usage = replace(
            usage,
            input_tokens=self.usage.input_tokens + usage.input_tokens,
            output_tokens=self.usage.output_tokens + usage.output_tokens,
        )


async def write_answer(writing: Writing) -> AsyncGenerator[TurnPart]:
    """Pass the model's words on, carrying out the tools it calls until it answers.

    Words that led to a call are withdrawn: they are no part of the answer. Raises
    ProviderError.
    """
    while True:
        may_call = writing.has_tools and writing.loop.may_call
        if writing.is_held and not may_call:
            return
        reply = Reply(writing.begun)
        try:
            async with aclosing(_ask_model(writing, reply)) as parts:
                async for part in parts:
                    if not (writing.is_held and isinstance(part, Words | Withdrawn)):
                        yield part
        except NoTools:
            if not writing.has_tools or writing.said or not writing.loop.rules.specs:
                raise
            writing.has_tools = False
            await in_database(_add_notice, writing.message, NO_TOOLS)
            yield Said(EventType.STATUS, {"stage": "no_tools", "text": NO_TOOLS})
            continue
        writing.count(reply.usage)
        if not reply.calls:
            return
        for withdrawn in writing.take_back(reply):
            yield withdrawn
        async with aclosing(_take_steps(writing, reply)) as steps:
            async for part in steps:
                yield part
        yield Said(EventType.STATUS, {"stage": "writing", "text": "Writing"})


def _add_notice(message_id: UUID, notice: str) -> None:
    notices = Message.objects.values_list("notices", flat=True).get(pk=message_id)
    Message.objects.filter(pk=message_id).update(notices=[*notices, notice])


async def _ask_model(writing: Writing, reply: Reply) -> AsyncGenerator[TurnPart]:
    """Pass the model's words on, and into `reply`. Usage is recorded however it ends."""
    began, failed_with = time.monotonic(), ""
    providing, model = writing.box.providing, writing.box.options.model
    user_id = writing.box.turn.user_id
    may_call = writing.has_tools and writing.loop.may_call
    try:
        provider = providing.chat_provider(model, user_id=user_id)
        requests = writing.calls_to_make()
        async with aclosing(stream_what_fits(provider, requests, reply)) as parts:
            async for part in parts:
                for said in reply.hear(part):
                    yield said
            for said in reply.finish():
                yield said
        if not may_call:
            reply.calls.clear()  # it was told that it may not
        if not (reply.calls or writing.is_held):
            reply.check()
    except ProviderError as error:
        failed_with = error.code
        raise
    finally:
        await providing.keep_usage(
            "answer", model, reply.spent(), user_id=user_id, began=began, code=failed_with
        )
        await release_connection()


# The steps


async def _take_steps(writing: Writing, reply: Reply) -> AsyncGenerator[TurnPart]:
    """Carry out every call of a reply, one after the other; the model is told each result."""
    ids = writing.box.turn.ids
    writing.said.append(ChatMessage("assistant", reply.text, calls=tuple(reply.calls)))
    for call in reply.calls:
        try:
            wanted = writing.loop.take(call)
        except CallRefused as refused:
            log.info("call_refused", tool=call.name[:60], reason=str(refused))
            step = await in_database(_keep_refused, writing.message, call, str(refused))
            _tell_model(writing, call, str(refused), is_failure=True)
            yield step_said(step, ids)
            continue
        async with aclosing(_take_step(writing, call, wanted, reply.text)) as parts:
            async for part in parts:
                yield part


def _keep_refused(message: UUID, call: ToolCall, said: str) -> Step:
    step = begin_step(message, call.name, what="", why="", state=Step.State.RUNNING)
    return end_step(step, Ended(Step.State.FAILED, said))


async def _take_step(
    writing: Writing, call: ToolCall, wanted: Wanted, preamble: str
) -> AsyncGenerator[TurnPart]:
    asks, ids = writing.loop.asks, writing.box.turn.ids
    step = await in_database(
        begin_step,
        writing.message,
        wanted.tool,
        what=_named(wanted, writing.sources),
        why=wanted.text("why") or preamble.strip()[:LONGEST_WHY],
        state=Step.State.ASKED if asks else Step.State.RUNNING,
    )
    yield step_said(step, ids)
    if asks:
        yield Said(EventType.STATUS, {"stage": "asking", "text": "Waiting for your word"})
        patience = writing.loop.rules.patience
        decision = await wait_for_decision(step, writing.bell(), seconds=patience)
        if decision in (Step.Decision.REFUSE, Step.Decision.TIME_OUT):
            yield await _refused(writing, step, call, decision)
            return
        writing.loop.asks = decision != Step.Decision.ALLOW_ALL
        step.decision = decision
        yield step_said(await in_database(run_step, step), ids)
    yield Said(EventType.STATUS, {"stage": "searching", "text": "Searching again"})
    began = time.monotonic()
    try:
        found = await writing.box.carry_out(wanted, writing.sources, room=writing.loop.tokens_left)
    except ToolFailed as failed:
        _tell_model(writing, call, str(failed), is_failure=True)
        ended = Ended(Step.State.FAILED, str(failed), milliseconds=_since(began))
        yield step_said(await in_database(end_step, step, ended), ids)
        return
    writing.searched.append(step.what)
    numbers, new = await in_database(_take_in, writing, call, found)
    ended = Ended(Step.State.DONE, "", numbers, _since(began), found.retrieval_run)
    yield step_said(await in_database(end_step, step, ended), ids)
    if new:
        yield writing.tell_sources(writing.sources)


def _named(wanted: Wanted, sources: Sequence[Source]) -> str:
    """What is looked for, with the title of a note that is named by a passage's number."""
    by_number = {str(source.number): source.title for source in sources}
    if title := by_number.get(wanted.text("note").strip("[]")):
        return " > ".join(filter(None, (title, wanted.text("heading"))))
    return wanted.what


async def _refused(writing: Writing, step: Step, call: ToolCall, decision: str) -> TurnPart:
    """A refusal holds for the whole answer: to ask again and again is no question."""
    said = REFUSED if decision == Step.Decision.REFUSE else NOBODY
    writing.loop.end(said)
    _tell_model(writing, call, said, is_failure=True)
    step.decision = decision
    ended = await in_database(end_step, step, Ended(Step.State.REFUSED))
    return step_said(ended, writing.box.turn.ids)


def _tell_model(writing: Writing, call: ToolCall, text: str, *, is_failure: bool = False) -> None:
    writing.said.append(ChatMessage("tool", text, answers=call, is_failure=is_failure))


def _take_in(writing: Writing, call: ToolCall, found: Found) -> tuple[list[int], int]:
    """Number and keep what was found, tell the model, and give the numbers of all of it and
    how many are new. What the model has no room to read is not kept."""
    known = [_known(passage, writing.sources) for passage in found.passages]
    fresh = [p for p, number in zip(found.passages, known, strict=True) if not number]
    first = max((source.number for source in writing.sources), default=0) + 1
    numbered = [replace(passage, number=first + n) for n, passage in enumerate(fresh)]
    shown = show_passages(
        [_shown_as(passage) for passage in numbered],
        mark=writing.mark,
        budget=writing.loop.tokens_left,
        count_tokens=writing.box.providing.counter_for(writing.box.options.model),
    )
    kept = add_sources(writing.message, numbered[: len(shown.passages)])
    writing.sources += kept
    writing.loop.spend(shown.tokens)
    again = sorted({number for number in known if number})
    lines = [shown.text] if shown.text else []
    if again:
        lines.append(f"Found again: {', '.join(f'[{number}]' for number in again)}.")
    if left_out := len(numbered) - len(kept):
        lines.append(f"There was no room for {left_out} more.")
    lines += [*found.notices] if lines else [NOTHING, *found.notices]
    _tell_model(writing, call, "\n\n".join(lines))
    return [*again, *(source.number for source in kept)], len(kept)


def _known(passage: Passage, sources: Sequence[Source]) -> int:
    """The number of a source that holds all of `passage`, 0 for none."""
    for source in sources:
        is_same = source.note_id == passage.note_id
        if is_same and source.start <= passage.start and passage.end <= source.end:
            return source.number
    return 0


def _shown_as(passage: Passage) -> PromptPassage:
    return PromptPassage(
        number=passage.number,
        title=passage.title,
        path=passage.path,
        heading_path=passage.heading_path,
        text=passage.text,
        day=passage.day,
        standing=standing_words(standing_of(passage.properties)),
    )


def _since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
