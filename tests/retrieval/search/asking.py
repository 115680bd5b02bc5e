"""Searches as the tests ask them, and what they look at in a result."""

from __future__ import annotations

from asgiref.sync import async_to_sync

from retrieval.core.types import Arm, Mode, SearchResult
from retrieval.search import search_notes
from vault.access import User, scope_for

CANARY = "zelmirequorvex"


def search(
    user: User,
    query: str,
    mode: Mode = Mode.HYBRID,
    *,
    limit: int = 10,
    slugs: list[str] | None = None,
) -> SearchResult:
    return async_to_sync(search_notes)(query, scope=scope_for(user, slugs), mode=mode, limit=limit)


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


def arm(result: SearchResult, name: str) -> Arm:
    return next(arm for arm in result.arms if arm.name == name)
