"""What stands at the end of an answer that was written to its end: its marks and their worth.

An answer without marks gets those its sentences bear out; meaning judges what words do not
decide; and where notes alone may speak, what no passage bears out is no answer.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog
from django.db import DatabaseError, InterfaceError

from chat.abstaining import NOT_BORNE_OUT
from chat.core.citations import NOT_JUDGED, Judgements
from chat.core.rendering import Rendered, render_answer
from chat.core.repair import add_marks, bears_out
from chat.core.support import judge
from chat.parts import Abstain, Sourced
from providers.core.errors import ProviderError

log = structlog.get_logger("chat.settling")

SOURCES_ADDED = "sources_added"
ABSTAINED = "abstained"


@dataclass(frozen=True, slots=True)
class Settled:
    """The answer as it is kept. `reason` says why it is not what was said; "" where it is."""

    text: str
    rendered: Rendered
    reason: str = ""


async def settle(text: str, sourced: Sourced, *, patience: float) -> Settled:
    """`text` with its marks, judged within `patience` seconds; or that there is no answer."""
    passages = sourced.quotables
    rendered = render_answer(text, passages)
    marked = text
    if sourced.adds_marks and not rendered.citations:
        marked = add_marks(text, passages)
        rendered = render_answer(marked, passages)
    if judged := await _judge(rendered, sourced, patience):
        rendered = render_answer(marked, passages, judged)
    is_borne_out = bears_out(marked, rendered.citations, passages)
    if passages and sourced.abstain is not None and not is_borne_out:
        refusal = await _refusal(sourced.abstain, text)
        reason = "" if refusal.startswith(text) else ABSTAINED
        return Settled(refusal, render_answer(refusal, ()), reason)
    return Settled(marked, rendered, SOURCES_ADDED if marked != text else "")


async def _judge(rendered: Rendered, sourced: Sourced, patience: float) -> Judgements:
    """What meaning says of the citations, if it says so in time."""
    if sourced.meanings is None:
        return NOT_JUDGED
    try:
        async with asyncio.timeout(patience):
            return await judge(rendered.citations, sourced.quotables, sourced.meanings)
    except (TimeoutError, ProviderError) as error:
        log.warning("citations_not_judged", error=type(error).__name__)
        return NOT_JUDGED


async def _refusal(abstain: Abstain, text: str) -> str:
    """That there is no answer; where was searched is left out while the database is away."""
    try:
        return await abstain(text)
    except (DatabaseError, InterfaceError) as error:
        log.warning("search_not_told", error=type(error).__name__)
        return NOT_BORNE_OUT
