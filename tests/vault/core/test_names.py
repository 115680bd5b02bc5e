"""Normal forms of names and paths."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.names import lookup_key, lookup_keys, normalise_path, without_suffix


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("The Brief", "the  brief"),
        ("Café", "cafe\u0301"),
        ("ＡＢＣ", "abc"),
        ("“Plan B”", "plan b"),
        ("What is OKR?", "what is okr"),
        ("Straße", "STRASSE"),
        ("a\u00a0b", "a b"),
    ],
)
def test_names_that_people_take_for_the_same_have_one_key(written: str, asked: str) -> None:
    assert lookup_key(written) == lookup_key(asked)


@pytest.mark.parametrize(
    ("one", "other"),
    [("C", "C#"), ("NET", ".NET"), ("мой", "мои"), ("ガ", "カ"), ("Ceuse", "Céüse")],
)
def test_names_that_differ_keep_different_keys(one: str, other: str) -> None:
    assert lookup_key(one) != lookup_key(other)


@given(st.text())
def test_a_key_is_its_own_key(text: str) -> None:
    assert lookup_key(lookup_key(text)) == lookup_key(text)


def test_a_note_is_found_by_title_aliases_file_name_and_path() -> None:
    keys = lookup_keys(title="Plan", aliases=["The plan", "plan"], path="Work/Plan 2026.md")
    assert keys == [
        "plan",
        "the plan",
        "plan 2026",
        "plan 2026.md",
        "work/plan 2026",
        "work/plan 2026.md",
    ]


def test_empty_names_give_no_key() -> None:
    assert lookup_keys(title="", aliases=["", "  "], path="a.md") == ["a", "a.md"]


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("./a//b.md", "a/b.md"),
        ("/a/b.md", "a/b.md"),
        ("a/../b.md", "b.md"),
        ("Cafe\u0301.md", "Café.md"),
    ],
)
def test_paths_have_one_normal_form(path: str, normal: str) -> None:
    assert normalise_path(path) == normal


@pytest.mark.parametrize("path", ["../a.md", "a/../../b.md", "", ".", "/"])
def test_paths_that_leave_the_vault_are_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"leaves the vault|names no file"):
        normalise_path(path)


@given(st.lists(st.text(min_size=1).filter(lambda part: "/" not in part), min_size=1))
def test_a_normal_path_never_leads_upwards(parts: list[str]) -> None:
    path = "/".join(parts)
    try:
        normal = normalise_path(path)
    except ValueError:
        return
    assert not {"", ".", ".."} & set(normal.split("/"))
    assert unicodedata.is_normalized("NFC", normal)
    assert normalise_path(normal) == normal


def test_only_notes_lose_their_suffix() -> None:
    assert without_suffix("a/b.md") == "a/b"
    assert without_suffix("a/B.MD") == "a/B"
    assert without_suffix("a/b.png") == "a/b.png"
    assert without_suffix("a/.md") == "a/.md"
