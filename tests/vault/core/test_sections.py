"""A section is found exactly, or not at all."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault.core.sections import find_section, sections_of

BODY = "intro\n# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\n## B\nsecond b\n"


def headings(body: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    position = 0
    for line in body.splitlines(keepends=True):
        marks = line.split(" ")[0]
        if marks and set(marks) == {"#"}:
            rows.append({"level": len(marks), "text": line[len(marks) + 1 :].strip(),
                         "start": position})  # fmt: skip
        position += len(line)
    return rows


SECTIONS = sections_of(headings(BODY), length=len(BODY))


def text(*wanted: str) -> str | None:
    section = find_section(SECTIONS, wanted)
    return BODY[section.start : section.end] if section else None


def test_a_section_goes_to_the_next_heading_that_is_not_below_it() -> None:
    assert text("A") == "# A\na\n## B\nb\n### C\nc\n## D\nd\n"
    assert text("A", "B") == "## B\nb\n### C\nc\n"
    assert text("A", "D") == "## D\nd\n"
    assert text("E") == "# E\n## B\nsecond b\n"


def test_the_end_of_a_path_is_enough_and_the_first_one_counts() -> None:
    assert text("C") == text("A", "B", "C") == "### C\nc\n"
    assert text("B") == text("A", "B")
    assert text("E", "B") == "## B\nsecond b\n"


def test_case_and_blanks_do_not_matter_but_a_near_miss_is_a_miss() -> None:
    assert text(" a ", "b") == text("A", "B")
    for wanted in (["X"], ["A", "C"], ["A", "B", "C", "D"], [], [""]):
        assert find_section(SECTIONS, wanted) is None


def test_skipped_levels_keep_their_parents() -> None:
    rows = headings("# A\n### C\n## B\n")
    assert [section.path for section in sections_of(rows, length=20)] == [
        ("A",), ("A", "C"), ("A", "B"),
    ]  # fmt: skip


@given(st.lists(st.integers(1, 6), max_size=20))
def test_sections_nest_and_never_cross(levels: list[int]) -> None:
    rows = [{"level": level, "text": str(n), "start": n * 10} for n, level in enumerate(levels)]
    sections = sections_of(rows, length=len(levels) * 10)
    for one in sections:
        assert one.start < one.end <= len(levels) * 10
        for other in sections:
            if one.start < other.start < one.end:
                assert other.end <= one.end
