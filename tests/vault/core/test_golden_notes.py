"""Which notes hold golden questions."""

from __future__ import annotations

from typing import Any

import pytest

from vault.core.golden_notes import is_golden_note
from vault.core.types import ChunkLimits
from vault.reading import ReadingOptions, parse_file


@pytest.mark.parametrize(
    ("path", "properties"),
    [
        ("golden-questions.md", {}),
        ("Team/Golden-Questions.md", {}),
        ("Any.md", {"type": "golden-questions"}),
        ("Any.md", {"type": " Golden-Questions "}),
        ("Any.md", {"golden-questions": True}),
    ],
)
def test_a_note_is_golden_by_its_name_or_its_front_matter(
    path: str, properties: dict[str, Any]
) -> None:
    assert is_golden_note(path, properties)


@pytest.mark.parametrize(
    ("path", "properties"),
    [
        ("golden-questions-of-2025.md", {}),
        ("golden-questions/heron.md", {}),
        ("Any.md", {"type": ["golden-questions"]}),
        ("Any.md", {"type": 3}),
        ("Any.md", {"golden-questions": "no"}),
    ],
)
def test_other_notes_are_not(path: str, properties: dict[str, Any]) -> None:
    assert not is_golden_note(path, properties)


def test_a_golden_note_is_read_but_has_no_passages() -> None:
    options = ReadingOptions(ChunkLimits())
    text = b"# Questions\n\n- Where does the heron sleep? -> [[Heron]]\n"
    golden = parse_file(text, path="golden-questions.md", options=options)
    other = parse_file(text, path="questions.md", options=options)
    assert golden.note is not None
    assert golden.note.links[0].target == "Heron"
    assert golden.chunks == ()
    assert other.chunks != ()
