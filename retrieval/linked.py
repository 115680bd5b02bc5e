"""Notes that the passages embed or link to: they come last, and say where they come from."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection

from retrieval.core.expansion import Group, Piece
from retrieval.core.types import Candidate
from retrieval.filters import note_condition
from vault.core.types import Scope

# More would fill the prompt with what nobody asked for.
MOST_LINKED = 3

# For each note linked from within a passage, its first such passage; of the note, the chunk
# under the heading that the link names, else its first.
_LINKED = """
SELECT number, is_embed, id, note_id, ordinal, start, "end", tokens, content, heading_path
FROM (
    SELECT DISTINCT ON (n.id) g.number, l.is_embed, l.start AS place, c.*
    FROM unnest(%(notes)s::bigint[], %(starts)s::int[], %(stops)s::int[])
        WITH ORDINALITY AS g(note_id, first, last, number)
    JOIN vault_link l ON l.source_id = g.note_id AND l.vault_id = ANY(%(vaults)s)
        AND l.start >= g.first AND l.start < g.last AND (l.is_embed OR %(links)s)
    JOIN vault_note n ON n.id = l.target_id AND n.vault_id = ANY(%(vaults)s)
        AND NOT n.id = ANY(%(notes)s) AND {condition}
    CROSS JOIN LATERAL (
        SELECT id, note_id, ordinal, start, "end", tokens, content, heading_path
        FROM vault_chunk WHERE vault_id = n.vault_id AND note_id = n.id
        ORDER BY (l.anchor <> '' AND l.anchor = ANY(heading_path)) DESC, ordinal LIMIT 1
    ) AS c
    ORDER BY n.id, g.number, l.start
) AS each
ORDER BY is_embed DESC, number, place, id
LIMIT %(most)s
"""


def linked_groups(
    groups: Sequence[Group], *, scope: Scope, room: int, with_links: bool
) -> list[Group]:
    """Passages for notes of `scope` that `groups` embed and, `with_links`, link to.

    At most MOST_LINKED and `room` tokens; a note that has a passage already gets none.
    """
    if not groups or room <= 0:
        return []
    condition, values = note_condition((), scope)
    values |= {
        "notes": [group.lead.note_id for group in groups],
        "starts": [group.start for group in groups],
        "stops": [group.end for group in groups],
        "vaults": list(scope.vault_ids),
        "links": with_links,
        "most": MOST_LINKED,
    }
    with connection.cursor() as cursor:
        cursor.execute(_LINKED.format(condition=condition), values)
        rows = cursor.fetchall()
    found: list[Group] = []
    for number, is_embed, *columns in rows:
        piece = Piece(*columns)
        if piece.tokens <= room:
            room -= piece.tokens
            lead = Candidate(piece.chunk_id, piece.note_id, 0.0)
            host = groups[number - 1]
            found.append(Group(lead, [piece], host=host, is_embed=is_embed))
    return found
