"""What a turn needs from the apps below, in one place, so that a test can bring its own."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import structlog
from django.db import DatabaseError, InterfaceError

from chat.core.support import Meanings
from chat.offers import Catalogue, site_catalogue
from providers.core.protocols import ChatProvider
from providers.core.types import ChatMessage, Usage
from providers.models import ChatModel
from retrieval.core.types import Knobs, Retrieval
from vault.core.types import Scope

log = structlog.get_logger("chat.providing")


class Retrieve(Protocol):
    def __call__(
        self,
        question: str,
        *,
        history: Sequence[ChatMessage],
        scope: Scope,
        knobs: Knobs,
        user_id: int | None = None,
        model: ChatModel | None = None,
    ) -> Awaitable[Retrieval]: ...


class ChatProviderFor(Protocol):
    def __call__(self, model: ChatModel, *, user_id: int | None) -> ChatProvider: ...


class RecordUsage(Protocol):
    def __call__(
        self,
        *,
        purpose: str,
        model: ChatModel,
        usage: Usage,
        user_id: int | None,
        milliseconds: int,
        failed_with: str = "",
    ) -> Awaitable[Any]: ...


@dataclass(frozen=True)
class Providing:
    """Models, retrieval and accounts of a turn."""

    catalogue: Catalogue
    chat_provider: ChatProviderFor
    retrieve: Retrieve
    record_usage: RecordUsage
    counter_for: Callable[[ChatModel], Callable[[str], int]]
    limit_notices: Callable[[int | None, ChatModel], tuple[str, ...]]
    meanings: Meanings

    async def keep_usage(
        self, purpose: str, model: ChatModel, usage: Usage, *, user_id: int, began: float, code: str
    ) -> None:
        """Record a call that began at `began` (monotonic seconds) and failed with `code`.

        A database that is away for a moment costs the record, never the answer.
        """
        try:
            await self.record_usage(
                purpose=purpose,
                model=model,
                usage=usage,
                user_id=user_id,
                milliseconds=int((time.monotonic() - began) * 1000),
                failed_with=code,
            )
        except (DatabaseError, InterfaceError) as error:
            log.warning("usage_not_recorded", purpose=purpose, error=type(error).__name__)


def site_providing() -> Providing:
    """Those of this install."""
    from providers.calibration import counter_for
    from providers.limits import limit_notices
    from providers.meanings import meanings
    from providers.registry import chat_provider
    from providers.usage import arecord_usage
    from retrieval.pipeline import retrieve

    return Providing(
        site_catalogue(),
        chat_provider,
        retrieve,
        arecord_usage,
        counter_for,
        limit_notices,
        meanings,
    )
