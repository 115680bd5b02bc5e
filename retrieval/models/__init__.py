"""How the site searches, and what each search found."""

from __future__ import annotations

from retrieval.models.searching import RetrievalRun, RetrievalSettings

__all__ = ["RetrievalRun", "RetrievalSettings"]
