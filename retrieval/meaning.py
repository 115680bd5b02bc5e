"""The vector arm of a search, as parts of its statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from providers.models import EmbeddingModel
from retrieval.core import meaning_sql, near_notes_sql, sql
from retrieval.core.sql import fill
from retrieval.facts import ScopeFacts
from retrieval.near_notes import NearNote
from retrieval.near_passages import MOST_LATE, NearPassages
from vault.fields import Vector, vector_literal
from vault.staleness import fingerprint
from vault.vector_index import model_condition, vector_cast, vector_expression


@dataclass(frozen=True, slots=True)
class VectorArm:
    """Search by meaning under one model, in the vaults it serves.

    Either `query` (float32 (d,), unit norm) for the database to compare, or `found`: chunk
    ids with their cosines, compared in memory. `notes`: whole notes that are near, whose
    passages are measured beside what an index finds. `passages`: what is near by its signs, in
    place of both.
    """

    model: EmbeddingModel
    vault_ids: tuple[int, ...]
    query: Vector | None = None
    found: tuple[tuple[int, float], ...] = ()
    notes: tuple[NearNote, ...] = ()
    passages: NearPassages | None = None


def meaning_parts(
    vectors: Sequence[VectorArm], *, facts: ScopeFacts, filters: str, depth: int
) -> tuple[tuple[str, ...], dict[str, Any]]:
    """What is near, one list a model, put together; and what keywords found, measured."""
    near: list[str] = []
    lists: list[str] = []
    measured: list[str] = []
    values: dict[str, Any] = {}
    for number, arm in enumerate(vectors):
        values |= _values(arm, number)
        if arm.query is None:
            lists.append(
                fill(
                    meaning_sql.FOUND_IN_MEMORY,
                    number=number,
                    filters=filters or "TRUE",
                    depth=int(depth),
                )
            )
            measured.append(fill(meaning_sql.MEASURED_IN_MEMORY, number=number))
        else:
            near.append(fill(meaning_sql.ASKED, number=number, cast=vector_cast(arm.model)))
            near += _nearest(arm, number=number, facts=facts, filters=filters, depth=depth)
            lists.append(fill(meaning_sql.CURRENT, number=number, near=f"near_{number}"))
            measured.append(_measured(arm, number))
    meaning = fill(
        meaning_sql.MEANING,
        lists="\nUNION ALL\n".join(f"({part})" for part in lists) or meaning_sql.NOTHING_NEAR,
        measured="".join(f"\nUNION ALL\n({part})" for part in measured),
        scaled=sql.scaled("cosine", among="is_near"),
    )
    return (*near, meaning), values


def liked_parts(vectors: Sequence[VectorArm], *, score: str) -> tuple[str, ...]:
    """Likeness to the best passage, in the order of `score`; as many parts as it takes.

    Nothing where memory compares: there are no vectors in the statement then.
    """
    pairs = [
        fill(
            meaning_sql.PAIRS,
            number=number,
            vector=vector_expression(arm.model, table="v"),
            first_vector=vector_expression(arm.model, table="first"),
            condition=model_condition(arm.model, table="v"),
            first_condition=model_condition(arm.model, table="first"),
        )
        for number, arm in enumerate(vectors)
        if arm.query is not None
    ]
    if not pairs:
        return ()
    liked = fill(
        meaning_sql.LIKED,
        likeness=meaning_sql.LIKENESS,
        few=meaning_sql.FEW_FOREIGN,
        score=score,
        scaled=sql.scaled("likeness", among="is_near"),
        pairs="\nUNION ALL\n".join(pairs),
    )
    return (liked,)


def note_rank(vectors: Sequence[VectorArm], facts: ScopeFacts) -> str:
    """SQL of the place of the whole note that brought the passage `placed`, if one did."""
    if not (uses_index(facts, vectors) and facts.is_missing):
        return "NULL::bigint"
    ranks = ", ".join(
        fill(near_notes_sql.NOTE_RANK, number=number)
        for number, arm in enumerate(vectors)
        if arm.query is not None and arm.passages is None
    )
    return f"CASE WHEN placed.vector_rank IS NOT NULL THEN LEAST({ranks}) END"


def uses_index(facts: ScopeFacts, vectors: Sequence[VectorArm]) -> bool:
    """Whether the index of a model is read, and not every vector of the scope."""
    return not facts.is_small and any(
        arm.query is not None and arm.passages is None for arm in vectors
    )


def _values(arm: VectorArm, number: int) -> dict[str, Any]:
    values: dict[str, Any] = {f"vaults_{number}": list(arm.vault_ids)}
    if arm.query is None:
        values[f"ids_{number}"] = [chunk_id for chunk_id, _ in arm.found]
        values[f"cosines_{number}"] = [cosine for _, cosine in arm.found]
    else:
        values[f"query_{number}"] = vector_literal(arm.query)
        values[f"space_{number}"] = fingerprint(arm.model)
        if arm.passages is not None:
            values[f"passages_{number}"] = list(arm.passages.chunk_ids)
            values[f"passage_vaults_{number}"] = list(arm.passages.vault_ids)
            values[f"seen_{number}"] = arm.passages.seen
        values[f"notes_{number}"] = [note.note_id for note in arm.notes]
        values[f"note_vaults_{number}"] = [note.vault_id for note in arm.notes]
    return values


def distance_of(arm: VectorArm, number: int, *, table: str = "v") -> str:
    """SQL of the distance between the vector of `table` and the one that is asked for."""
    vector = vector_expression(arm.model, table=table)
    return fill(meaning_sql.DISTANCE, vector=vector, number=number)


def _nearest(
    arm: VectorArm, *, number: int, facts: ScopeFacts, filters: str, depth: int
) -> tuple[str, ...]:
    """What is near: every vector compared, or what signs, or the index bring, and whole notes
    where it misses some."""
    parts: dict[str, object] = {
        "number": number,
        "condition": model_condition(arm.model, table="v"),
        "distance": distance_of(arm, number),
        "depth": int(depth),
    }
    if arm.passages is not None:
        note = meaning_sql.NOTE_OF_VECTOR if filters else meaning_sql.NO_NOTE
        by_signs = {"late": MOST_LATE, "filters": filters or "TRUE", "note": note}
        return (fill(meaning_sql.NEAREST_BY_SIGNS, **parts, **by_signs),)
    if facts.is_small:
        filtered = fill(meaning_sql.FILTERED_VECTORS, filters=filters) if filters else "TRUE"
        # The planner takes HNSW even for 182 rows: an expression hides the index.
        exactly = {"name": "near", "exactly": " + 0", "filters": filtered}
        if facts.is_sliver:
            parts["condition"] = f"({parts['condition']}){sql.BY_ROW}"
        return (fill(meaning_sql.NEAREST, **parts, **exactly),)
    filtered = fill(meaning_sql.ASKED_OF_EACH, filters=filters) if filters else "TRUE"
    parts["name"] = "by_index" if facts.is_missing else "near"
    if sql.ALLOWED_CHUNKS in filters:
        by_index = fill(
            meaning_sql.NEAREST_IN_NOTES,
            **parts,
            narrow=meaning_sql.NARROW_NOTES,
            filters=filters,
            filtered=filtered,
        )
    else:
        by_index = fill(meaning_sql.NEAREST, **parts, exactly="", filters=filtered)
    if not facts.is_missing:
        return (by_index,)
    by_notes = fill(
        near_notes_sql.NEAR_BY_NOTES,
        **parts,
        note_condition=model_condition(arm.model, table="n"),
        note_distance=distance_of(arm, number, table="n"),
        filters=filters or "TRUE",
        notes=near_notes_sql.MEASURED_NOTES,
        passages=near_notes_sql.MEASURED_PASSAGES,
    )
    return by_index, by_notes


def _measured(arm: VectorArm, number: int) -> str:
    return fill(
        meaning_sql.MEASURED,
        number=number,
        condition=model_condition(arm.model, table="v"),
        distance=distance_of(arm, number),
    )
