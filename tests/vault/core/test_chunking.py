"""How a note is cut: sections, packing, overlap, and what is repeated at a cut."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest

from vault.core.chunking import chunk_note, embedded_text
from vault.core.markdown import parse_markdown
from vault.core.tokens import estimate_tokens
from vault.core.types import ChunkDraft, ChunkLimits, ParsedNote

SMALL = ChunkLimits(target=120, overlap=20, minimum=20, maximum=150)


def chunks_of(text: str, limits: ChunkLimits = SMALL) -> list[ChunkDraft]:
    return chunk_note(parse_markdown(text, path="Work/Plan.md"), limits=limits)


def paths_of(text: str) -> list[tuple[str, ...]]:
    return [chunk.heading_path for chunk in chunks_of(text)]


def sentences(count: int, *, first: int = 0) -> str:
    return " ".join(f"Sentence number {n} is here." for n in range(first, first + count))


def test_each_section_with_words_is_a_chunk_of_its_own() -> None:
    text = "intro\n\n## One\n\na\n\n### Deep\n\nb\n\n## Two\n\nc\n"
    assert paths_of(text) == [
        ("Plan",),
        ("Plan", "One"),
        ("Plan", "One", "Deep"),
        ("Plan", "Two"),
    ]


def test_a_title_that_is_the_first_heading_is_not_said_twice() -> None:
    assert paths_of("# Plan B\n\na\n\n## Part\n\nb") == [("Plan B",), ("Plan B", "Part")]
    assert paths_of("---\ntitle: plan b\n---\n# Plan B\n\na") == [("plan b",)]


def test_a_title_of_the_properties_stands_above_every_heading() -> None:
    text = "---\ntitle: Book\n---\n# One\n\na\n\n# Two\n\nb"
    assert paths_of(text) == [("Book", "One"), ("Book", "Two")]


def test_a_second_top_heading_does_not_stand_under_the_first() -> None:
    assert paths_of("# One\n\na\n\n# Two\n\nb\n\n## Sub\n\nc") == [
        ("One",),
        ("Two",),
        ("Two", "Sub"),
    ]


def test_headings_without_text_go_with_the_next_section() -> None:
    (chunk,) = chunks_of("# Plan\n\n## Part\n\n### Detail\n\nText.")
    assert chunk.heading_path == ("Plan", "Part", "Detail")
    assert chunk.content.startswith("# Plan\n\n## Part\n\n### Detail\n\nText.")


def test_headings_at_the_end_go_with_the_last_section() -> None:
    (chunk,) = chunks_of("# Plan\n\nText.\n\n## Later\n\n## Never")
    assert chunk.content.endswith("## Later\n\n## Never")


def test_very_many_headings_without_text_are_cut_like_text() -> None:
    chunks = chunks_of("\n".join(f"## Heading number {n}" for n in range(300)))
    assert len(chunks) > 5
    assert {chunk.heading_path for chunk in chunks} == {("Plan",)}
    assert "number 299" in chunks[-1].content


def test_a_rule_is_no_section_with_words() -> None:
    (chunk,) = chunks_of("---\n\n## One\n\nText.")
    assert chunk.heading_path == ("Plan", "One")


def test_short_paragraphs_are_packed_and_long_text_is_cut_after_sentences() -> None:
    assert len(chunks_of("one\n\ntwo\n\nthree")) == 1
    chunks = chunks_of(sentences(60))
    assert len(chunks) > 3
    for chunk in chunks:
        assert chunk.content.startswith("Sentence number")
        assert chunk.content.rstrip().endswith("is here.")


def test_a_chunk_repeats_the_end_of_the_one_before_in_one_section() -> None:
    chunks = chunks_of(sentences(60))
    assert len(chunks) > 3
    for before, after in pairwise(chunks):
        assert before.start < after.start < before.end
        assert estimate_tokens(after.content[: before.end - after.start]) <= SMALL.overlap
        assert before.content.rstrip().endswith(after.content[: before.end - after.start].rstrip())


def test_nothing_is_repeated_across_sections_or_where_no_overlap_is_wanted() -> None:
    text = f"## One\n\n{sentences(20)}\n\n## Two\n\n{sentences(20, first=20)}"
    chunks = chunks_of(text)
    first_of_two = next(chunk for chunk in chunks if chunk.heading_path[-1] == "Two")
    assert first_of_two.content.startswith("## Two")
    bare = ChunkLimits(target=120, overlap=0, minimum=20, maximum=150)
    cut = chunks_of(sentences(60), bare)
    assert all(before.end <= after.start for before, after in pairwise(cut))


def test_a_short_end_joins_the_text_before_it() -> None:
    bare = ChunkLimits(target=120, overlap=0, minimum=20, maximum=150)
    for count in range(10, 40):
        text = "\n\n".join(sentences(1, first=n) for n in range(count))
        assert all(chunk.tokens >= 20 + 8 for chunk in chunks_of(text, bare)), count


def test_a_cut_fence_is_opened_and_closed_in_every_chunk() -> None:
    code = "\n".join(f"value_{n} = compute({n})" for n in range(60))
    chunks = chunks_of(f"Before.\n\n```python title=x\n{code}\n```\n\nAfter.")
    inner = [chunk for chunk in chunks if "value_" in chunk.content]
    assert len(inner) > 3
    for chunk in inner:
        assert chunk.is_code
        assert chunk.content.count("```") == 2
        assert "```python title=x\nvalue_" in chunk.content
    assert [line for chunk in inner for line in chunk.content.split("\n") if "value_" in line] == (
        code.split("\n")
    )


@pytest.mark.parametrize(("lead", "rest"), [("- ", "  "), ("> ", "> "), ("1. ", "   ")])
def test_a_cut_fence_in_a_list_or_quote_is_closed_there(lead: str, rest: str) -> None:
    code = "\n".join(f"{rest}value_{n} = compute({n})" for n in range(60))
    chunks = chunks_of(f"{lead}~~~sh\n{code}\n{rest}~~~\n")
    assert len(chunks) > 3
    for chunk in chunks[:-1]:
        assert chunk.content.endswith(f"\n{rest}~~~")
        assert chunk.content.startswith(f"{lead}~~~sh\n")


def test_a_fence_that_fits_stays_whole() -> None:
    code = "```\n" + "line of code\n" * 20 + "```"
    chunks = chunks_of(f"{sentences(10)}\n\n{code}\n\n{sentences(10)}")
    assert sum(code in chunk.content for chunk in chunks) == 1


def test_a_table_whose_rows_are_blank_is_cut_like_any_text() -> None:
    (chunk,) = chunks_of("| a | b |\n|---|---|\n" + "\xa0" * 10_000)
    assert chunk.content.startswith("| a | b |")


def test_a_cut_table_has_its_header_in_every_chunk() -> None:
    rows = [f"| {n} | name {n} | [[Note {n}\\|n]] |" for n in range(60)]
    header = "| Id | Name | Link |\n|---|:--:|---|"
    chunks = chunks_of(f"Caption.\n\n{header}\n" + "\n".join(rows) + "\n\nAfter.")
    inner = [chunk for chunk in chunks if "| name" in chunk.content]
    assert len(inner) > 3
    assert all(chunk.content.count(header) == 1 for chunk in inner)
    assert [line for chunk in inner for line in chunk.content.split("\n") if "name" in line] == rows
    assert sum("Caption" in chunk.content for chunk in chunks) == 1


def test_a_header_that_is_too_large_is_not_repeated() -> None:
    columns = 60
    row = "|" + "word |" * columns
    text = "\n".join([row, "|" + "---|" * columns, *[row] * 10])
    assert all(chunk.tokens <= SMALL.maximum for chunk in chunks_of(text))


def test_lists_are_cut_between_items() -> None:
    items = [f"- item number {n} of the list" for n in range(60)]
    chunks = chunks_of("\n".join(items))
    assert len(chunks) > 3
    lines = [line for chunk in chunks for line in chunk.content.split("\n")]
    assert set(lines) == set(items)


def test_what_is_hidden_is_in_no_chunk() -> None:
    text = "One %%secret%% two.\n\n%%\nsecret\n%%\n\n<!-- secret -->\n\nThree."
    (chunk,) = chunks_of(text)
    assert "secret" not in chunk.content
    assert (chunk.start, chunk.end) == (0, len(text))
    assert chunks_of("%%\nsecret\n%%\n\n<!-- secret -->") == []


def test_a_note_of_properties_only_has_a_chunk_for_its_title() -> None:
    (chunk,) = chunks_of("---\ntitle: Only this\n---\n")
    assert (chunk.content, chunk.start, chunk.end) == ("", 0, 0)
    assert embedded_text(chunk.heading_path, "", chunk.content) == "Only this"
    assert chunks_of("") == []
    assert chunks_of(" \n\u200b\n") == []


def test_changing_one_paragraph_changes_one_section_only() -> None:
    sections = [f"## Part {n}\n\n{sentences(30, first=100 * n)}" for n in range(5)]
    before = chunks_of("\n\n".join(sections))
    sections[2] = sections[2].replace("Sentence number 215", "Another line")
    after = chunks_of("\n\n".join(sections))
    changed = {chunk.content for chunk in after} - {chunk.content for chunk in before}
    assert 1 <= len(changed) <= 2


def test_a_counter_of_tokens_may_be_given() -> None:
    note: ParsedNote = parse_markdown(sentences(60), path="a.md")
    chunks = chunk_note(note, limits=SMALL, count_tokens=lambda text: len(text.split()))
    assert all(len(chunk.content.split()) <= SMALL.target for chunk in chunks)
    assert max(len(chunk.content.split()) for chunk in chunks) > 60


def test_blocks_are_read_again_where_a_note_comes_without_them() -> None:
    note = ParsedNote(title="Plan", body="One.\n\nTwo.")
    (chunk,) = chunk_note(note, limits=SMALL)
    assert chunk.content == "One.\n\nTwo."


@pytest.mark.parametrize(
    ("path", "context", "content", "embedded"),
    [
        (("Plan", "Part"), "", "Text.", "Plan > Part\n\nText."),
        (("Plan",), "About pumps.", "Text.", "Plan\n\nAbout pumps.\n\nText."),
        (("Plan", "", "Part"), " ", "Text.", "Plan > Part\n\nText."),
        (("Plan",), "", "", "Plan"),
        ((), "", "Text.", "Text."),
    ],
)
def test_the_embedded_text_is_path_context_and_content(
    path: tuple[str, ...], context: str, content: str, embedded: str
) -> None:
    assert embedded_text(path, context, content) == embedded


def test_a_long_path_keeps_its_ends() -> None:
    path = ("Title", *(f"Heading number {n} in the middle" for n in range(20)), "The last part")
    shown = embedded_text(path, "", "Text.").split("\n")[0]
    assert shown.startswith("Title > ")
    assert shown.endswith(" > The last part")
    assert estimate_tokens(shown) <= 64


@pytest.mark.parametrize(
    "text",
    [
        "a" + "\u0301" * 50_000,
        "👩‍👩‍👧" * 10_000,
        "名" * 100_000,
        "x" * 300_000,
        "word " * 60_000,
        "`" * 50_000,
        "!" * 50_000,
    ],
    ids=["marks", "emoji", "han", "letters", "words", "signs", "calls"],
)
def test_endless_lines_are_cut_in_seconds(text: str) -> None:
    began = time.process_time()
    chunks = chunks_of(text, ChunkLimits())
    assert time.process_time() - began < 5
    assert all(chunk.tokens <= 450 for chunk in chunks)
    assert chunks[-1].end == len(text.rstrip())
