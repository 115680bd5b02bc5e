"""What an answer rests on: its own passages, and those of all it was told.

An answer that was told an earlier one may repeat it, and that one what it was told: who
may not read the first may not read the last. Chains have any length.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from chat.models import Message

# UNION, not UNION ALL: each pair once, so that a chain ends also where a row names itself.
_BEHIND = """
WITH RECURSIVE behind(answer, id) AS (
    SELECT id, id FROM chat_message WHERE id = ANY(%(ids)s)
    UNION
    SELECT behind.answer, told.id::uuid
    FROM behind
    JOIN chat_message message ON message.id = behind.id
    CROSS JOIN LATERAL jsonb_array_elements_text(message.told) AS told(id)
)
"""
_ANSWERS = f"{_BEHIND} SELECT id FROM behind"  # noqa: S608
_VAULTS = f"""{_BEHIND}
SELECT DISTINCT behind.answer, source.vault_id
FROM behind JOIN chat_source source ON source.message_id = behind.id
"""  # noqa: S608


def answers_behind(message_id: UUID) -> set[UUID]:
    """An answer itself, and every answer that it may repeat."""
    with connection.cursor() as cursor:
        cursor.execute(_ANSWERS, {"ids": [message_id]})
        return {row[0] for row in cursor.fetchall()}


def vaults_behind(message_ids: Iterable[UUID]) -> dict[UUID, set[int | None]]:
    """The vaults that each answer rests on; None is one that was deleted.

    An answer that rests on none is left out.
    """
    found: dict[UUID, set[int | None]] = defaultdict(set)
    with connection.cursor() as cursor:
        cursor.execute(_VAULTS, {"ids": list(message_ids)})
        for answer, vault_id in cursor.fetchall():
            found[answer].add(vault_id)
    return dict(found)


def answers_after(message_ids: Iterable[UUID], *, among: QuerySet[Message]) -> set[UUID]:
    """The answers of `among` that were told one of these, or one that was told one."""
    after: set[UUID] = set()
    new = set(message_ids)
    while new:
        told = among.filter(told__has_any_keys=[str(pk) for pk in new])
        new = set(told.values_list("pk", flat=True)) - after
        after |= new
    return after
