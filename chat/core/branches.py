"""A conversation is a tree of messages; one branch of it is shown and continued."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

# Every message's parent, oldest message first.
Parents = Mapping[UUID, UUID | None]


def branch_through(parents: Parents, message: UUID | None) -> list[UUID]:
    """The branch that leads through `message` to the newest of what follows it, oldest first.

    Without a message, or with one that is not there, the branch of the newest message.
    """
    if not parents:
        return []
    newest = list(parents)[-1]
    start = message if message is not None and message in parents else newest
    return branch_to(parents, _newest_after(parents, start))


def branch_to(parents: Parents, message: UUID) -> list[UUID]:
    """What leads to `message`, itself included, oldest first."""
    path: list[UUID] = []
    at: UUID | None = message
    while at is not None:
        path.append(at)
        at = parents[at]
    return path[::-1]


def versions(parents: Parents, message: UUID, *, among: Sequence[UUID]) -> list[UUID]:
    """The messages of `among` that stand in the place of `message`, oldest first."""
    return [other for other in among if parents[other] == parents[message]]


def _newest_after(parents: Parents, start: UUID) -> UUID:
    """The newest message that `start` leads to. Parents stand before their children."""
    reached, newest = {start}, start
    for message, parent in parents.items():
        if parent in reached:
            reached.add(message)
            newest = message
    return newest
