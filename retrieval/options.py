"""The site's search settings as the knobs of a retrieval."""

from __future__ import annotations

from retrieval.core.types import Fusion, Knobs
from retrieval.models import RetrievalSettings


def site_knobs() -> Knobs:
    """What the admin chose; the defaults where nobody chose."""
    row = RetrievalSettings.objects.filter(pk=1).first() or RetrievalSettings()
    return Knobs(
        fusion=Fusion(row.fusion),
        passages=row.passages,
        depth=row.depth,
        rrf_k=row.rrf_k,
        chunks_per_note=row.chunks_per_note,
        token_budget=row.token_budget,
        neighbours=row.neighbours,
        alternates=row.alternates,
    )
