"""What a strict answer says where the notes hold no answer: where was looked, what is nearest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from chat.core.marks import without_markers
from chat.core.refusals import is_refusal_alone
from chat.models import Message
from chat.providing import Providing
from chat.sources import note_url
from retrieval.core.types import Arm, Knobs, Mode, Retrieval
from vault.access import notes_in
from vault.core.types import Scope
from vault.models import Vault

MOST_NEAREST = 3
NOTHING_FOUND = "The notes hold nothing about this, so there is no answer."
NOT_BORNE_OUT = "The notes that were found do not bear out an answer, so there is none."
ARM_NAMES = {"keyword": "words", "meaning": "meaning", "title": "titles"}


def nothing_found(retrieval: Retrieval) -> str:
    """The answer: which vaults were searched, for what and how."""
    return f"{NOTHING_FOUND}\n\n{_searched(retrieval)}"


def not_borne_out(retrieval: Retrieval, said: str) -> str:
    """What is kept in place of `said`, which no passage bears out; a model's own word that
    there is no answer stays, with where was searched below it."""
    plain = without_markers(said).rstrip()
    opening = plain if is_refusal_alone(plain) else NOT_BORNE_OUT
    # An answer that goes on from an earlier one searched nothing itself.
    return f"{opening}\n\n{_searched(retrieval)}" if retrieval.queries else opening


def _searched(retrieval: Retrieval) -> str:
    names = Vault.objects.filter(slug__in=retrieval.searched_vaults).values_list("name", flat=True)
    where = ", ".join(names) or "no vault, because none can be read"
    asked = (
        "; ".join(f"“{without_markers(query)}”" for query in retrieval.queries)
        or "the question as it stands"
    )
    how = _listed([_how(arm) for arm in retrieval.arms if arm.name in ARM_NAMES])
    return (
        f"Searched: {where}. Asked for: {asked}. {f'Compared by {how}. ' if how else ''}"
        "Try other words, choose more vaults, or allow answers beyond the notes."
    )


def _listed(parts: list[str]) -> str:
    """As a sentence lists them; semicolons where a part holds a reason."""
    if any(":" in part for part in parts):
        return "; ".join(parts)
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _how(arm: Arm) -> str:
    name = ARM_NAMES[arm.name]
    return name if arm.ran else f"{name} not, because: {arm.reason.rstrip('.')}"


async def find_nearest(
    retrieval: Retrieval, *, scope: Scope, knobs: Knobs, providing: Providing, user_id: int
) -> list[int]:
    """Ids of the notes that come nearest in meaning, however far they are."""
    if not retrieval.queries or not scope:
        return []
    alone = replace(
        knobs, mode=Mode.SEMANTIC, passages=MOST_NEAREST, neighbours=0, alternates=False,
        rerank=False,
    )  # fmt: skip
    found = await providing.retrieve(
        retrieval.queries[0], history=(), scope=scope, knobs=alone, user_id=user_id
    )
    return list(dict.fromkeys(passage.note_id for passage in found.passages))[:MOST_NEAREST]


def keep_nearest(message_id: UUID, note_ids: list[int]) -> None:
    Message.objects.filter(pk=message_id).update(nearest=note_ids)


def nearest_json(messages: Iterable[Message], readable: Scope) -> dict[UUID, list[dict[str, Any]]]:
    """The nearest notes of each message, as far as they may be read now."""
    wanted = {pk for message in messages for pk in message.nearest}
    if not wanted:
        return {}
    notes = notes_in(readable).filter(pk__in=wanted).select_related("vault").in_bulk()
    return {
        message.pk: [
            {
                "title": notes[pk].title,
                "path": notes[pk].path,
                "vault": notes[pk].vault.slug,
                "vault_name": notes[pk].vault.name,
                "url": note_url(notes[pk].vault.slug, notes[pk].path),
            }
            for pk in message.nearest
            if pk in notes
        ]
        for message in messages
    }
