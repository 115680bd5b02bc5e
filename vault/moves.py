"""Notes that were moved and edited between two scans keep who they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from django.db.models import Q

from vault.core.changes import Move, Plan
from vault.core.file_kinds import NOTE_SUFFIXES
from vault.core.likeness import moved_pairs
from vault.core.names import folder_of
from vault.core.types import FileState
from vault.models import Note

# More at once is another vault, not somebody tidying up.
MOST_FILES = 200
# Notes that stay, in the folders concerned, whose words prove nothing.
MOST_OTHERS = 300


def with_edited_moves(
    vault_id: int, plan: Plan, *, read_text: Callable[[FileState], str | None]
) -> Plan:
    """The plan with missing notes and new files that are surely the same made moves.

    `read_text` gives the text of a new note; None when it cannot be read now.
    """
    missing = {state.path: state for state in plan.delete if _is_note(state)}
    arrived = {state.path: state for state in plan.create if _is_note(state)}
    if not missing or not arrived or max(len(missing), len(arrived)) > MOST_FILES:
        return plan
    old = Note.objects.filter(vault_id=vault_id, path__in=missing)
    new = {path: text for path, state in arrived.items() if (text := read_text(state)) is not None}
    pairs = moved_pairs(
        dict(old.values_list("path", "body")),
        new,
        others=_others(vault_id, {*missing}, {folder_of(path) for path in (*missing, *arrived)}),
    )
    gone, came = set(pairs), set(pairs.values())
    moves = [Move(missing[before], arrived[after]) for before, after in pairs.items()]
    return replace(
        plan,
        create=tuple(state for state in plan.create if state.path not in came),
        delete=tuple(state for state in plan.delete if state.path not in gone),
        move=tuple(sorted((*plan.move, *moves), key=lambda move: move.old.path)),
    )


def _others(vault_id: int, missing: set[str], folders: set[str]) -> list[str]:
    near = Q()
    for folder in folders:
        near |= Q(path__startswith=f"{folder}/") if folder else ~Q(path__contains="/")
    notes = Note.objects.filter(near, vault_id=vault_id).exclude(path__in=missing)
    return list(notes.order_by("-file_modified").values_list("body", flat=True)[:MOST_OTHERS])


def _is_note(state: FileState) -> bool:
    return state.path.lower().endswith(NOTE_SUFFIXES)
