"""Boards and drawings: their text, in reading order, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.drawings import UnreadableDrawing, board_text, drawing_text, is_drawing
from vault.core.parsing import UnreadableText, parse_text
from vault.core.types import NoteKind

SIZE = {"width": 90, "height": 9}
FIRST = {"type": "text", "text": "# First\n\n[[Pump]] #tag", "x": 0, "y": 0}
GROUP = {"type": "group", "label": "Later\nwork", "x": 500, "y": 0, "width": 300, "height": 300}
CANVAS = {
    "nodes": [
        {"type": "text", "text": "Second card", "x": 0, "y": 200, **SIZE},
        FIRST,
        GROUP,
        {"type": "text", "text": "In the group", "x": 520, "y": 20, **SIZE},
        {"type": "file", "file": "Notes/Pump.md", "subpath": "#Drill", "x": 0, "y": 400},
        {"type": "link", "url": "https://example.org/a", "x": 0, "y": 500},
    ],
    "edges": [{"id": "e", "fromNode": "1", "toNode": "2", "label": "then"}],
}

EXCALIDRAW = """---
excalidraw-plugin: parsed
tags: [excalidraw]
---
==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu of this document. ⚠==

My own words on [[Pump]].

# Excalidraw Data

## Text Elements
Pressure valve ^a1B2c3D4

two
lines ^zzzzYYYY

## Embedded Files
0123456789abcdef: [[picture.png]]

%%
## Drawing
```compressed-json
N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRoIACyhQ4zZAHoFAc0JRJQ
```
%%
"""


def test_cards_are_read_from_top_to_bottom_and_groups_are_sections() -> None:
    note = parse_text(json.dumps(CANVAS), path="b/Board.canvas").note
    assert (note.kind, note.title) == (NoteKind.CANVAS, "Board")
    assert note.body == (
        "# First\n\n[[Pump]] #tag\n\nSecond card\n\n![[Notes/Pump.md#Drill]]\n\n"
        "<https://example.org/a>\n\n## Later work\n\nIn the group\n"
    )
    assert note.tags == ("tag",)
    assert [(link.target, link.is_embed) for link in note.links] == [
        ("Pump", False),
        ("Notes/Pump.md", True),
    ]


def test_a_new_board_is_an_empty_note_named_after_its_file() -> None:
    for text in ("", "{}", '{"nodes": []}'):
        note = parse_text(text, path="b/New.canvas").note
        assert (note.title, note.body.strip()) == ("New", "")


def test_old_drawings_give_their_text_elements() -> None:
    elements = [
        {"type": "text", "text": "low", "y": 9},
        {"type": "text", "text": "wrap\nped", "rawText": "wrapped", "y": 1},
        {"type": "text", "text": "gone", "isDeleted": True},
        {"type": "arrow", "text": "no"},
    ]
    assert board_text(json.dumps({"elements": elements}), path="a.excalidraw") == "wrapped\n\nlow\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("{nodes", "line 1"), ("[" * 100_000, "not valid JSON"), ("[]", "no list of nodes"),
     ('{"nodes": 3}', "no list of nodes")],
)  # fmt: skip
def test_a_broken_board_is_refused_with_the_place(text: str, reason: str) -> None:
    with pytest.raises(UnreadableDrawing, match=reason):
        board_text(text, path="a.canvas")
    with pytest.raises(UnreadableText, match=reason):
        parse_text(text, path="a.canvas")


def test_secrets_of_a_board_are_found_behind_its_escapes() -> None:
    card = {"type": "text", "text": 'say:\npassword: "k9X2!mQ7z"\nnext'}
    parsed = parse_text(json.dumps({"nodes": [card]}), path="a.canvas")
    assert "k9X2" not in parsed.note.body
    assert "\nnext" in parsed.note.body
    assert [finding.line for finding in parsed.findings] == [2]


def test_of_a_drawing_only_words_are_read() -> None:
    assert is_drawing(EXCALIDRAW, path="a/Sketch.excalidraw.md")
    note = parse_text(EXCALIDRAW, path="a/Sketch.excalidraw.md").note
    assert (note.kind, note.title) == (NoteKind.CANVAS, "Sketch")
    assert note.body.strip() == "My own words on [[Pump]].\n\nPressure valve\n\ntwo\nlines"
    assert note.properties["tags"] == ["excalidraw"]


def test_a_note_about_drawings_is_no_drawing() -> None:
    text = "---\ntags: [a]\n---\n## Text Elements\n\nexcalidraw-plugin: parsed ^a1B2c3D4\n"
    assert not is_drawing(text, path="a.md")
    assert "^a1B2c3D4" in parse_text(text, path="a.md").note.body
    bare = "---\nexcalidraw-plugin: raw\n---\n"
    assert drawing_text(bare).startswith(bare)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["nodes", "elements", "type", "text", "x", "y", "width", "label", "file"]
            )
            | st.text(max_size=4),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@given(JSON, st.sampled_from(["a.canvas", "a.excalidraw"]))
def test_any_json_is_read_or_refused(board: object, path: str) -> None:
    try:
        parse_text(json.dumps(board), path=path)
    except UnreadableText as error:
        assert str(error)


@given(st.lists(st.text(alphabet="ab \n#%^=-:", max_size=30), max_size=8))
def test_a_drawing_of_any_shape_is_read(lines: list[str]) -> None:
    text = "---\nexcalidraw-plugin: x\n---\n" + "\n## Text Elements\n".join(lines)
    parse_text(text, path="a.md")


def test_a_board_is_called_by_its_file_not_by_a_card() -> None:
    card = {"id": "a", "type": "text", "x": 0, "y": 0, "text": "# Card one"}
    assert parse_text(json.dumps({"nodes": [card]}), path="b/Week.canvas").note.title == "Week"
