"""What holds for a turn, and what a user may choose from: rows read, resolved, explained."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from chat.choosable import Choosable
from chat.core.asking import Ask
from chat.core.options import Choices, Picked, Resolved, pick_model, resolve
from chat.core.prompt import BASE_PROMPT
from chat.core.tool_use import (
    NEVER,
    NO_TOOL_USE,
    ToolRules,
    allowed_names,
    permission,
    tokens_for,
)
from chat.models import AnswerMode, ChatSettings, Persona, ToolUse
from chat.offers import Catalogue, Offer, Offers
from chat.personas import notices_of, persona_for, searched_with
from providers.core.errors import NotConfigured
from providers.limits import FREE_KINDS, limit_ahead
from providers.models import ChatModel
from retrieval.core.types import Knobs


@dataclass(frozen=True)
class TurnOptions:
    """What holds for one turn.

    `vaults` are slugs to search, None: all that the user may read; `tools` say how far the
    model may search on by itself.
    """

    model: ChatModel
    mode: str
    system_prompt: str
    persona_prompt: str
    persona_name: str
    knobs: Knobs
    vaults: tuple[str, ...] | None = None
    tools: ToolRules = NO_TOOL_USE
    adds_sources: bool = True
    notices: tuple[str, ...] = ()


PERSONA_GONE = (
    "The chosen persona is gone, or stands in a vault you may no longer read; the answer was "
    "written without it."
)
NO_TOOLS = (
    "The chosen model cannot search again by itself, so it answered from the first search alone."
)
# A persona's number that says "none", whatever the settings have. Null says "as they have it".
NO_PERSONA = 0


def turn_options(
    user: User, ask: Ask, catalogue: Catalogue, *, vaults: Collection[str] | None = None
) -> TurnOptions:
    """Resolve what `ask`, the user's, the vaults' and the site's settings chose.

    `vaults` are the slugs that the question searches; None: all that the user may read.
    """
    asked = Choices(model=ask.model, persona=ask.persona, mode=ask.mode, tool_use=ask.tool_use)
    known = Choosable(user)
    own, site = _levels(known)
    number = resolve(asked, own, site, base_prompt=BASE_PROMPT).persona
    persona = persona_for(user, number)
    searched = _searched(persona, vaults)
    offers = Offers(known, catalogue, slugs=searched)
    as_persona = Choices(model=persona.model_id if persona else None)
    levels = (asked, as_persona, own, offers.level.choices, site)
    limits = (site.tool_limit, persona.tool_use if persona else None)
    resolved = resolve(*levels, base_prompt=BASE_PROMPT, tool_limits=limits)
    picked = _pick(resolved, offers)
    notices = [picked.notice] if picked.notice else []
    if offers.level.notice and asked.model is None and own.model is None:
        notices.append(offers.level.notice)
    if number not in {None, NO_PERSONA} and persona is None:
        notices.append(PERSONA_GONE)
    notices += notices_of(persona, user) if persona else []
    if resolved.tool_use != NEVER and not can_use_tools(picked.model):
        notices.append(NO_TOOLS)
    return TurnOptions(
        model=picked.model,
        mode=resolved.mode,
        system_prompt=resolved.system_prompt,
        persona_prompt=_persona_prompt(persona, ask),
        persona_name=str(persona) if persona else "",
        knobs=_knobs(resolved, catalogue.knobs()),
        vaults=searched,
        tools=_tool_rules(resolved, picked.model, persona),
        adds_sources=resolved.adds_sources,
        notices=tuple(notices),
    )


def can_use_tools(model: ChatModel) -> bool:
    """Whether this model may be offered tools; one that never refused them is tried."""
    return model.provider.kind != "extractive" and model.can_call_tools is not False


def tool_uses(known: Choosable) -> list[tuple[str, Any]]:
    """What may be chosen of further searches: as far as the site lets anybody go."""
    limit = known.site_row.tool_limit if known.site_row else None
    return [it for it in ToolUse.choices if permission([it[0]], limits=[limit]) == it[0]]


def _tool_rules(resolved: Resolved, model: ChatModel, persona: Persona | None) -> ToolRules:
    is_possible = resolved.mode != AnswerMode.NO_NOTES and can_use_tools(model)
    return ToolRules(
        permission=resolved.tool_use if is_possible else NEVER,
        names=allowed_names(persona.tools if persona else None),
        steps=resolved.tool_steps,
        tokens=tokens_for(model.context_window),
        patience=settings.TOOL_DECISION_SECONDS,
    )


def chat_options(
    known: Choosable, catalogue: Catalogue, *, vaults: Collection[str] | None = None
) -> dict[str, Any]:
    """What a user may choose from, and what holds when nothing is chosen.

    `vaults` narrows it to questions to these; None: to all that the user may read.
    """
    offers = Offers(known, catalogue, slugs=vaults)
    own, site = _levels(known)
    limits = (site.tool_limit,)
    resolved = resolve(own, offers.level.choices, site, base_prompt=BASE_PROMPT, tool_limits=limits)
    try:
        picked = _pick(resolved, offers)
        chosen, notice = picked.model.pk, picked.notice
    except NotConfigured as error:
        chosen, notice = None, f"{error} {error.mend}"
    from_vault = offers.level.model_of if own.model is None else ""
    ahead = limit_ahead(known.user.pk)
    return {
        "models": [_model_json(offer, chosen) for offer in offers.all],
        "personas": [_persona_json(persona) for persona in known.personas],
        "modes": [{"value": value, "label": str(label)} for value, label in AnswerMode.choices],
        "vaults": [{"slug": vault.slug, "name": vault.name} for vault in known.vaults],
        "model": chosen,
        "model_from_vault": from_vault,
        "persona": resolved.persona,
        "mode": resolved.mode,
        "tool_uses": [{"value": value, "label": str(label)} for value, label in tool_uses(known)],
        "tool_use": resolved.tool_use,
        "notices": [notice] if notice else [],
        "limit": {"text": ahead.text, "is_spent": ahead.is_spent} if ahead else None,
    }


def settings_json(known: Choosable) -> dict[str, Any]:
    """The user's own settings, with the base prompt that a reset brings back."""
    own, site = _levels(known)
    return {
        "model": own.model,
        "persona": own.persona,
        "system_prompt": own.system_prompt or "",
        "mode": own.mode or "",
        "passages": own.passages,
        "alternates": own.alternates,
        "rerank": own.rerank,
        "adds_sources": own.adds_sources,
        "follow_ups": own.follow_ups or "",
        "shares_unanswered": own.shares_unanswered,
        "tool_use": own.tool_use or "",
        "tool_steps": own.tool_steps,
        "base_system_prompt": site.system_prompt or BASE_PROMPT,
        "vaults": [
            {
                "name": own.vault_name,
                "provider": own.chat.provider,
                "model": own.chat.model,
                "system_prompt": own.chat.system_prompt,
            }
            for own in known.own_settings
        ],
    }


def _searched(persona: Persona | None, chosen: Collection[str] | None) -> tuple[str, ...] | None:
    """What the question chose, else what the persona searches; rights are asked later."""
    if chosen is not None:
        return tuple(chosen)
    return searched_with(persona) if persona else None


def _persona_prompt(persona: Persona | None, ask: Ask) -> str:
    """The persona's prompt, then what the question brings along itself."""
    return "\n\n".join(filter(None, (persona.prompt if persona else "", ask.instructions)))


def _persona_json(persona: Persona) -> dict[str, Any]:
    return {
        "id": persona.pk,
        "name": persona.name,
        "role": persona.role,
        "vault": persona.settings_file.vault.slug if persona.settings_file else None,
    }


def _levels(known: Choosable) -> tuple[Choices, Choices]:
    """What the user's settings choose, and the site's."""
    return _choices(known.own_row), _choices(known.site_row)


def _choices(row: ChatSettings | None) -> Choices:
    if row is None:
        return Choices()
    return Choices(
        model=row.model_id,
        persona=row.persona_id,
        system_prompt=row.system_prompt,
        mode=row.mode,
        passages=row.passages,
        alternates=row.alternates,
        rerank=row.rerank,
        adds_sources=row.adds_sources,
        follow_ups=row.follow_ups,
        shares_unanswered=row.shares_unanswered,
        tool_use=row.tool_use,
        tool_steps=row.tool_steps,
        tool_limit=row.tool_limit if row.user_id is None else "",
    )


def _pick(resolved: Resolved, offers: Offers) -> Picked[ChatModel]:
    labels, elsewhere = offers.labels(resolved.models)
    return pick_model(
        resolved.models,
        available=offers.by_id,
        default=offers.default(),
        labels=labels,
        vaults=elsewhere,
    )


def _knobs(resolved: Resolved, knobs: Knobs) -> Knobs:
    if resolved.passages is not None:
        knobs = replace(knobs, passages=resolved.passages)
    if resolved.alternates is not None:
        knobs = replace(knobs, alternates=resolved.alternates)
    if resolved.rerank is not None:
        knobs = replace(knobs, rerank=resolved.rerank)
    return knobs


def _model_json(offer: Offer, chosen: int | None) -> dict[str, Any]:
    return {
        "id": offer.model.pk,
        "label": str(offer),
        "provider": offer.model.provider.name,
        "vault": offer.vault.slug if offer.vault else None,
        "chosen": offer.model.pk == chosen,
        "is_free": offer.model.provider.kind in FREE_KINDS,
    }


def after_answer(user: User) -> Resolved:
    """What the user's and the site's settings say of what follows an answer."""
    return resolve(*_levels(Choosable(user)), base_prompt=BASE_PROMPT)


def answering_model(user: User, catalogue: Catalogue) -> ChatModel:
    """The model that answers `user` when a question chooses none."""
    known = Choosable(user)
    offers = Offers(known, catalogue, slugs=None)
    return _pick(resolve(*_levels(known), base_prompt=BASE_PROMPT), offers).model
