"""The SQL of a search: both arms and their fusion in one statement.

Rights are in every arm (`vault_id = ANY(...)`, from the scope). What a user typed reaches
SQL only as a bound value, and PostgreSQL's text *parser* (to_tsvector), never its tsquery
parser: queries are put together from quoted lexemes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.utils import timezone
from numpy.typing import NDArray

from retrieval.core import keyword_sql, sql
from retrieval.core.dates import dates_in
from retrieval.core.everyday_words import everyday_words_in
from retrieval.core.foreign import own_config
from retrieval.core.meaning_sql import NARROW_NOTES
from retrieval.core.query import (
    ParsedQuery,
    identifiers_in,
    like_pattern,
    names_in,
    phrase_pattern,
    sections_meant,
)
from retrieval.core.question_words import without_question_words
from retrieval.core.respelling import respelled
from retrieval.core.sql import fill
from retrieval.core.types import MOST_EF_SEARCH, Candidate, Knobs, Mode
from retrieval.database import keeping_cursor
from retrieval.facts import ScopeFacts
from retrieval.filters import allowed_notes, barred_parts, names_notes, narrows, note_condition
from retrieval.meaning import VectorArm, meaning_parts, note_rank, uses_index
from retrieval.near import Near, with_near
from retrieval.paths import code_parts, code_path
from retrieval.ranking import ranked_parts
from vault.core.lexical import other_spellings, query_tokens, words_joined
from vault.core.names import lookup_key
from vault.core.types import Scope

# In a scope this small all lexemes are cheap, and none may be rare by the installation's
# count.
EVERY_LEXEME_UP_TO = 2_000
# Texts of the lexical arm that are kept: filling them in takes half a millisecond.
_KEPT_TEXTS = 64
# A search that takes longer has gone wrong; the connection is worth more.
TIMEOUT_MS = 10_000
MOST_TITLES = 20
# 100,000 rows of a million chunks, as a bitmap.
WORK_MEMORY = "32MB"


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of a search, best first.

    `mended` is the spelling that was corrected ("typed → taken"), `terms` the lexemes that
    were looked for, `share` how much of the question, by idf, the best keyword hit holds. `notes`
    is how many whole notes were near by their signs, where the index was asked. `by_signs`:
    passages were compared by their signs in its place.
    """

    candidates: tuple[Candidate, ...]
    mended: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    share: float = 0.0
    notes: int = 0
    by_signs: bool = False


def run_search(
    query: ParsedQuery,
    *,
    scope: Scope,
    facts: ScopeFacts,
    knobs: Knobs,
    vectors: Sequence[VectorArm],
) -> Found:
    """Search `scope` by the arms of `knobs.mode`: one statement, in its own transaction.

    Raises django.db.OperationalError when it takes longer than TIMEOUT_MS.
    """
    is_narrow = narrows(query, scope)
    facts = facts.narrowed(narrows=is_narrow)
    among = _among(query, scope, facts) if is_narrow else None
    near = Near(facts, knobs, among)
    # A passage with a phrase is found by its words, and an index is read on until some fit.
    vectors = [with_near(arm, near, by_signs=not query.phrases) for arm in vectors]
    lets_many = (
        among is not None
        and names_notes(query, scope)
        and not facts.is_readable
        and len(among()) > NARROW_NOTES
    )
    statement, values = search_statement(
        query, scope=scope, facts=facts, knobs=knobs, vectors=vectors, lets_many=lets_many
    )
    # What filters, phrases and excluded words make of the statement comes once. A plan for any
    # scope reads the rows of all vaults where those of a few would do; that of a sliver names
    # no index but those of its vaults.
    keeps = (facts.is_most or facts.is_sliver) and not is_narrow
    with transaction.atomic(), keeping_cursor() if keeps else connection.cursor() as cursor:
        _set_local(
            cursor,
            uses_index=uses_index(facts, vectors),
            least_ef=max(round(knobs.ef_search * facts.width), knobs.depth),
            mends=facts.has_trigrams and knobs.mode != Mode.SEMANTIC,
        )
        cursor.execute(statement, values)
        rows = cursor.fetchall()
    mended, terms, share = rows[0][-3:] if rows else ((), (), 0)
    found = tuple(map(_candidate, rows))
    notes = sum(len(arm.notes) for arm in vectors)
    by_signs = any(arm.passages is not None for arm in vectors)
    return Found(found, tuple(mended or ()), tuple(terms or ()), float(share or 0), notes, by_signs)


def _among(query: ParsedQuery, scope: Scope, facts: ScopeFacts) -> Callable[[], NDArray[np.int64]]:
    """Looks the notes up that may be found: once, and when they are asked for."""

    @cache
    def among() -> NDArray[np.int64]:
        with transaction.atomic(), connection.cursor() as cursor:
            _set_local(cursor, uses_index=False)
            return allowed_notes(query, scope=scope, text_configs=facts.text_configs)

    return among


def search_statement(
    query: ParsedQuery,
    *,
    scope: Scope,
    facts: ScopeFacts,
    knobs: Knobs,
    vectors: Sequence[VectorArm],
    lets_many: bool = False,
) -> tuple[str, dict[str, Any]]:
    """The statement and its values. Knobs and model ids are literals, text is bound.

    A bound model id would lose the partial index under a cached plan. `lets_many`: filters and
    folders let many notes through, so that each passage is looked at before it is asked whether
    it may be found; otherwise the planner may begin with those that may.
    """
    by_words = knobs.mode != Mode.SEMANTIC
    filters, values = _filters(query, scope, lets_many=lets_many)
    barred, barred_values = barred_parts(query)
    days, other = _days(query), respelled(query.text)
    values |= {
        "vaults": list(scope.vault_ids),
        "configs": list(facts.text_configs),
        "own": own_config(query.text),
        "identifiers": list(identifiers_in(query.text)) if by_words else [],
        "sections": list(sections_meant(query)),
        "text": query.text,
        "as_typed": like_pattern(query.text),
        "respelled": other,
        "everyday": list(everyday_words_in(query.text)),
        "made": _made(query.text, other, days),
        "keys": sorted(set(map(lookup_key, (*names_in(query), *days))) - {""}) if by_words else [],
        "scope_chunks": facts.chunks,
        **_vaults(facts, scope),
    }
    meaning, meaning_values = meaning_parts(
        vectors, facts=facts, filters=filters, depth=knobs.depth
    )
    path = code_path(query, facts=facts, knobs=knobs, has_vectors=bool(vectors))
    ranked, ranked_values = ranked_parts(
        query,
        knobs=knobs,
        vectors=vectors,
        path=path,
        has_identifiers=bool(values["identifiers"]),
        note_rank=note_rank(vectors, facts),
    )
    parts = (
        *_allowed(query, scope),
        *barred,
        *_keywords(facts, scope, filters=filters, depth=knobs.depth, runs=by_words),
        *meaning,
        *(code_parts(vectors, facts=facts, filters=filters, limit=path.limit) if path.runs else ()),
        fill(sql.TITLES, most=MOST_TITLES, condition=_title_condition(query, scope)),
        *ranked,
    )
    statement = "WITH " + ",\n".join(parts)
    return statement, values | barred_values | meaning_values | ranked_values


def find_in_text(query: ParsedQuery, *, scope: Scope, limit: int) -> tuple[Candidate, ...]:
    """Notes whose title, path or body holds the query as typed, names first.

    For what has no lexemes (a stop word that is a name, a phrase of such) or is part of a word;
    of a query with phrases, these. Reads bodies: for scopes that are small. Text of one or two
    characters must be a word of its own.
    """
    text = query.text
    if not query.is_findable:
        return ()
    pattern = phrase_pattern(query.phrases[0]) if query.phrases else rf"\m{phrase_pattern(text)}\M"
    allowed, values = note_condition(query.filters, scope)
    values |= {
        "vaults": list(scope.vault_ids),
        "text": text,
        "pattern": pattern,
        "like": like_pattern(text),
        "limit": int(limit),
    }
    phrases = [fill(sql.HAS_PHRASE, number=number) for number, _ in enumerate(query.phrases)]
    values |= {f"phrase_{n}": phrase_pattern(said) for n, said in enumerate(query.phrases)}
    anywhere = sql.WHOLE_WORD if len(text) < 3 and text.isascii() else sql.ANYWHERE
    condition = " AND ".join(phrases) or anywhere
    with transaction.atomic(), connection.cursor() as cursor:
        _set_local(cursor, uses_index=False)
        cursor.execute(
            fill(sql.IN_TEXT, condition=f"{condition} AND {allowed} AND {sql.SEARCHED}"), values
        )
        rows = cursor.fetchall()
    return tuple(
        Candidate(chunk_id=chunk_id or 0, note_id=note_id, score=0.0, in_text=True)
        for note_id, chunk_id in rows
    )


def _set_local(
    cursor: Any,
    *,
    uses_index: bool,
    least_ef: int = 0,
    mends: bool = False,
) -> None:
    """Settings for this transaction alone, in one round trip."""
    settings = {
        "statement_timeout": str(TIMEOUT_MS),
        # A bitmap that does not fit forgets rows, and whole pages are compared again.
        "work_mem": WORK_MEMORY,
        # Rows are taken in the order they lie in, the same every time.
        "enable_seqscan": "off",
        "max_parallel_workers_per_gather": "0",
        # Compiling takes longer than any search.
        "jit": "off",
    }
    if mends:
        # `%` uses the trigram index down to this; its own 0.3 reads eight times as many rows.
        settings["pg_trgm.similarity_threshold"] = str(keyword_sql.NEAR_BY_A_LETTER)
    if uses_index:
        settings["hnsw.ef_search"] = str(min(least_ef, MOST_EF_SEARCH))
        settings["hnsw.iterative_scan"] = "relaxed_order"
    calls = ", ".join("set_config(%s, %s, true)" for _ in settings)
    cursor.execute(f"SELECT {calls}", [part for pair in settings.items() for part in pair])


def _filters(query: ParsedQuery, scope: Scope, *, lets_many: bool) -> tuple[str, dict[str, Any]]:
    """Conditions on chunk `c` for filters, folders, phrases and excluded words, and their
    values."""
    _, values = note_condition(query.filters, scope)
    allowed = sql.IS_ALLOWED if lets_many else sql.ALLOWED_CHUNKS
    conditions = [allowed] if names_notes(query, scope) else []
    for number, phrase in enumerate(query.phrases):
        conditions.append(f"(c.heading_text || ' ' || c.content) ~* %(phrase_{number})s")
        values[f"phrase_{number}"] = phrase_pattern(phrase)
    if query.excludes:
        conditions.append("c.note_id NOT IN (SELECT note_id FROM barred)")
    return " AND ".join(conditions), values


def _title_condition(query: ParsedQuery, scope: Scope) -> str:
    conditions = [sql.SEARCHED]
    if names_notes(query, scope):
        conditions.append(sql.ALLOWED_NOTES)
    if query.excludes:
        conditions.append(sql.BARRED_NOTES)
    return " AND ".join(conditions)


def _allowed(query: ParsedQuery, scope: Scope) -> tuple[str, ...]:
    if not names_notes(query, scope):
        return ()
    condition, _ = note_condition(query.filters, scope)
    return (fill(sql.ALLOWED, condition=condition),)


def _keywords(
    facts: ScopeFacts, scope: Scope, *, filters: str, depth: int, runs: bool
) -> tuple[str, ...]:
    """The keyword arm, or an empty list in its place."""
    if not runs:
        empty = {"mended": keyword_sql.NOT_MENDED, "named": keyword_sql.NONE_NAMED}
        return (fill(keyword_sql.NO_LEXICAL, **empty),)
    is_tiny = facts.is_readable and facts.chunks <= EVERY_LEXEME_UP_TO
    words = _words(mends=facts.has_trigrams, in_folders=bool(scope.rules))
    reach = keyword_sql.reach(depth, chunks=facts.chunks)
    by_row = sql.BY_ROW if facts.is_sliver else ""
    return (words, _lexical(reach, every=is_tiny, by_row=by_row, filters=filters, depth=depth))


@cache
def _words(*, mends: bool, in_folders: bool) -> str:
    """What is looked for, how frequent it is, and what was probably meant."""
    counted, held = keyword_sql.COUNTED, "TRUE"
    if in_folders:
        counted = keyword_sql.COUNTED_IN_FOLDERS
        held = fill(
            keyword_sql.HELD_IN_FOLDERS, quoted=sql.quoted("word.lexeme"), chunks=sql.ALLOWED_CHUNKS
        )
    near = fill(
        keyword_sql.MENDED,
        near=keyword_sql.NEAR,
        near_but_end=keyword_sql.NEAR_BUT_END,
        slip=keyword_sql.SLIP,
        shortest=keyword_sql.SHORTEST,
        held=held,
    )
    return fill(
        keyword_sql.ASKED,
        counted=fill(counted, quoted=sql.quoted("asked.lexeme"), chunks=sql.ALLOWED_CHUNKS),
        mended=near if mends else keyword_sql.NOT_MENDED,
        few=keyword_sql.FEW,
        rare_share=keyword_sql.RARE_SHARE,
    )


@lru_cache(maxsize=_KEPT_TEXTS)
def _lexical(
    reach: keyword_sql.Reach, *, every: bool, by_row: str, filters: str, depth: int
) -> str:
    """BM25 over the candidates that `filters` let through; all lexemes count if `every`."""
    return fill(
        keyword_sql.LEXICAL,
        quoted_lexeme=sql.quoted("lexeme"),
        every="TRUE" if every else "FALSE",
        **asdict(reach),
        by_row=by_row,
        filters=filters or "TRUE",
        heading=keyword_sql.HEADING,
        last_heading=keyword_sql.LAST_HEADING,
        named=keyword_sql.NAMED,
        k1=keyword_sql.K1,
        b=keyword_sql.B,
        depth=int(depth),
        scaled=sql.scaled("score"),
    )


def _days(query: ParsedQuery) -> tuple[str, ...]:
    """The days that the query names, as notes are named after them: 2024-03-05."""
    found = dates_in(query.text, today=timezone.localdate())
    return tuple(each.first.isoformat() for each in found if each.first == each.last)


def _vaults(facts: ScopeFacts, scope: Scope) -> dict[str, Any]:
    """The vaults that are open as a whole, of which words are counted beforehand, how many of them
    hold something, and the others."""
    part = {rule.vault_id for rule in scope.rules}
    whole = [vault for vault in facts.vaults if vault.vault_id not in part]
    return {
        "whole_vaults": [vault.vault_id for vault in whole],
        "part_vaults": [vault_id for vault_id in scope.vault_ids if vault_id in part],
        "filled": sum(vault.chunks > 0 for vault in whole),
    }


def _made(text: str, respelled_text: str, days: Sequence[str]) -> str:
    """Tokens of the query beside its words, in both its spellings, and of the days that it
    names."""
    tokens = (
        *query_tokens(without_question_words(text)),
        *other_spellings(text),
        *words_joined(text),
        *query_tokens(without_question_words(respelled_text)),
        *query_tokens(" ".join(days)),
    )
    return " ".join(tokens)


def _candidate(row: Sequence[Any]) -> Candidate:
    chunk_id, note_id, score, lexical_rank, vector_rank, exact, bm25, cosine = row[:8]
    return Candidate(
        chunk_id=chunk_id or 0,
        note_id=note_id,
        score=float(score),
        lexical_rank=lexical_rank,
        vector_rank=vector_rank,
        exact=exact,
        bm25=None if bm25 is None else float(bm25),
        cosine=None if cosine is None else float(cosine),
        code_rank=row[8],
        note_rank=row[9],
    )
