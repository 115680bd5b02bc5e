"""The plan of a sync."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from vault.core.changes import Plan, plan_changes
from vault.core.types import FileState

NOON = datetime(2026, 5, 26, 12, tzinfo=UTC)


def file(path: str, content: str = "", *, minutes: int = 0, size: int = 1) -> FileState:
    return FileState(path, size, NOON + timedelta(minutes=minutes), content)


def moves(plan: Plan) -> set[tuple[str, str]]:
    return {(move.old.path, move.new.path) for move in plan.move}


def apply(plan: Plan, known: dict[str, str]) -> dict[str, str]:
    """Content by path after the plan, in the order that Plan asks for."""
    after = dict(known)
    for state in plan.delete:
        del after[state.path]
    carried = [(move.new.path, after.pop(move.old.path)) for move in plan.move]
    for path, content in carried:
        assert path not in after
        after[path] = content
    for state in plan.update:
        assert state.path in after
        after[state.path] = state.content_hash
    for state in plan.create:
        assert state.path not in after
        after[state.path] = state.content_hash
    return after


def test_nothing_is_done_when_nothing_changed() -> None:
    known = [file("a.md", "1"), file("b.md", "2")]
    assert not plan_changes(known, [file("b.md", "2", minutes=9), file("a.md", "1")])


def test_new_changed_and_gone_files_are_told_apart() -> None:
    plan = plan_changes(
        [file("same.md", "1"), file("changed.md", "2"), file("gone.md", "3")],
        [file("same.md", "1"), file("changed.md", "4"), file("new.md", "5")],
    )
    assert [state.path for state in plan.create] == ["new.md"]
    assert [state.path for state in plan.update] == ["changed.md"]
    assert [state.path for state in plan.delete] == ["gone.md"]
    assert not plan.move


def test_a_renamed_file_moves() -> None:
    plan = plan_changes([file("old.md", "1")], [file("new.md", "1")])
    assert moves(plan) == {("old.md", "new.md")}
    assert not (plan.create or plan.update or plan.delete)


def test_a_copy_is_a_new_note() -> None:
    plan = plan_changes([file("a.md", "1")], [file("a.md", "1"), file("copy.md", "1")])
    assert [state.path for state in plan.create] == ["copy.md"]
    assert not plan.move


def test_a_renamed_folder_keeps_each_of_its_copies_by_name() -> None:
    plan = plan_changes(
        [file("old/a.md", "1"), file("old/b.md", "1"), file("old/c.md", "1")],
        [file("new/c.md", "1"), file("new/b.md", "1"), file("new/a.md", "1")],
    )
    assert moves(plan) == {
        ("old/a.md", "new/a.md"),
        ("old/b.md", "new/b.md"),
        ("old/c.md", "new/c.md"),
    }


def test_of_two_copies_the_one_that_stayed_near_is_moved() -> None:
    plan = plan_changes(
        [file("x/a.md", "1"), file("y/b.md", "1")], [file("y/new.md", "1"), file("x/other.md", "1")]
    )
    assert moves(plan) == {("x/a.md", "x/other.md"), ("y/b.md", "y/new.md")}


def test_two_files_that_swapped_names_swap_identities() -> None:
    plan = plan_changes(
        [file("a.md", "1"), file("b.md", "2")], [file("a.md", "2"), file("b.md", "1")]
    )
    assert moves(plan) == {("a.md", "b.md"), ("b.md", "a.md")}
    assert not plan.update


def test_a_file_that_took_the_place_of_a_moved_one_is_new() -> None:
    plan = plan_changes([file("a.md", "1")], [file("b.md", "1"), file("a.md", "2")])
    assert moves(plan) == {("a.md", "b.md")}
    assert [state.path for state in plan.create] == ["a.md"]


def test_without_a_hash_size_and_time_decide_and_nothing_moves() -> None:
    known = [file("same.md", "1"), file("other.md", "2"), file("gone.md")]
    found = [file("same.md"), file("other.md", minutes=1), file("new.md")]
    plan = plan_changes(known, found)
    assert [state.path for state in plan.update] == ["other.md"]
    assert [state.path for state in plan.create] == ["new.md"]
    assert [state.path for state in plan.delete] == ["gone.md"]


paths = st.sampled_from(["a.md", "b.md", "x/a.md", "x/b.md", "y/a.md", "y/x/b.md"])
vaults = st.dictionaries(paths, st.sampled_from(["1", "2", "3"]))


@given(vaults, vaults)
def test_a_plan_applied_to_what_is_known_gives_what_was_found(
    known: dict[str, str], found: dict[str, str]
) -> None:
    plan = plan_changes(
        [file(path, content) for path, content in known.items()],
        [file(path, content) for path, content in found.items()],
    )
    assert apply(plan, known) == found


@given(vaults, vaults)
def test_content_that_is_still_there_is_never_made_anew(
    known: dict[str, str], found: dict[str, str]
) -> None:
    plan = plan_changes(
        [file(path, content) for path, content in known.items()],
        [file(path, content) for path, content in found.items()],
    )
    made = [state.content_hash for state in (*plan.create, *plan.update)]
    dropped = [known[state.path] for state in (*plan.delete, *plan.update)]
    assert not set(made) & set(dropped)


def test_ten_thousand_empty_files_are_planned_at_once() -> None:
    known = [file(f"old/{number}.md", "empty") for number in range(10_000)]
    found = [file(f"new/{number}.md", "empty") for number in range(10_000)]
    plan = plan_changes(known, found)
    assert len(plan.move) == 10_000
    assert all(move.old.path[4:] == move.new.path[4:] for move in plan.move)
