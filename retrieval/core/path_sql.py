"""Paths that bring passages to the arms of the search statement: source code, whole notes.

As in retrieval/core/sql.py, `{name}` is filled in with text of our own, and `%(name)s` is a
bound value. Measured figures: docs/retrieval.md.
"""

from __future__ import annotations

# Candidates of the code path: so many times what is wanted, within these bounds. Filters and
# passages of one note consume some.
CODE_OVERFETCH, LEAST_CODE, MOST_CODE = 5, 20, 200
# Passages of code that are compared one by one, where all passages are too many for that: an
# index passes nearly all it looks at over, and gives up before it has enough. At 2.3 µs each so
# many cost as much as an index scan that looks at a thousand.
FEW_CODE = 20_000
# How near the best of code must be, as a share of the best cosine of all: for questions about
# code it is 0.86 or more, for three of four others less.
NEARLY = 0.85
# What a passage of text counts where a question is about code.
TEXT_WEIGHT = 0.6


def code_limit(wanted: int) -> int:
    """How many passages of code are candidates where `wanted` hits are."""
    return min(MOST_CODE, max(LEAST_CODE, CODE_OVERFETCH * wanted))


CODE_EXACTLY = """
code_near_{number} AS MATERIALIZED (
    SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance
    FROM vault_chunk c JOIN vault_chunkvector v
        ON v.chunk_id = c.id AND v.vault_id = c.vault_id AND {condition}
    WHERE c.is_code AND c.vault_id = ANY(%(vaults_{number})s) AND {filters}
    ORDER BY {distance} + 0 LIMIT {limit}
)"""
# How many there are is known once they are counted, and only one way is gone.
CODE_BY_INDEX = """
code_few_{number} AS MATERIALIZED (
    SELECT count(*) <= {few} AS holds FROM (
        SELECT 1 FROM vault_chunk c
        WHERE c.is_code AND c.vault_id = ANY(%(vaults_{number})s) LIMIT {few} + 1
    ) AS seen
),
code_near_{number} AS MATERIALIZED (
    (SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance
    FROM vault_chunk c JOIN vault_chunkvector v
        ON v.chunk_id = c.id AND v.vault_id = c.vault_id AND {condition}
    WHERE (SELECT holds FROM code_few_{number}) AND c.is_code
        AND c.vault_id = ANY(%(vaults_{number})s) AND {filters}
    ORDER BY {distance} + 0 LIMIT {limit})
    UNION ALL
    (SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance
    FROM vault_chunkvector v
    WHERE NOT (SELECT holds FROM code_few_{number}) AND {condition}
        AND v.vault_id = ANY(%(vaults_{number})s) AND EXISTS (
            SELECT 1 FROM vault_chunk c WHERE c.id = v.chunk_id AND c.is_code AND {filters}
        )
    ORDER BY {distance} LIMIT {limit})
)"""
# As in memory they were compared: only what was handed over.
CODE_IN_MEMORY = """
SELECT {number} AS list, c.id AS chunk_id, near.cosine
FROM unnest(%(ids_{number})s::bigint[], %(cosines_{number})s::float[]) AS near(id, cosine)
JOIN vault_chunk c ON c.id = near.id
WHERE c.is_code AND c.vault_id = ANY(%(vaults_{number})s) AND {filters}
ORDER BY near.cosine DESC, c.id LIMIT {limit}"""

# code_found: the nearest of code, the lists of all models in turn.
# code: these, where the best of them is nearly as near as the best of all; where it is further
#   off, the question's words for code meant something else.
# reached: what is near, and what the path brought beside it.
CODE = """
code_found AS MATERIALIZED (
    SELECT list, chunk_id, cosine,
        row_number() OVER (ORDER BY place, cosine DESC, chunk_id) AS rank
    FROM (
        SELECT list, chunk_id, cosine,
            row_number() OVER (PARTITION BY list ORDER BY cosine DESC, chunk_id) AS place
        FROM ({lists}) AS found
    ) AS each
),
code AS MATERIALIZED (
    SELECT list, chunk_id, cosine, rank FROM code_found WHERE EXISTS (
        SELECT 1 FROM (SELECT list, max(cosine) AS cosine FROM code_found GROUP BY list) AS own
        JOIN (SELECT list, max(cosine) AS cosine FROM meaning GROUP BY list) AS best USING (list)
        WHERE own.cosine >= {near} * best.cosine
    )
),
reached AS MATERIALIZED (
    SELECT list, chunk_id, cosine, scaled, rank FROM meaning
    UNION ALL
    SELECT list, chunk_id, cosine, 0, NULL FROM code
    WHERE chunk_id NOT IN (SELECT chunk_id FROM meaning)
)"""
CODE_RANK = "(SELECT code.rank FROM code WHERE code.chunk_id = {table}.chunk_id)"
# Where code is asked for, the path is no starving one: its first counts as the nearest of all,
# its second as half as near.
CODE_SCALED = """GREATEST(fused.meaning_scaled,
        (SELECT 1.0 / code.rank FROM code WHERE code.chunk_id = fused.chunk_id))"""
# And where the path found something, passages of text stand back, but for those of the note that
# both keywords and meaning put first.
CODE_FIRST = """(CASE WHEN EXISTS (SELECT 1 FROM code)
        AND NOT (SELECT c.is_code FROM vault_chunk c WHERE c.id = fused.chunk_id)
        AND NOT (EXISTS (SELECT 1 FROM lexical) AND fused.note_id = ALL (
            SELECT first.note_id FROM fused AS first
            WHERE 1 IN (first.lexical_rank, first.vector_rank)))
    THEN {text_weight} ELSE 1 END)"""
