"""Passages that say the same are told once; whatever differs in a word stays apart."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.copies import Telling, families, one_a_note, what_is_said
from retrieval.core.types import Candidate

DAY = datetime(2026, 3, 1, tzinfo=UTC)
LONG = "The pump in the cellar is serviced every year in the month of May"


def said(text: str, *headings: str, title: str = "Pumps") -> str:
    return what_is_said(text, title=title, heading_path=(title, *headings))


def telling(
    note_id: int,
    text: str = LONG,
    *,
    path: str = "",
    title: str = "Pumps",
    chunk_id: int = 0,
    exact: bool = False,
    days: int = 0,
    is_outdated: bool = False,
) -> Telling:
    candidate = Candidate(chunk_id or note_id * 10, note_id, 1.0, exact=exact)
    return Telling(
        candidate,
        said(text, title=title),
        title=title,
        path=path or f"{note_id}.md",
        modified=DAY + timedelta(days=days),
        is_outdated=is_outdated,
    )


def led(tellings: list[Telling], *asked: str) -> list[tuple[int, list[int]]]:
    """The leading note of each row, and those told with it."""
    found = one_a_note(families(tellings, asked=asked))
    return [(each.lead.note_id, [other.note_id for other in each.others]) for each in found]


@pytest.mark.parametrize(
    "other",
    [
        f"{LONG}.",
        LONG.upper(),
        f"  {LONG.replace(' ', '  ')}\r\n",
        LONG.replace(" in ", "\nin "),
        LONG.replace("pump", "“pump”"),
        LONG.replace("pump", "'pump',"),
    ],
)
def test_blanks_case_quotes_and_end_marks_make_no_other_text(other: str) -> None:
    assert said(other) == said(LONG)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("in the month of May", "in the month of June"),
        ("is serviced", "is not serviced"),
        ("Version 4.2.1 of it mends the seal", "Version 4.2.2 of it mends the seal"),
        ("at 3.5 bar", "at 35 bar"),
        ("over -5 degrees", "over 5 degrees"),
        ("written in C++", "written in C#"),
        ("made with .NET", "made with NET"),
        ("if it is > 3 bar", "if it is < 3 bar"),
        ("- [ ] call the plumber", "- [x] call the plumber"),
        ("Is it sealed?", "Is it sealed."),
        ("2026-03-01", "2026-03-02"),
        ("Anna told Ben", "Ben told Anna"),
        ("泵在地下室，每年五月检修", "泵在地下室，每年六月检修"),
    ],
)
def test_one_word_number_or_sign_makes_another_text(one: str, other: str) -> None:
    assert said(f"{LONG}\n{one}") != said(f"{LONG}\n{other}")


def test_the_heading_counts_and_the_title_of_a_longer_passage_does_not() -> None:
    assert said(LONG, "Linux") != said(LONG, "Windows")
    assert said(LONG, "Linux", title="Pumps") == said(LONG, "Linux", title="Pumps (copy)")
    assert said("To be written.", title="Anna") != said("To be written.", title="Ben")
    assert said("To be written.", title="Anna") == said("To be written.", title="ANNA")


def test_a_passage_that_says_nothing_is_no_copy() -> None:
    assert said(" \n—.") != ""
    assert said(" \n.") == ""
    assert led([telling(1, ""), telling(2, " ")]) == [(1, []), (2, [])]


def test_of_copies_one_leads_in_the_place_of_the_best() -> None:
    rows = [telling(3), telling(1, "Something else is said here."), telling(2)]
    assert led(rows) == [(2, [3]), (1, [])]


def test_a_row_tells_the_places_that_brought_it_where_it_is() -> None:
    (found,) = one_a_note(families([telling(3), telling(1), telling(2)], asked=()))
    first = telling(3).candidate
    assert found.lead.note_id == 1
    assert (found.candidate.note_id, found.candidate.chunk_id) == (1, 10)
    assert found.best == first


def test_the_one_that_holds_leads_then_the_path_asked_for_then_the_newest() -> None:
    old = telling(1, path="Ops/Pumps.md", is_outdated=True, days=9)
    archived = telling(2, path="Works/Pumps.md", days=5)
    ops = telling(3, path="Ops/Mill pumps.md")
    assert led([old, archived, ops]) == [(2, [3, 1])]
    assert led([old, archived, ops], "pumps", "ops") == [(3, [2, 1])]


@pytest.mark.parametrize(
    "copy",
    ["Pump (conflicted copy).md", "Pump 1.md", "Pump.sync-conflict-20260301.md", "Pump_Kopie.md"],
)
def test_a_note_that_is_named_after_its_neighbour_comes_after_it(copy: str) -> None:
    newer = telling(1, path=f"Ops/{copy}", days=9)
    assert led([newer, telling(2, path="Ops/Pump.md")]) == [(2, [1])]
    assert led([newer, telling(2, path="Works/Pump.md")]) == [(2, [1])]
    for other in ("Ops/Pumps.md", "Ops/Pum.md"):
        assert led([newer, telling(2, path=other)]) == [(1, [2])], other


def test_a_copy_by_its_first_words_or_its_folder_comes_after_the_original() -> None:
    for copy in ("Ops/Copy of Pump.md", "Archive/Pump.md", "Ops/old/Pump.md", "Архив/Pump.md"):
        newer = telling(1, path=copy, days=9)
        assert led([newer, telling(2, path="Ops/Pump.md")]) == [(2, [1])], copy
    assert led([telling(1, path="Ops/Old.md", days=9), telling(2, path="Ops/X.md")]) == [(1, [2])]


def test_the_note_that_the_query_names_leads_whatever_it_says_of_itself() -> None:
    named = telling(1, path="Archive/Pumps.md", exact=True, is_outdated=True)
    assert led([named, telling(2)]) == [(1, [2])]


def test_notes_that_the_query_names_by_different_titles_stay_apart() -> None:
    rows = [telling(1, title="Mon", exact=True), telling(2, title="Tue", exact=True), telling(3)]
    assert led(rows) == [(1, [3]), (2, [])]
    same = [telling(1, title="Mon", exact=True), telling(2, title="Mon", exact=True)]
    assert led(same) == [(1, [2])]


def test_a_copy_that_alone_says_something_more_has_a_row_for_that() -> None:
    more = telling(2, "Only the copy knows the number of the plumber.", chunk_id=21)
    assert led([telling(1), telling(2), more]) == [(1, [2]), (2, [])]
    other = "What both notes say of the plumber and of his wife."
    both = [telling(1, other, chunk_id=11), telling(2, other, chunk_id=21)]
    assert led([telling(1), telling(2), *both]) == [(1, [2])]


def test_a_note_found_by_what_a_row_does_not_show_has_its_own() -> None:
    first = telling(1, "This is said by the first of both notes alone.", chunk_id=11)
    assert led([first, telling(1), telling(2)]) == [(1, []), (2, [1])]


TEXTS = [f"{LONG} {word}" for word in ("one", "two", "three", "four")] + ["", "Short."]
ROWS = st.lists(
    st.builds(
        telling,
        note_id=st.integers(1, 6),
        text=st.sampled_from(TEXTS),
        title=st.sampled_from(["Pumps", "Mills"]),
        chunk_id=st.integers(1, 10_000),
        exact=st.booleans(),
        days=st.integers(0, 3),
        is_outdated=st.booleans(),
    ),
    max_size=20,
    unique_by=lambda row: row.candidate.chunk_id,
)


@given(ROWS)
def test_no_note_and_nothing_that_only_one_says_is_lost(rows: list[Telling]) -> None:
    found = one_a_note(families(rows, asked=("pumps",)))
    leads = [each.lead.note_id for each in found]
    told = {each.note_id for family in found for each in family.others}
    assert len(leads) == len(set(leads))
    assert {row.note_id for row in rows} == {*leads, *told}
    holders: dict[str, set[int]] = {}
    for row in rows:
        holders.setdefault(row.said, set()).add(row.note_id)
    for text, notes in holders.items():
        # Shown, or said by a note that has a row.
        assert notes & set(leads), text
        if len(notes) == 1:
            assert notes <= set(leads), text


@given(ROWS)
def test_only_what_says_the_same_is_told_together(rows: list[Telling]) -> None:
    for family in one_a_note(families(rows, asked=())):
        notes = [family.lead.note_id, *(each.note_id for each in family.others)]
        assert len(notes) == len(set(notes))
        assert {each.said for each in family.others} <= {family.lead.said}
        assert not family.others or family.lead.said


@given(ROWS)
def test_the_first_row_is_the_best_hit_or_a_copy_of_it(rows: list[Telling]) -> None:
    found = one_a_note(families(rows, asked=()))
    if rows:
        first = found[0]
        assert rows[0].note_id in (first.lead.note_id, *(each.note_id for each in first.others))
