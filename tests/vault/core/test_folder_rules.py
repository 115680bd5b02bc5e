"""Folder rules: what one membership opens, what several open together, what people type."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.folder_rules import (
    LONGEST_FOLDER,
    MOST_FOLDERS,
    BadFolder,
    FolderRule,
    opens,
    read_folders,
)


def test_a_rule_without_folders_opens_the_whole_vault() -> None:
    assert FolderRule(1).is_open
    assert FolderRule(1).opens("any/where.md")


def test_only_opens_these_folders_and_a_name_that_begins_alike_is_another() -> None:
    rule = FolderRule(1, only=("HR",))
    assert rule.opens("HR/pay.md")
    assert rule.opens("HR/deep/down.md")
    assert not rule.opens("HRX/pay.md")
    assert not rule.opens("hr/pay.md")
    assert not rule.opens("pay.md")


def test_never_is_stronger_than_only() -> None:
    rule = FolderRule(1, only=("HR",), never=("HR/pay",))
    assert rule.opens("HR/plan.md")
    assert not rule.opens("HR/pay/june.md")


def test_a_path_of_a_note_names_that_note_alone() -> None:
    rule = FolderRule(1, never=("HR/pay.md",))
    assert not rule.opens("HR/pay.md")
    assert rule.opens("HR/pay.md.md")


def test_memberships_together_open_what_any_of_them_opens() -> None:
    rules = [FolderRule(1, only=("A",)), FolderRule(1, only=("B",))]
    assert opens(rules, 1, "A/x.md")
    assert opens(rules, 1, "B/x.md")
    assert not opens(rules, 1, "C/x.md")
    assert opens(rules, 2, "C/x.md")


def test_folders_are_read_as_people_write_them() -> None:
    assert read_folders(" /Team/Notes/ \n\nA\\B\nTeam/Notes\n") == ("Team/Notes", "A/B")
    assert read_folders("A\u0308rger") == ("\u00c4rger",)


@pytest.mark.parametrize("line", ["/", "a//b", "../up", "a/./b", "nul\0", "x" * 1001])
def test_what_is_no_folder_is_refused_by_name(line: str) -> None:
    with pytest.raises(BadFolder) as refused:
        read_folders(f"Good\n{line}")
    assert len(str(refused.value)) < 200


def test_too_many_folders_are_refused() -> None:
    with pytest.raises(BadFolder, match=str(MOST_FOLDERS)):
        read_folders("\n".join(f"f{number}" for number in range(MOST_FOLDERS + 1)))


@given(st.text(max_size=60))
def test_whatever_is_read_is_a_path_that_reads_as_itself(text: str) -> None:
    try:
        folders = read_folders(text)
    except BadFolder:
        return
    assert read_folders("\n".join(folders)) == folders
    assert all(folder and len(folder) <= LONGEST_FOLDER for folder in folders)
    assert not any(folder.startswith("/") or folder.endswith("/") for folder in folders)
