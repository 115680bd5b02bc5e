"""One turn: search, tell the sources, ask the model, pass its words on."""

from __future__ import annotations

import secrets
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, cast

from django.contrib.auth import get_user_model
from django.utils import timezone

from chat.abstaining import find_nearest, keep_nearest, nothing_found
from chat.continuing import take_sources
from chat.core.asking import clean_answer
from chat.core.citations import Quotable
from chat.core.events import EventType
from chat.core.prompt import ModelLimits, Prompt, PromptParts, PromptPassage, build_prompt
from chat.core.seam import Seam
from chat.database import in_database, release_connection
from chat.history import Turn
from chat.models import Message, Source
from chat.narrowing import narrow
from chat.options import TurnOptions, turn_options
from chat.providing import Providing
from chat.sources import arms_json, passage_json, quotable, save_sources
from providers.core.errors import InputTooLong, ProviderError
from providers.core.protocols import ChatProvider
from providers.core.tokens import estimate_usage
from providers.core.types import (
    ChatRequest,
    ReasoningDelta,
    StreamPart,
    TextDelta,
    Usage,
    Withdrawal,
)
from providers.models import ChatModel
from retrieval.core.types import Retrieval
from vault.access import scope_for
from vault.core.types import Scope


@dataclass(frozen=True, slots=True)
class Said:
    """An event of the turn, ready but for its number."""

    type: EventType
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sourced:
    """`sources`, and the passages that the words to come may cite.

    `adds_marks`: an answer without a citation gets those that its sentences bear out.
    """

    data: dict[str, Any]
    quotables: tuple[Quotable, ...]
    adds_marks: bool = False


@dataclass(frozen=True, slots=True)
class Words:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """All words so far were the model's reasoning: they are no part of the answer."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The model ended of its own accord. `named_by` may name the conversation now."""

    usage: Usage
    named_by: ChatModel | None = None


TurnPart = Said | Sourced | Words | Withdrawn | Finished


class NoAnswer(ProviderError):
    """The model ended without a word, or its provider withheld them."""

    code = "no_answer"
    mend = "Ask again, or choose another model."


class Withheld(ProviderError):
    """The provider's filter ended the answer."""

    code = "filtered"
    mend = "Put the question in other words, or choose another model."


SHORTENED = "The model takes less text than its settings say: asking again with half of it"


@dataclass
class _Answer:
    """What the model has said so far."""

    seam: Seam
    text: str = ""
    is_thinking: bool = False
    usage: Usage = field(default_factory=Usage)
    asked: ChatRequest | None = None
    written: list[str] = field(default_factory=list)

    def spent(self) -> Usage:
        """For the accounts: a stopped or broken answer was paid for as well."""
        is_known = self.usage.is_reported and (self.usage.output_tokens or not self.written)
        if is_known or self.asked is None:
            return self.usage
        return replace(estimate_usage(self.asked, self.written), stop_reason=self.usage.stop_reason)


async def run_turn(turn: Turn, providing: Providing) -> AsyncGenerator[TurnPart]:
    """Yield the turn's parts: Sourced first, Finished last. Raises ProviderError.

    Closing the iterator ends the search or the model's call.
    """
    options = await in_database(_options, turn, providing)
    retrieval = await _search(turn, options, providing)
    sources = await in_database(_keep_sources, turn, retrieval)
    window = options.model.context_window
    prompt = _prompt(turn, options, sources, providing, window=window)
    shorter = _prompt(turn, options, sources, providing, window=window // 2)
    nearly_used = await in_database(providing.limit_notices, turn.user_id, options.model)
    begun = [turn.begun.notice] if turn.begun else []
    notices = (*begun, *options.notices, *nearly_used, *retrieval.notices, *prompt.notices)
    await in_database(_note_plan, turn, options, notices)
    yield Sourced(
        data=_sources_json(options, retrieval, sources, notices),
        quotables=tuple(quotable(source) for source in sources),
        adds_marks=options.adds_sources,
    )
    if turn.begun:
        yield Words(turn.begun.text)
    elif options.mode == "notes_only" and not sources:
        await _look_around(turn, options, retrieval, providing)
        yield Words(await in_database(nothing_found, retrieval))
        yield Finished(Usage())
        return
    answer = _Answer(_seam(turn))
    yield Said(EventType.STATUS, {"stage": "writing", "text": "Writing"})
    requests = (prompt.request, shorter.request)
    async with aclosing(_ask_model(turn, options.model, requests, providing, answer)) as parts:
        async for part in parts:
            yield part
    can_name = turn.is_first and options.model.provider.kind != "extractive"
    yield Finished(answer.usage, named_by=options.model if can_name else None)


def _options(turn: Turn, providing: Providing) -> TurnOptions:
    user = get_user_model().objects.get(pk=turn.user_id)
    return turn_options(user, turn.ask, providing.catalogue, vaults=turn.vaults)


async def _search(turn: Turn, options: TurnOptions, providing: Providing) -> Retrieval:
    """Passages the asker may read now. No notes, or an answer that goes on: nothing is searched."""
    if options.mode == "no_notes" or turn.begun:
        return Retrieval(queries=(), passages=(), arms=(), timings={}, searched_vaults=())
    scope = await in_database(_scope, turn, options)
    try:
        narrowed = await in_database(narrow, turn.question, scope)
        found = await providing.retrieve(
            narrowed.question,
            history=turn.history,
            scope=scope,
            knobs=replace(options.knobs, filters=narrowed.filters),
            user_id=turn.user_id,
            model=options.model,
        )
        return replace(found, notices=(*filter(None, [narrowed.notice]), *found.notices))
    finally:
        await release_connection()


def _keep_sources(turn: Turn, retrieval: Retrieval) -> list[Source]:
    if turn.begun:
        return take_sources(turn.begun, turn.ids.message)
    return save_sources(turn.ids.message, retrieval)


def _seam(turn: Turn) -> Seam:
    return Seam(turn.begun.text if turn.begun else "")


def _scope(turn: Turn, options: TurnOptions) -> Scope:
    return scope_for(get_user_model().objects.get(pk=turn.user_id), options.vaults)


async def _look_around(
    turn: Turn, options: TurnOptions, retrieval: Retrieval, providing: Providing
) -> None:
    """Keep what comes nearest beside an answer that there is none."""
    scope = await in_database(_scope, turn, options)
    try:
        nearest = await find_nearest(
            retrieval, scope=scope, knobs=options.knobs, providing=providing, user_id=turn.user_id
        )
    finally:
        await release_connection()
    await in_database(keep_nearest, turn.ids.message, nearest)


def _note_plan(turn: Turn, options: TurnOptions, notices: tuple[str, ...]) -> None:
    Message.objects.filter(pk=turn.ids.message).update(
        mode=options.mode,
        model_label=str(options.model),
        persona_name=options.persona_name,
        notices=list(notices),
    )


def _prompt(
    turn: Turn,
    options: TurnOptions,
    sources: list[Source],
    providing: Providing,
    *,
    window: int,
) -> Prompt:
    passages = tuple(
        PromptPassage(
            number=source.number,
            title=source.title,
            path=source.path,
            heading_path=tuple(source.heading_path),
            text=source.text,
            updated=source.note_updated or timezone.now(),
        )
        for source in sources
    )
    parts = PromptParts(
        question=turn.question,
        mode=options.mode,
        system_prompt=options.system_prompt,
        persona=options.persona_prompt,
        passages=passages,
        history=turn.history,
        mark=secrets.token_hex(8),
        begun=turn.begun.text if turn.begun else "",
    )
    limits = ModelLimits(options.model.name, window, options.model.max_output_tokens)
    return build_prompt(parts, limits, count_tokens=providing.counter_for(options.model))


async def _ask_model(
    turn: Turn,
    model: ChatModel,
    requests: Sequence[ChatRequest],
    providing: Providing,
    answer: _Answer,
) -> AsyncGenerator[TurnPart]:
    """Pass the model's words on, and into `answer`. Usage is recorded however it ends."""
    began, failed_with = time.monotonic(), ""
    try:
        provider = providing.chat_provider(model, user_id=turn.user_id)
        async with aclosing(_stream_what_fits(provider, requests, answer)) as parts:
            async for part in parts:
                for said in _heard(part, turn, answer):
                    yield said
            if rest := answer.seam.finish():
                yield Words(rest)
        _check_answer(answer)
    except ProviderError as error:
        failed_with = error.code
        raise
    finally:
        await providing.keep_usage(
            "answer", model, answer.spent(), user_id=turn.user_id, began=began, code=failed_with
        )
        await release_connection()


def _heard(part: StreamPart | Said, turn: Turn, answer: _Answer) -> Iterator[TurnPart]:
    """What the reader is told of a part, once `answer` has taken it in."""
    if isinstance(part, TextDelta | ReasoningDelta):
        answer.written.append(part.text)
    if isinstance(part, Usage):
        answer.usage = part
    elif isinstance(part, Said):
        yield part
    elif isinstance(part, ReasoningDelta):
        if not answer.is_thinking:
            answer.is_thinking = True
            yield Said(EventType.STATUS, {"stage": "thinking", "text": "Thinking"})
    elif isinstance(part, Withdrawal):
        answer.text, answer.seam = "", _seam(turn)
        yield Withdrawn()
        if turn.begun:
            yield Words(turn.begun.text)
    elif isinstance(part, TextDelta) and (text := clean_answer(part.text)):
        answer.text += text
        if new := answer.seam.push(text):
            yield Words(new)


async def _stream_what_fits(
    provider: ChatProvider, requests: Sequence[ChatRequest], answer: _Answer
) -> AsyncGenerator[StreamPart | Said]:
    """Try the next, shorter request when the model says that this one is too long."""
    for request in requests:
        began, answer.asked = False, request
        stream = cast("AsyncGenerator[StreamPart]", provider.stream(request))
        try:
            async with aclosing(stream) as parts:
                async for part in parts:
                    began = True
                    yield part
        except InputTooLong:
            if began or request is requests[-1]:
                raise
            yield Said(EventType.STATUS, {"stage": "shortened", "text": SHORTENED})
        else:
            return


def _check_answer(answer: _Answer) -> None:
    """Raises NoAnswer or Withheld for an ending that must not look like a full answer."""
    reason = answer.usage.stop_reason
    if reason == "filter":
        raise Withheld("The provider's content filter ended the answer.")
    if answer.text.strip():
        return
    if reason == "length":
        raise NoAnswer(
            "The model reached its limit of output tokens before it wrote a word of the "
            "answer. An admin can raise “max output tokens” of this model."
        )
    raise NoAnswer("The model ended without an answer.")


def _sources_json(
    options: TurnOptions,
    retrieval: Retrieval,
    sources: Sequence[Source],
    notices: Sequence[str],
) -> dict[str, Any]:
    return {
        "queries": list(retrieval.queries),
        "passages": [passage_json(source) for source in sources],
        "arms": arms_json(retrieval.arms),
        "timings": dict(retrieval.timings),
        "notices": list(notices),
        "searched": list(retrieval.searched_vaults),
        "mode": options.mode,
        "model": str(options.model),
        "persona": options.persona_name,
    }
