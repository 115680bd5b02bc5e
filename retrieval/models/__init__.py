"""How the site searches, what each search found, and how well."""

from __future__ import annotations

from retrieval.models.evaluation import EvalQuestion, EvalRun
from retrieval.models.searching import RetrievalRun, RetrievalSettings

__all__ = ["EvalQuestion", "EvalRun", "RetrievalRun", "RetrievalSettings"]
