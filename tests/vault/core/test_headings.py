"""A place of a note is named by the headings it stands under."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from vault.core.chunking import chunk_note
from vault.core.headings import path_at, shared_path
from vault.core.markdown import parse_markdown
from vault.core.types import ChunkLimits, ParsedNote

BODY = """Before all.

# Operations

Intro.

## The worker

It wakes.

### Its queue

One job at a time.

## When something is killed

Nothing is lost.

# Another subject

Last words.
"""


def path_of(note: ParsedNote, words: str) -> tuple[str, ...]:
    rows = [asdict(heading) for heading in note.headings]
    return path_at(rows, note.title, offset=note.body.index(words))


@pytest.mark.parametrize(
    ("words", "path"),
    [
        ("Before all", ("Operations",)),
        ("Intro", ("Operations",)),
        ("## The worker", ("Operations", "The worker")),
        ("It wakes", ("Operations", "The worker")),
        ("One job", ("Operations", "The worker", "Its queue")),
        ("Nothing is lost", ("Operations", "When something is killed")),
        ("Last words", ("Another subject",)),
    ],
)
def test_a_place_stands_under_the_headings_above_it(words: str, path: tuple[str, ...]) -> None:
    assert path_of(parse_markdown(BODY, path="ops.md"), words) == path


def test_a_title_of_its_own_comes_first() -> None:
    note = parse_markdown("---\ntitle: Handbook\n---\n" + BODY, path="ops.md")
    assert path_of(note, "It wakes") == ("Handbook", "Operations", "The worker")
    assert path_of(note, "Before all") == ("Handbook",)


def test_a_note_without_headings_is_its_title() -> None:
    assert path_at([], "Handbook", offset=12) == ("Handbook",)


def test_the_path_is_the_one_that_chunks_carry() -> None:
    note = parse_markdown(BODY, path="ops.md")
    for chunk in chunk_note(note, limits=ChunkLimits(minimum=1)):
        words = chunk.content.strip().rsplit("\n", 1)[-1]
        assert path_of(note, words) == chunk.heading_path


def test_several_paths_share_what_they_begin_with() -> None:
    worker, queue = ("Operations", "The worker"), ("Operations", "The worker", "Its queue")
    assert shared_path([queue], "Operations") == queue
    assert shared_path([worker, queue], "Operations") == worker
    assert shared_path([queue, ("Operations", "When killed")], "Operations") == ("Operations",)
    assert shared_path([worker, ("Another",)], "Handbook") == ("Handbook",)
    assert shared_path([], "Handbook") == ("Handbook",)
