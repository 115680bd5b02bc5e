"""Which note a link means."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.links import LinkIndex, heading_at
from vault.core.markdown import parse_markdown

NFD = unicodedata.normalize("NFD", "Notes/Café ガイド.md")
VAULT: dict[str, list[str]] = {
    "Log.md": [],
    "Notes/the brief.md": ["Summary"],
    "Notes/Sub/deep.md": [],
    "Notes/100% sure (v1.2).md": [],
    "Notes/Index.md": [],
    NFD: [],
    "Other/Index.md": [],
    "Other/Deep/Index.md": [],
    "Other/the Brief.md": [],
    "Pictures/chart.png": [],
    "C#.md": ["C sharp", "Log"],
}
INDEX = LinkIndex(VAULT)


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("the brief", "Notes/the brief.md"),
        ("the brief.md", "Notes/the brief.md"),
        ("THE BRIEF", "Notes/the brief.md"),
        ("Sub/deep.md", "Notes/Sub/deep.md"),
        ("./Sub/deep", "Notes/Sub/deep.md"),
        ("../Log.md", "Log.md"),
        ("/Log.md", "Log.md"),
        ("log", "Log.md"),
        ("LOG.md", "Log.md"),
        ("Café ガイド", NFD),
        (unicodedata.normalize("NFD", "Café ガイド"), NFD),
        ("100% sure (v1.2)", "Notes/100% sure (v1.2).md"),
        ("deep.md", "Notes/Sub/deep.md"),
        ("chart.png", "Pictures/chart.png"),
        ("Pictures/chart.png", "Pictures/chart.png"),
        ("summary", "Notes/the brief.md"),
        ("C sharp", "C#.md"),
        ("", "Notes/Index.md"),
    ],
)
def test_a_target_is_found_by_path_name_or_alias(target: str, found: str) -> None:
    assert INDEX.resolve(target, source_path="Notes/Index.md") == found


@pytest.mark.parametrize(
    "target",
    [
        "Nobody",
        "../../etc/passwd",
        "/the brief",
        "./Log",
        "chart",
        "Notes",
        "Wrong/the brief",
        "..",
    ],
)
def test_what_is_not_there_is_not_found(target: str) -> None:
    assert INDEX.resolve(target, source_path="Notes/Index.md") is None


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("Notes/x.md", "Notes/Index.md"),
        ("Other/x.md", "Other/Index.md"),
        ("Other/Deep/x.md", "Other/Deep/Index.md"),
        ("x.md", "Notes/Index.md"),
        ("Elsewhere/x.md", "Notes/Index.md"),
    ],
)
def test_of_several_the_nearest_is_meant_then_the_shortest(source: str, found: str) -> None:
    assert INDEX.resolve("Index", source_path=source) == found


def test_of_two_spellings_the_one_as_written_is_meant() -> None:
    index = LinkIndex({"a/note.md": [], "a/Note.md": []})
    assert index.resolve("Note", source_path="a/x.md") == "a/Note.md"
    assert index.resolve("note", source_path="b/x.md") == "a/note.md"
    assert index.resolve("NOTE", source_path="b/x.md") == "a/Note.md"


def test_a_name_comes_before_an_alias() -> None:
    assert INDEX.resolve("Log", source_path="C#.md") == "Log.md"


@given(
    st.dictionaries(
        st.lists(st.sampled_from(["a", "b", "é", "A"]), min_size=1, max_size=3).map(
            lambda parts: "/".join(parts) + ".md"
        ),
        st.just(()),
        min_size=1,
    )
)
def test_every_note_is_found_by_its_own_path(vault: dict[str, tuple[str, ...]]) -> None:
    index = LinkIndex(vault)
    for path in vault:
        assert index.resolve("/" + path, source_path="x.md") == path
        assert index.resolve("/" + path.removesuffix(".md"), source_path="x.md") == path


@given(st.text(max_size=30), st.sampled_from(["Log.md", "Notes/Index.md"]))
def test_any_target_gives_a_note_of_the_vault_or_none(target: str, source: str) -> None:
    assert INDEX.resolve(target, source_path=source) in {None, *VAULT}


BODY = """# Setup
## See [Arrays](https://example.org/a#b) and **bold** [[Some note|the alias]] `code`
### C#: the *language*
### snake_case
# Setup
"""


@pytest.mark.parametrize(
    ("anchor", "line"),
    [
        ("Setup", 1),
        ("setup", 1),
        ("See Arrays and bold the alias code", 2),
        ("See Arrays https example.org a b and bold Some note the alias code", 2),
        ("C the language", 3),
        ("C#: the language", 3),
        ("Setup#snake_case", 4),
        ("Nowhere", None),
        ("", None),
    ],
)
def test_an_anchor_finds_its_heading_in_every_form(anchor: str, line: int | None) -> None:
    note = parse_markdown(BODY, path="a.md")
    heading = heading_at(anchor, note.headings, body=note.body)
    assert (heading.line if heading else None) == line


@pytest.mark.parametrize(
    "target", ["Sketch.excalidraw", "Sketch", "Sketch.excalidraw.md", "In/Sketch.excalidraw"]
)
def test_a_drawing_is_found_with_and_without_what_says_its_kind(target: str) -> None:
    index = LinkIndex({"Deep/In/Sketch.excalidraw.md": []})
    assert index.resolve(target, source_path="a.md") == "Deep/In/Sketch.excalidraw.md"
