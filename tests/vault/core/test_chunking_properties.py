"""What holds for the chunks of every note, however strange."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.vault.core.markdown_texts import notes, texts
from vault.core.block_rules import block_parser
from vault.core.chunking import chunk_note
from vault.core.decoding import decode_note
from vault.core.markdown import parse_markdown
from vault.core.types import ChunkDraft, ChunkLimits, ParsedNote

SMALL = ChunkLimits(target=120, overlap=20, minimum=20, maximum=150)
WIDE = ChunkLimits()
SEEN = regex.compile(r"[^\s\p{Cf}\p{Cc}]")


def clean(text: str) -> str:
    """The text as it comes to the parser: decoded, LF, no NUL, no lone surrogates."""
    decoded = decode_note(b"\xef\xbb\xbf" + text.encode("utf-8", "replace"))
    return decoded.text or ""


def parse(text: str) -> ParsedNote:
    return parse_markdown(clean(text), path="Folder/Some note.md")


def visible(note: ParsedNote, start: int, end: int) -> str:
    """What is seen of a span, counted character by character."""
    hidden = {
        place
        for hidden_start, hidden_end in note.hidden
        for place in range(max(hidden_start, start), min(hidden_end, end))
    }
    return "".join(note.body[place] for place in range(start, end) if place not in hidden)


def openers_and_closers(chunk: ChunkDraft, seen: str) -> tuple[str, str]:
    """What stands in a chunk's content before and after the text of its span."""
    at = chunk.content.find(seen)
    assert at >= 0, (chunk.content, seen)
    return chunk.content[:at], chunk.content[at + len(seen) :]


limits = st.sampled_from([SMALL, WIDE])


@given(texts, limits)
@example("```\n" + "line of code\n" * 200 + "```", SMALL)
@example("| a | b |\n|---|---|\n" + "| one | two |\n" * 100, SMALL)
def test_content_is_the_text_of_the_span_less_what_is_hidden(text: str, size: ChunkLimits) -> None:
    note = parse(text)
    for chunk in chunk_note(note, limits=size):
        before, after = openers_and_closers(chunk, visible(note, chunk.start, chunk.end))
        # Only what opened the fence or table before the cut, and what closes a cut fence.
        assert not before or before.endswith("\n")
        assert all(line in note.body for line in before.split("\n"))
        assert re.fullmatch(r"(\n[\s>]*(`{3,}|~{3,}))?", after)


@given(texts, limits)
def test_every_character_that_is_seen_is_in_a_chunk(text: str, size: ChunkLimits) -> None:
    note = parse(text)
    covered = bytearray(len(note.body))
    for start, end in note.hidden:
        covered[start:end] = b"\x01" * (end - start)
    for chunk in chunk_note(note, limits=size):
        covered[chunk.start : chunk.end] = b"\x01" * (chunk.end - chunk.start)
    lost = "".join(char for char, is_in in zip(note.body, covered, strict=True) if not is_in)
    assert not SEEN.search(lost)


@given(texts, limits)
def test_no_chunk_is_larger_than_the_maximum(text: str, size: ChunkLimits) -> None:
    for chunk in chunk_note(parse(text), limits=size):
        assert chunk.tokens <= size.maximum


@given(texts, limits)
def test_no_chunk_is_empty_unless_it_stands_for_the_properties(
    text: str, size: ChunkLimits
) -> None:
    note = parse(text)
    chunks = chunk_note(note, limits=size)
    if len(chunks) == 1 and not chunks[0].content:
        assert note.properties
        assert not SEEN.search(visible(note, 0, len(note.body)))
    else:
        assert all(SEEN.search(chunk.content) for chunk in chunks)


@given(texts, limits)
def test_chunks_are_in_order_and_overlap_only_a_little(text: str, size: ChunkLimits) -> None:
    note = parse(text)
    chunks = chunk_note(note, limits=size)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        if after.start < before.end:
            assert before.heading_path == after.heading_path


@given(texts)
def test_the_same_note_gives_the_same_chunks(text: str) -> None:
    note = parse(text)
    assert chunk_note(note, limits=SMALL) == chunk_note(parse(text), limits=SMALL)


@given(texts, limits)
def test_no_chunk_begins_or_ends_inside_a_grapheme(text: str, size: ChunkLimits) -> None:
    note = parse(text)
    chunks = chunk_note(note, limits=size)
    inside: set[int] = set()
    for found in regex.finditer(r"\X", note.body):
        inside.update(range(found.start() + 1, found.end()))
    for chunk in chunks:
        assert chunk.start not in inside
        # White space is left off behind a chunk, whatever marks stand upon it.
        if not note.body[chunk.end : chunk.end + 1].isspace():
            assert chunk.end not in inside or note.body[chunk.end - 1].isspace()


@given(texts, limits)
def test_lines_are_those_of_the_span(text: str, size: ChunkLimits) -> None:
    note = parse(text)
    for chunk in chunk_note(note, limits=size):
        assert chunk.start_line == note.body.count("\n", 0, chunk.start) + 1
        last = max(chunk.start, chunk.end - 1)
        assert chunk.end_line == note.body.count("\n", 0, last) + 1


FENCES = st.tuples(
    st.sampled_from(["```", "~~~", "````", "```python", "~~~ sh"]),
    st.lists(
        st.sampled_from(["code = 1", "# comment", "", "long " * 40, "| a | b |"]), max_size=60
    ),
    st.sampled_from(["", "> ", "  ", "- "]),
)


def fenced(opener: str, inner: list[str], lead: str) -> str:
    rest = lead.replace("-", " ")
    marker = re.match(r"[`~]+", opener)
    assert marker
    lines = [lead + opener, *(rest + line for line in inner), rest + marker[0]]
    return "\n".join(lines)


@given(st.lists(FENCES.map(lambda parts: fenced(*parts)) | st.just("Some text."), max_size=6))
def test_fences_are_closed_in_every_chunk(blocks: list[str]) -> None:
    note = parse("\n\n".join(blocks))
    for chunk in chunk_note(note, limits=SMALL):
        # Whatever follows the chunk is no code, unless a cut line left an open fence.
        tokens = block_parser().parse(chunk.content + "\n\nsentinel")
        assert tokens[-2].content == "sentinel"


@given(notes)
@settings(max_examples=60)
def test_whole_fences_stay_whole(text: str) -> None:
    code = "```python\n# comment\nprint(1)\n```"
    note = parse(text + "\n\n%%\n%%\n\n" + code)
    if any(
        block.kind == "fence" and note.body[block.start : block.end] == code
        for block in note.blocks
    ):
        assert any(code in chunk.content for chunk in chunk_note(note, limits=WIDE))


@pytest.mark.parametrize("size", [SMALL, WIDE])
def test_a_path_of_any_length_leaves_room_for_text(size: ChunkLimits) -> None:
    text = "".join(f"{'#' * level} {'Very long heading ' * 60}\n\n" for level in range(1, 7))
    chunks = chunk_note(parse(text + "word " * 500), limits=size)
    assert all(chunk.tokens <= size.maximum for chunk in chunks)
    assert sum(chunk.content.count("word") for chunk in chunks) >= 500


def paragraphs(seed: int, count: int) -> list[str]:
    """Different paragraphs of 10 to 130 tokens."""
    dice = random.Random(seed)
    words = ["pump", "valve", "pressure", "of", "the", "drill", "checks", "every", "second", "week"]
    return [
        " ".join(dice.choices(words, k=dice.randint(10, 100))).capitalize() + f" in {number}."
        for number in range(count)
    ]


def changed_chunks(before: str, after: str, size: ChunkLimits) -> int:
    old = {chunk.content for chunk in chunk_note(parse(before), limits=size)}
    return len({chunk.content for chunk in chunk_note(parse(after), limits=size)} - old)


@given(st.integers(0, 10_000), st.integers(2, 80), st.data(), limits)
@settings(max_examples=60, deadline=None)
def test_an_edited_paragraph_of_a_long_section_changes_a_few_chunks(
    seed: int, count: int, data: st.DataObject, size: ChunkLimits
) -> None:
    parts = paragraphs(seed, count)
    place = data.draw(st.integers(0, count - 1))
    rewritten = [*parts[:place], "Another text of some words.", *parts[place + 1 :]]
    removed = [*parts[:place], *parts[place + 1 :]]
    for edited in (rewritten, removed):
        before, after = ("# Log\n\n" + "\n\n".join(lines) for lines in (parts, edited))
        assert changed_chunks(before, after, size) <= 12


@pytest.mark.parametrize(
    ("head", "line", "tail"),
    [("", "{}\n\n", ""), ("", "- {}\n", ""), ("```\n", "{}\n", "```"),
     ("| a | b |\n|---|---|\n", "| x | {} |\n", ""), ("", "> {}\n>\n", "")],
    ids=["paragraphs", "list", "fence", "table", "quote"],
)  # fmt: skip
def test_on_average_an_edit_changes_at_most_three_chunks_of_whatever_is_long(
    head: str, line: str, tail: str
) -> None:
    changed: list[int] = []
    for seed in range(3):
        parts = paragraphs(seed, 80)
        text = head + "".join(line.format(part) for part in parts) + tail
        changed += [
            changed_chunks(text, text.replace(part, "Another text of some words."), WIDE)
            for part in parts[:: 5 + seed]
        ]
    assert sum(changed) / len(changed) <= 3
