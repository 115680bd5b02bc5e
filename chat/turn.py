"""One turn: search, tell the sources, ask the model, pass its words on."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from uuid import UUID

from django.contrib.auth import get_user_model
from django.utils import timezone

from chat.abstaining import (
    MOST_NEAREST,
    find_nearest,
    keep_nearest,
    not_borne_out,
    nothing_found,
)
from chat.answering import Writing, write_answer
from chat.continuing import take_sources
from chat.core.events import EventType
from chat.core.prompt import ModelLimits, Prompt, PromptParts, PromptPassage, build_prompt
from chat.core.support import Meanings
from chat.core.tool_use import NEVER, ToolLoop, rules_left, tokens_for
from chat.database import in_database, release_connection
from chat.history import Turn
from chat.models import Message, Source, Step
from chat.narrowing import narrow
from chat.options import TurnOptions, turn_options
from chat.parts import Abstain, Finished, Said, Sourced, TurnPart, Words
from chat.providing import Providing
from chat.sources import arms_json, passage_json, quotable, save_sources
from chat.step_events import step_said
from chat.steps import Bell
from chat.tools import Toolbox
from retrieval.core.standing import standing_words
from retrieval.core.types import Retrieval
from vault.access import scope_for
from vault.core.types import Scope


async def run_turn(
    turn: Turn, providing: Providing, *, bell: Callable[[UUID], Bell]
) -> AsyncGenerator[TurnPart]:
    """Yield the turn's parts: Sourced first, Finished last. Raises ProviderError.

    `bell` gives what rings when there is news of a run. Closing the iterator ends the
    search or the model's call.
    """
    options = await in_database(_options, turn, providing)
    retrieval = await _search(turn, options, providing)
    sources = await in_database(_keep_sources, turn, retrieval)
    window, mark = options.model.context_window, secrets.token_hex(8)
    make_prompt = partial(_prompt, turn, options, sources, providing, mark=mark)
    prompt, shorter = make_prompt(window=window), make_prompt(window=window // 2)
    nearly_used = await in_database(providing.limit_notices, turn.user_id, options.model)
    begun = [turn.begun.notice] if turn.begun else []
    notices = (*begun, *options.notices, *nearly_used, *retrieval.notices, *prompt.notices)
    await in_database(_note_plan, turn, options, notices)
    searched: list[str] = []
    tell_sources = partial(
        _sourced,
        options,
        replace(retrieval, notices=notices),
        readable=await in_database(_scope, turn, options),
        meanings=providing.meanings,
        abstain=partial(_abstain, turn, retrieval, searched) if _is_strict(options) else None,
    )
    yield tell_sources(sources)
    if turn.begun:
        for step in await in_database(list, Step.objects.filter(message_id=turn.ids.message)):
            yield step_said(step, turn.ids)
        yield Words(turn.begun.text)
    writing = Writing(
        box=Toolbox(turn, options, providing),
        requests=(prompt.request, shorter.request),
        mark=mark,
        loop=ToolLoop(options.tools),
        sources=sources,
        tell_sources=tell_sources,
        bell=partial(bell, turn.ids.run),
        searched=searched,
    )
    if not writing.is_held or writing.loop.may_call:
        yield Said(EventType.STATUS, {"stage": "writing", "text": "Writing"})
    async with aclosing(write_answer(writing)) as parts:
        async for part in parts:
            yield part
    if writing.is_held:
        await _look_around(turn, options, retrieval, providing)
        yield Words(await in_database(nothing_found, _with(retrieval, searched)))
        yield Finished(writing.usage)
        return
    can_name = turn.is_first and options.model.provider.kind != "extractive"
    yield Finished(writing.usage, named_by=options.model if can_name else None)


def _is_strict(options: TurnOptions) -> bool:
    """Whether notes alone may speak in a model's words; quotes of them bear themselves out."""
    return options.mode == "notes_only" and options.model.provider.kind != "extractive"


async def _abstain(turn: Turn, retrieval: Retrieval, searched: Sequence[str], said: str) -> str:
    """That there is no answer, in place of what was `said`; the passages are the nearest."""
    return await in_database(_keep_abstention, turn, _with(retrieval, searched), said)


def _keep_abstention(turn: Turn, retrieval: Retrieval, said: str) -> str:
    read = Source.objects.filter(message_id=turn.ids.message, note__isnull=False)
    note_ids = read.order_by("number").values_list("note_id", flat=True)
    keep_nearest(turn.ids.message, list(dict.fromkeys(note_ids))[:MOST_NEAREST])
    return not_borne_out(retrieval, said)


def _with(retrieval: Retrieval, searched: Sequence[str]) -> Retrieval:
    return replace(retrieval, queries=(*retrieval.queries, *searched))


def _options(turn: Turn, providing: Providing) -> TurnOptions:
    user = get_user_model().objects.get(pk=turn.user_id)
    options = turn_options(user, turn.ask, providing.catalogue, vaults=turn.vaults)
    begun = turn.begun
    if begun is None:
        return options
    left = rules_left(options.tools, taken=begun.steps, was_refused=begun.was_refused)
    return replace(options, tools=left)


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
    otherwise = turn.begun.tool_use if turn.begun else NEVER
    Message.objects.filter(pk=turn.ids.message).update(
        mode=options.mode,
        tool_use=options.tools.permission if options.tools.are_tools_offered else otherwise,
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
    mark: str,
) -> Prompt:
    passages = tuple(
        PromptPassage(
            number=source.number,
            title=source.title,
            path=source.path,
            heading_path=tuple(source.heading_path),
            text=source.text,
            day=source.note_day or timezone.localdate(source.note_updated),
            standing=standing_words(source.standing),
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
        mark=mark,
        begun=turn.begun.text if turn.begun else "",
        steps=options.tools.steps if options.tools.are_tools_offered else 0,
    )
    limits = ModelLimits(
        options.model.name,
        window,
        options.model.max_output_tokens,
        reserved=tokens_for(window) if parts.steps else 0,
    )
    return build_prompt(parts, limits, count_tokens=providing.counter_for(options.model))


def _sourced(
    options: TurnOptions,
    retrieval: Retrieval,
    sources: Sequence[Source],
    *,
    readable: Scope,
    meanings: Meanings,
    abstain: Abstain | None,
) -> Sourced:
    data = {
        "queries": list(retrieval.queries),
        "passages": [passage_json(source, readable) for source in sources],
        "arms": arms_json(retrieval.arms),
        "timings": dict(retrieval.timings),
        "notices": list(retrieval.notices),
        "searched": list(retrieval.searched_vaults),
        "mode": options.mode,
        "model": str(options.model),
        "persona": options.persona_name,
    }
    return Sourced(
        data=data,
        quotables=tuple(quotable(source) for source in sources),
        adds_marks=options.adds_sources,
        meanings=meanings,
        abstain=abstain,
    )
