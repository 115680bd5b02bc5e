"""Texts compared by meaning, with the bundled embedder where it is at hand."""

from __future__ import annotations

from collections.abc import Sequence

from providers.backends.local_e5 import BUNDLED, is_loaded
from providers.core.protocols import Vectors


async def meanings(texts: Sequence[str]) -> Vectors | None:
    """Vectors of `texts`, `(n, 384)`, of unit length and centred by language.

    None where search has not loaded the model in this process: nobody waits or pays memory
    for it here. All are embedded as queries, for either may be the shorter one.
    """
    if not texts or not is_loaded():
        return None
    return await BUNDLED.embed_statements(texts)
