"""The branch of a conversation that is shown."""

from __future__ import annotations

from itertools import pairwise
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from chat.core.branches import branch_through, branch_to, versions


def uid(number: int) -> UUID:
    return UUID(int=number)


def tree(*parents: int | None) -> dict[UUID, UUID | None]:
    """Messages 0, 1, 2 … with these parents."""
    return {uid(n): None if parent is None else uid(parent) for n, parent in enumerate(parents)}


# 0 asked, 1 answered, 2 asked, 3 answered; 4 another answer to 0; 5 an edit of 2, 6 answered.
TREE = tree(None, 0, 1, 2, 0, 1, 5)


def numbers(path: list[UUID]) -> list[int]:
    return [message.int for message in path]


def test_without_a_choice_the_newest_message_decides() -> None:
    assert numbers(branch_through(TREE, None)) == [0, 1, 5, 6]
    assert numbers(branch_through(TREE, uid(99))) == [0, 1, 5, 6]
    assert branch_through({}, None) == []


def test_a_choice_in_the_middle_goes_on_to_the_newest_of_what_follows_it() -> None:
    assert numbers(branch_through(TREE, uid(2))) == [0, 1, 2, 3]
    assert numbers(branch_through(TREE, uid(1))) == [0, 1, 5, 6]
    assert numbers(branch_through(TREE, uid(4))) == [0, 4]


def test_what_leads_to_a_message_ends_there() -> None:
    assert numbers(branch_to(TREE, uid(1))) == [0, 1]


def test_versions_stand_in_the_same_place() -> None:
    answers = [uid(n) for n in (1, 3, 4, 6)]
    assert numbers(versions(TREE, uid(4), among=answers)) == [1, 4]
    assert numbers(versions(TREE, uid(5), among=[uid(0), uid(2), uid(5)])) == [2, 5]


@given(st.data(), st.integers(1, 30))
def test_any_branch_is_a_chain_to_a_message_without_followers(
    data: st.DataObject, size: int
) -> None:
    parents = tree(
        None, *(data.draw(st.one_of(st.none(), st.integers(0, n))) for n in range(size - 1))
    )
    chosen = data.draw(st.sampled_from(list(parents)))
    path = branch_through(parents, chosen)
    assert chosen in path
    assert parents[path[0]] is None
    assert all(parents[after] == before for before, after in pairwise(path))
    assert path[-1] not in parents.values()
