"""The vector arm of the search statement: what is near, and what is near to the best passage.

As in retrieval/core/sql.py, `{name}` is filled in with text of our own, and `%(name)s` is a
bound value. Measured figures: docs/retrieval.md.
"""

from __future__ import annotations

# How much likeness to the best passage counts beside likeness to the question, for each share
# of other languages among what is near.
LIKENESS = 0.8
# Under this share a scope is of one language: there, likeness to the best passage finds no more.
FEW_FOREIGN = 0.1

# The vector that is asked for, once for all parts.
ASKED = """
asked_{number} AS MATERIALIZED (SELECT %(query_{number})s::{cast} AS vector)"""
DISTANCE = "({vector} <=> (SELECT vector FROM asked_{number}))"
# Nothing but the distance in ORDER BY, the condition and the cast of the index: anything
# else loses it. `{exactly}` hides it on purpose. Materialised: under old statistics the
# planner may put the join with chunks outside and scan the index once a chunk.
NEAREST = """
{name}_{number} AS MATERIALIZED (
    SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance
    FROM vault_chunkvector v
    WHERE {condition} AND v.vault_id = ANY(%(vaults_{number})s) AND {filters}
    ORDER BY {distance}{exactly}
    LIMIT {depth}
)"""
# The notes that filters and folders let through may be few in what the index holds: it would
# pass nearly all of it over, and give up before it has enough. Then their vectors are compared
# one by one. Which way is taken is known once they are counted, and only that one runs.
NARROW_NOTES = 1_000
NEAREST_IN_NOTES = """
narrow_{number} AS MATERIALIZED (
    SELECT count(*) <= {narrow} AS holds FROM (SELECT 1 FROM allowed LIMIT {narrow} + 1) AS few
),
{name}_{number} AS MATERIALIZED (
    (SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance
    FROM allowed JOIN vault_chunk c ON c.note_id = allowed.id JOIN vault_chunkvector v
        ON v.chunk_id = c.id AND v.vault_id = c.vault_id AND {condition}
    WHERE (SELECT holds FROM narrow_{number}) AND c.vault_id = ANY(%(vaults_{number})s)
        AND {filters}
    ORDER BY {distance} + 0 LIMIT {depth})
    UNION ALL
    (SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance
    FROM vault_chunkvector v
    WHERE NOT (SELECT holds FROM narrow_{number}) AND {condition}
        AND v.vault_id = ANY(%(vaults_{number})s) AND {filtered}
    ORDER BY {distance} LIMIT {depth})
)"""
# Those that seem near by their signs, and every vector that was written since the signs were
# read: a step by a key each. Both may bring the same. Filters are asked of these alone: joined
# with what is allowed, the planner would read all that is.
NEAREST_BY_SIGNS = """
measured_{number} AS MATERIALIZED (
    SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance, {note} AS note_id
    FROM unnest(%(passages_{number})s::bigint[], %(passage_vaults_{number})s::bigint[])
        AS near(chunk_id, vault_id)
    JOIN vault_chunkvector v ON {condition}
        AND v.vault_id = near.vault_id AND v.chunk_id = near.chunk_id
    UNION
    SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance, {note} AS note_id
    FROM generate_series(%(seen_{number})s::bigint + 1, LEAST(
        %(seen_{number})s::bigint + {late}, (SELECT last_value FROM vault_chunkvector_id_seq)
    )) AS late(id)
    JOIN vault_chunkvector v ON v.id = late.id AND {condition}
        AND v.vault_id = ANY(%(vaults_{number})s)
),
near_{number} AS MATERIALIZED (
    SELECT c.chunk_id, c.embed_hash, c.fingerprint, c.distance FROM measured_{number} AS c
    WHERE {filters}
    ORDER BY c.distance LIMIT {depth}
)"""
NOTE_OF_VECTOR = "(SELECT c.note_id FROM vault_chunk c WHERE c.id = v.chunk_id)"
NO_NOTE = "NULL::bigint"
# The vector of a text that was rewritten since (another hash), or of another make of the
# model, is dropped.
CURRENT = """
SELECT {number} AS list, near.chunk_id, 1 - near.distance AS cosine
FROM {near} AS near
JOIN vault_chunk c ON c.id = near.chunk_id AND c.embed_hash = near.embed_hash
WHERE near.fingerprint = %(space_{number})s"""
# What keywords alone found: how near it is after all.
MEASURED = """
SELECT {number} AS list, v.chunk_id, 1 - {distance} AS cosine, FALSE AS is_near
FROM lexical
JOIN vault_chunkvector v ON v.chunk_id = lexical.chunk_id AND {condition}
    AND v.vault_id = ANY(%(vaults_{number})s) AND v.fingerprint = %(space_{number})s
JOIN vault_chunk c ON c.id = v.chunk_id AND c.embed_hash = v.embed_hash
WHERE lexical.chunk_id NOT IN (SELECT chunk_id FROM nearest)"""

# Where an index gives one vector after the other it must stay a question about each: made a
# join, it would be answered for all that is allowed before the first is looked at.
ASKED_OF_EACH = "(SELECT TRUE FROM vault_chunk c WHERE c.id = v.chunk_id AND {filters})"
FILTERED_VECTORS = "EXISTS (SELECT 1 FROM vault_chunk c WHERE c.id = v.chunk_id AND {filters})"

FOUND_IN_MEMORY = """
SELECT {number} AS list, c.id AS chunk_id, near.cosine
FROM unnest(%(ids_{number})s::bigint[], %(cosines_{number})s::float[]) AS near(id, cosine)
JOIN vault_chunk c ON c.id = near.id
WHERE c.vault_id = ANY(%(vaults_{number})s) AND {filters}
ORDER BY near.cosine DESC, c.id LIMIT {depth}"""
MEASURED_IN_MEMORY = """
SELECT {number} AS list, lexical.chunk_id, near.cosine, FALSE AS is_near
FROM unnest(%(ids_{number})s::bigint[], %(cosines_{number})s::float[]) AS near(id, cosine)
JOIN lexical ON lexical.chunk_id = near.id
WHERE lexical.chunk_id NOT IN (SELECT chunk_id FROM nearest)"""

NOTHING_NEAR = "SELECT 0 AS list, NULL::bigint AS chunk_id, NULL::float AS cosine WHERE FALSE"

# Each model's list is scaled by itself: cosines of two models do not compare. Without what is
# measured beside the list, a keyword hit that is fairly near would count as if it were not near
# at all.
MEANING = """
nearest AS MATERIALIZED ({lists}),
compared AS MATERIALIZED (
    SELECT list, chunk_id, cosine, TRUE AS is_near FROM nearest
    {measured}
),
meaning AS MATERIALIZED (
    SELECT list, chunk_id, cosine, scaled, CASE WHEN is_near THEN
        row_number() OVER (PARTITION BY is_near ORDER BY scaled DESC, cosine DESC, chunk_id)
        END AS rank
    FROM (
        SELECT list, chunk_id, cosine, is_near, {scaled} AS scaled
        FROM compared WINDOW w AS (PARTITION BY list)
    ) AS each
)"""

# best: the best passage so far, and how much likeness to it counts. A question in one language
#   and a text in another are hard to compare even without the means of their languages; two
#   texts are easier.
# liked: likeness to the question and to the best passage together, scaled as before.
# refined: as `fused`, with that in place of the likeness to the question.
LIKED = """
best AS MATERIALIZED (
    SELECT fused.chunk_id, fused.list, foreigners.share * {likeness} AS weight
    FROM fused CROSS JOIN (
        SELECT avg(is_foreign::int) AS share FROM fused WHERE vector_rank IS NOT NULL
    ) AS foreigners
    WHERE fused.list IS NOT NULL AND foreigners.share >= {few}
    ORDER BY {score} DESC, fused.chunk_id LIMIT 1
),
liked AS MATERIALIZED (
    SELECT chunk_id, {scaled} AS scaled
    FROM ({pairs}) AS pairs WINDOW w AS ()
),
refined AS MATERIALIZED (
    SELECT fused.chunk_id, fused.note_id, fused.is_foreign, fused.lexical_rank,
        fused.vector_rank, fused.lexical_scaled, fused.bm25, fused.cosine, fused.held,
        fused.is_bare, COALESCE(liked.scaled, fused.meaning_scaled) AS meaning_scaled
    FROM fused LEFT JOIN liked ON liked.chunk_id = fused.chunk_id
)"""
PAIRS = """
SELECT fused.chunk_id, fused.vector_rank IS NOT NULL AS is_near,
    fused.cosine + best.weight * (1 - ({vector} <=> {first_vector})) AS likeness
FROM best
JOIN vault_chunkvector first ON first.chunk_id = best.chunk_id AND {first_condition}
JOIN fused ON fused.list = best.list
JOIN vault_chunkvector v ON v.chunk_id = fused.chunk_id AND {condition}
WHERE best.list = {number}"""
