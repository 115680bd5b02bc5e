"""A question on its way to passages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from retrieval.core.filters import Filter
from vault.core.places import Place


class Mode(StrEnum):
    """Which arms run. The names users see: keyword, meaning, both."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class Fusion(StrEnum):
    CONVEX = "convex"
    RRF = "rrf"


# Rows that an index scan looks at, in an index of up to 100,000 passages: what recall@10 of 0.97
# takes there. pgvector looks at no more than MOST_EF_SEARCH.
EF_SEARCH, MOST_EF_SEARCH = 400, 1_000


@dataclass(frozen=True, slots=True)
class Knobs:
    """The numbers of one retrieval, and the filters on the notes that may be found.

    `keyword_weight`: percent of a score that keywords give, the rest is meaning's.
    `ef_search`: how many neighbours the vector index looks at, where it is asked.
    `code_path`: source code is looked for by itself where a question may be about it.
    `note_vectors`: whole notes that are near bring their passages where the index is asked.
    """

    mode: Mode = Mode.HYBRID
    fusion: Fusion = Fusion.CONVEX
    passages: int = 8
    depth: int = 50
    overfetch: int = 3
    rrf_k: int = 60
    keyword_weight: int = 50
    ef_search: int = EF_SEARCH
    code_path: bool = True
    note_vectors: bool = True
    chunks_per_note: int = 3
    token_budget: int = 3000
    neighbours: int = 1
    linked_notes: bool = False
    alternates: bool = True
    rerank: bool = False
    filters: tuple[Filter, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A ranked chunk before selection. Ranks count from 1; None: that arm missed it.

    `note_rank` is the place of its whole note, where that brought it.
    `score` is what the list is ordered by; `bm25` and `cosine` are what the arms measured.
    `exact`: the query is a name of the note. `in_text`: the query stands in the note as
    typed, and only that was found. `dated`: the note is of the days that are asked for, and
    stands here for that.
    """

    chunk_id: int
    note_id: int
    score: float
    lexical_rank: int | None = None
    vector_rank: int | None = None
    exact: bool = False
    in_text: bool = False
    bm25: float | None = None
    cosine: float | None = None
    rerank_rank: int | None = None
    dated: bool = False
    code_rank: int | None = None
    note_rank: int | None = None


@dataclass(frozen=True, slots=True)
class Arm:
    """What one arm did.

    `name` is "keyword", "meaning", "note", "code", "title", "text", "filter" or "rerank". `reason`
    says why it was skipped, or what it could not see. `path` is how it ran: "bm25", "exact",
    "hnsw", "exact in memory", "signs", the name of the reranker.
    """

    name: str
    ran: bool
    reason: str = ""
    found: int = 0
    path: str = ""


@dataclass(frozen=True, slots=True)
class Copy:
    """Another note that says the same as a passage, and where in its body. `is_outdated`: it
    says of itself that it no longer holds."""

    note_id: int
    vault_slug: str
    path: str
    title: str
    span: tuple[int, int]
    is_outdated: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """Numbered text for the model and the reader, with its exact place in the note.

    `text` is the stored text of `start..end` in the note's body (characters); `arms` are
    the arms that found it, such as ("keyword 1", "meaning 3", "title"), or the passage that
    embeds or links to its note: ("linked from [2]",). `updated` is when its file changed,
    `day` the day the note is of. `also_in`: notes that say the same, which were left out.
    """

    number: int
    chunk_ids: tuple[int, ...]
    note_id: int
    vault_slug: str
    vault_name: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    start: int
    end: int
    tokens: int
    score: float
    arms: tuple[str, ...]
    updated: datetime
    day: date
    properties: dict[str, Any] = field(default_factory=dict)
    also_in: tuple[Copy, ...] = ()


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What was asked, how it was searched and what was found: nothing silent."""

    queries: tuple[str, ...]
    passages: tuple[Passage, ...]
    arms: tuple[Arm, ...]
    timings: dict[str, float]
    searched_vaults: tuple[str, ...]
    mode: Mode = Mode.HYBRID
    notices: tuple[str, ...] = ()
    run_id: int | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """One note on the search page, with its best passage.

    `snippet` is plain text; `marks` are the character ranges in it that matched. `span` is
    the place of the passage in the note's body, `around` that of its sentences which tell
    most of what was asked. Of code the snippet has lines. `updated` is when its file changed,
    `day` the day the note is of. `rank` counts from 1. `summary` is
    a model's line about the passage, where the vault has such lines. `also_in`: other notes
    whose passage says the same.
    """

    rank: int
    note_id: int
    vault_slug: str
    vault_name: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    snippet: str
    span: tuple[int, int]
    arms: tuple[str, ...]
    updated: datetime
    day: date
    score: float = 0.0
    marks: tuple[tuple[int, int], ...] = ()
    standing: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""
    around: Place | None = None
    is_code: bool = False
    also_in: tuple[Copy, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Notes, best first, and how they were found: nothing silent."""

    hits: tuple[Hit, ...]
    arms: tuple[Arm, ...]
    timings: dict[str, float]
    notices: tuple[str, ...] = ()
    searched_vaults: tuple[str, ...] = ()
