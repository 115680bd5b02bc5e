"""The picture of the links around a note."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault.core.graph import HEIGHT, LONGEST_LABEL, MOST_AROUND, WIDTH, lay_out

titles = st.text(max_size=40)


def test_a_note_stands_in_the_middle_and_linked_notes_side_by_side() -> None:
    picture = lay_out((1, "Me"), [(2, "A"), (3, "B"), (4, "C")], {(1, 2), (2, 1), (4, 2), (3, 3)})
    assert [spot.note_id for spot in picture.spots] == [1, 2, 4, 3]
    assert len(picture.lines) == 2


def test_a_long_title_is_cut_in_the_picture() -> None:
    picture = lay_out((1, "A very long title of a note"), [(2, "x\ny")], set())
    assert [spot.label for spot in picture.spots] == ["A very long ti…", "x y"]


@given(
    titles,
    st.dictionaries(st.integers(2, 40), titles, max_size=30),
    st.sets(st.tuples(st.integers(1, 45), st.integers(1, 45)), max_size=60),
)
def test_every_spot_is_inside_and_every_line_ends_at_two(
    title: str, around: dict[int, str], links: set[tuple[int, int]]
) -> None:
    picture = lay_out((1, title), list(around.items()), links)
    places = {(spot.x, spot.y) for spot in picture.spots}
    assert len(places) == len(picture.spots) == 1 + min(len(around), MOST_AROUND)
    assert all(0 < x < WIDTH and 0 < y < HEIGHT - 20 for x, y in places)
    assert all(len(spot.label) <= LONGEST_LABEL for spot in picture.spots)
    for line in picture.lines:
        assert {(line.x1, line.y1), (line.x2, line.y2)} <= places
        assert (line.x1, line.y1) != (line.x2, line.y2)
    assert picture == lay_out((1, title), list(around.items()), links)
