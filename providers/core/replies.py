"""A model's reply that is wanted whole: nobody reads it while it is written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

from providers.core.protocols import ChatProvider
from providers.core.types import ChatRequest, StreamPart, TextDelta, Usage, Withdrawal


@dataclass
class WholeReply:
    """What has arrived of it: also after a failure, which was paid for as well."""

    usage: Usage = field(default_factory=Usage)
    _parts: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The words, without what the model withdrew as reasoning."""
        return "".join(self._parts)

    async def read(self, provider: ChatProvider, request: ChatRequest, *, seconds: float) -> str:
        """Ask, and give the text. Raises ProviderError, and TimeoutError after `seconds`.

        However it ends, the call at the provider has ended then.
        """
        # Every backend streams from a generator: closing it ends the call.
        stream = cast("AsyncGenerator[StreamPart]", provider.stream(request))
        async with asyncio.timeout(seconds), aclosing(stream):
            async for part in stream:
                if isinstance(part, TextDelta):
                    self._parts.append(part.text)
                elif isinstance(part, Withdrawal):
                    self._parts.clear()
                elif isinstance(part, Usage):
                    self.usage = part
        return self.text
