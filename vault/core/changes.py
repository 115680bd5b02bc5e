"""What has to be done so that the tables show the files of a scan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vault.core.names import file_name, folder_of
from vault.core.types import FileState


@dataclass(frozen=True, slots=True)
class Move:
    """The same content under another path."""

    old: FileState
    new: FileState


@dataclass(frozen=True, slots=True)
class Plan:
    """Each list ordered by path. Nothing is in two lists.

    A path may be left by one move and taken by another, or by a new file, so apply in the
    order: delete, move (all leave before any arrives), update, create.
    """

    create: tuple[FileState, ...] = ()
    update: tuple[FileState, ...] = ()
    move: tuple[Move, ...] = ()
    delete: tuple[FileState, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.create or self.update or self.move or self.delete)


def plan_changes(known: Sequence[FileState], found: Sequence[FileState]) -> Plan:
    """Compare what is stored with what a scan found. Paths are unique on each side.

    A file whose hash is missing counts as unchanged when size and time are the same, and
    is never moved. Among files of the same content the ones with the same name, then in
    the same folder, then first by path belong together.
    """
    old = {state.path: state for state in known}
    new = {state.path: state for state in found}
    for path in [path for path, state in new.items() if _is_same(old.get(path), state)]:
        del old[path], new[path]
    moves = _moves(old.values(), new.values())
    for move in moves:
        del old[move.old.path], new[move.new.path]
    return Plan(
        create=_ordered(state for path, state in new.items() if path not in old),
        update=_ordered(state for path, state in new.items() if path in old),
        move=tuple(sorted(moves, key=lambda move: move.old.path)),
        delete=_ordered(state for path, state in old.items() if path not in new),
    )


def _is_same(old: FileState | None, new: FileState) -> bool:
    if old is None:
        return False
    if old.content_hash and new.content_hash:
        return old.content_hash == new.content_hash
    return (old.size, old.modified) == (new.size, new.modified)


def _moves(old: Iterable[FileState], new: Iterable[FileState]) -> list[Move]:
    gone, arrived = _by_hash(old), _by_hash(new)
    moves: list[Move] = []
    for content_hash in gone.keys() & arrived.keys():
        moves += _paired(gone[content_hash], arrived[content_hash])
    return moves


def _by_hash(states: Iterable[FileState]) -> dict[str, list[FileState]]:
    by_hash: dict[str, list[FileState]] = defaultdict(list)
    for state in states:
        if state.content_hash:
            by_hash[state.content_hash].append(state)
    return by_hash


def _paired(old: list[FileState], new: list[FileState]) -> list[Move]:
    """Pair files of one content, the most alike paths first. Linear, as copies may be many."""
    moves: list[Move] = []
    for likeness in (file_name, folder_of, lambda _path: ""):
        waiting: dict[str, list[FileState]] = defaultdict(list)
        for state in sorted(new, key=lambda state: state.path, reverse=True):
            waiting[likeness(state.path)].append(state)
        left: list[FileState] = []
        for state in sorted(old, key=lambda state: state.path):
            alike = waiting[likeness(state.path)]
            if alike:
                moves.append(Move(state, alike.pop()))
            else:
                left.append(state)
        old, new = left, [state for states in waiting.values() for state in states]
    return moves


def _ordered(states: Iterable[FileState]) -> tuple[FileState, ...]:
    return tuple(sorted(states, key=lambda state: state.path))
