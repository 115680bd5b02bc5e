"""The site's search settings as the knobs of a retrieval."""

from __future__ import annotations

from providers.models import RerankModel
from providers.registry import available_rerank_models
from retrieval.core.types import Fusion, Knobs
from retrieval.models import RetrievalSettings


def site_knobs() -> Knobs:
    """What the admin chose; the defaults where nobody chose."""
    return knobs_of(RetrievalSettings.objects.filter(pk=1).first() or RetrievalSettings())


def knobs_of(row: RetrievalSettings) -> Knobs:
    """The knobs that a row of settings, saved or not, stands for."""
    return Knobs(
        fusion=Fusion(row.fusion),
        passages=row.passages,
        depth=row.depth,
        overfetch=row.overfetch,
        rrf_k=row.rrf_k,
        chunks_per_note=row.chunks_per_note,
        token_budget=row.token_budget,
        neighbours=row.neighbours,
        linked_notes=row.linked_notes,
        alternates=row.alternates,
        code_path=row.code_path,
        note_vectors=row.note_vectors,
        rerank=row.rerank_model_id is not None,
    )


def rerank_model() -> RerankModel | None:
    """The model that the admin chose; else, for those who switched reranking on for
    themselves, the first that can be used; None where there is none."""
    chosen = RetrievalSettings.objects.filter(pk=1).select_related("rerank_model__provider")
    row = chosen.first()
    if row is not None and row.rerank_model is not None:
        return row.rerank_model
    usable = available_rerank_models()
    return next(iter(sorted(usable, key=lambda model: not model.is_default)), None)
