"""A conversation as a file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.exporting import as_markdown, file_name

SOURCE = {
    "number": 1,
    "cited": True,
    "vault": "team",
    "path": "Notes/Pump.md",
    "title": "Pump",
    "heading_path": ["Failure"],
    "text": "The pump failed\nin March.",
}


def answer(text: str, **fields: Any) -> dict[str, Any]:
    base = {"role": "assistant", "active": True, "withheld": False, "status": "done"}
    return {**base, "text": text, "sources": [SOURCE], **fields}


def markdown(*messages: dict[str, Any]) -> str:
    head = {"title": "About\nthe pump", "updated": "2026-03-04T05:06:07+00:00"}
    return as_markdown({**head, "messages": list(messages)})


def test_sources_are_footnotes() -> None:
    asked = {"role": "user", "active": True, "text": "When did\nit fail?"}
    assert markdown(asked, answer("## Short\n\nIn March. [1]")) == (
        "# About the pump\n\n*2026-03-04*\n\n"
        "## When did\n> it fail?\n\n"
        "#### Short\n\nIn March. [^1-1]\n\n\n"
        "[^1-1]: Pump > Failure (team/Notes/Pump.md): The pump failed in March.\n"
    )


def test_further_searches_stand_above_the_answer() -> None:
    step = {"tool": "search", "what": "the\nseal", "state": "done"}
    told = markdown(answer("Worn. [1]", steps=[step]))
    assert "- *search: the seal (done)*\n\nWorn. [^1-1]" in told


def test_a_number_in_code_is_no_footnote() -> None:
    text = "Use `row[1]` and\n\n```\n# a [1]\n```\n\nas said. [1]"
    told = markdown(answer(text))
    assert "`row[1]`" in told
    assert "# a [1]" in told
    assert "as said. [^1-1]" in told


def test_other_branches_and_what_was_only_read_are_left_out() -> None:
    told = markdown(
        answer("Old", active=False), answer("New", sources=[{**SOURCE, "cited": False}])
    )
    assert "Old" not in told
    assert "Pump >" not in told


def test_a_withheld_answer_says_so_and_a_stopped_one_too() -> None:
    assert "not in this file" in markdown(answer("", withheld=True, sources=[]))
    assert "*(stopped)*" in markdown(answer("Half", status="stopped"))


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("About the pump", "About the pump.md"),
        ("../../etc/passwd", "etc passwd.md"),
        ("a/b\\c:d*e?", "a b c d e.md"),
        ("", "conversation.md"),
        ("...", "conversation.md"),
        ("Почему?", "Почему.md"),
        ("x" * 100, "x" * 60 + ".md"),
    ],
)
def test_a_file_has_a_name_that_every_system_takes(title: str, name: str) -> None:
    assert file_name(title, ending="md") == name


@given(st.text(max_size=100))
def test_no_title_leaves_its_folder(title: str) -> None:
    name = file_name(title, ending="md")
    assert "/" not in name
    assert "\\" not in name
    assert not name.startswith(".")
