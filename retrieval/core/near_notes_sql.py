"""Passages of whole notes that are near, beside those that the index of vectors finds.

As in retrieval/core/sql.py, `{name}` is filled in with text of our own, and `%(name)s` is a
bound value. Measured figures: docs/retrieval.md.
"""

from __future__ import annotations

# Notes whose passages are measured: of those that are near by their signs, the nearest by their
# vectors. Of a million made-up passages an index that finds 0.88 of the ten nearest alone finds
# 0.917 with 30 notes, 0.932 with 60, 0.937 with 100, at 50 us of the processor a note.
MEASURED_NOTES = 60
# Passages of one note that are measured. The mean of a longer one says little of any of them.
MEASURED_PASSAGES = 40

# Each step is one look by a key: 300 notes, then at most MEASURED_NOTES times their passages.
NEAR_BY_NOTES = """
near_notes_{number} AS MATERIALIZED (
    SELECT n.vault_id, n.note_id, row_number() OVER (ORDER BY {note_distance}, n.note_id) AS rank
    FROM unnest(%(notes_{number})s::bigint[], %(note_vaults_{number})s::bigint[])
        AS near(note_id, vault_id)
    JOIN vault_notevector n ON {note_condition}
        AND n.vault_id = near.vault_id AND n.note_id = near.note_id
    WHERE near.vault_id = ANY(%(vaults_{number})s) AND n.fingerprint = %(space_{number})s
    ORDER BY {note_distance}, n.note_id LIMIT {notes}
),
by_notes_{number} AS MATERIALIZED (
    SELECT v.chunk_id, v.embed_hash, v.fingerprint, {distance} AS distance, near.rank
    FROM near_notes_{number} AS near
    CROSS JOIN LATERAL (
        SELECT c.id FROM vault_chunk c
        WHERE c.vault_id = near.vault_id AND c.note_id = near.note_id AND {filters}
        ORDER BY c.ordinal LIMIT {passages}
    ) AS own
    JOIN vault_chunkvector v ON {condition}
        AND v.vault_id = near.vault_id AND v.chunk_id = own.id
),
near_{number} AS MATERIALIZED (
    SELECT chunk_id, embed_hash, fingerprint, distance FROM by_index_{number}
    UNION
    SELECT chunk_id, embed_hash, fingerprint, distance FROM by_notes_{number}
    ORDER BY distance LIMIT {depth}
)"""
# The place of the note that brought a passage among the nearest: the best of all models.
NOTE_RANK = "(SELECT rank FROM by_notes_{number} AS own WHERE own.chunk_id = placed.chunk_id)"
