"""Properties of every shape, as the page of a note shows them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cast import Cast
from tests.vault.notes import make_note
from vault.models import Note, Vault
from vault.properties import LONGEST_VALUE, MOST_VALUES, PropertyValue, properties_of


class Pages:
    def note(self, slug: str, path: str) -> str:
        return f"/{slug}/{path}"


def shown(properties: dict[str, Any], notes: dict[str, Note] | None = None) -> dict[str, list[Any]]:
    note = Note(properties=properties)
    rows = properties_of(note, notes or {}, Pages())
    return {row.name: [(value.text, value.kind) for value in row.values] for row in rows}


def test_no_and_nought_are_values_and_nothing_is_none() -> None:
    rows = shown({"done": True, "paid": False, "count": 0, "none": None, "empty": "", "list": []})
    assert rows == {"done": [("yes", "yes")], "paid": [("no", "no")], "count": [("0", "text")]}


def test_a_list_keeps_its_values_apart() -> None:
    rows = shown({"of": ["a, b", None, "c"], "many": list(range(MOST_VALUES + 5))})
    assert rows["of"] == [("a, b", "text"), ("c", "text")]
    assert len(rows["many"]) == MOST_VALUES


def test_nested_values_are_words() -> None:
    nested = {"deep": {"deeper": "value", "on": True}, "list": [1, [2, 3]]}
    assert shown({"nested": nested}) == {
        "nested": [("deep: deeper: value, on: yes, list: 1; 2; 3", "text")]
    }


def test_what_is_nested_too_deep_or_too_long_is_cut() -> None:
    deep: Any = "bottom"
    for _level in range(50):
        deep = {"in": deep}
    assert shown({"deep": deep})["deep"][0][0].endswith("…")
    assert len(shown({"long": "w" * 5000})["long"][0][0]) == LONGEST_VALUE


def test_titles_tags_and_aliases_stand_elsewhere() -> None:
    assert shown({"Title": "A", "tags": ["x"], "aliases": ["y"], "cssclasses": "wide"}) == {}


def test_a_link_leads_to_the_note_that_the_reader_may_open(cast: Cast) -> None:
    mira = make_note(cast.vault, "People/Mira.md")
    note = Note(properties={"by": ["[[Mira]]", "[[Mira#Early|her]]", "[[Nobody]]", "see [[Mira]]"]})
    (row,) = properties_of(note, {"mira": mira}, Pages())
    assert row.values == (
        PropertyValue("Mira", "link", "/team/People/Mira.md"),
        PropertyValue("her", "link", "/team/People/Mira.md"),
        PropertyValue("Nobody", "broken"),
        PropertyValue("see [[Mira]]"),
    )
    assert Vault.objects.get(pk=mira.vault_id).slug == "team"


@pytest.mark.parametrize("text", ["javascript:alert(1)", "https://", "https:// x", "http:x"])
def test_only_addresses_of_the_web_are_links(text: str) -> None:
    assert shown({"url": text})["url"] == [(text.strip(), "text")]
    assert shown({"url": "HTTPS://example.com/a"})["url"][0][1] == "web"


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=70), json, max_size=6))
def test_any_properties_can_be_shown(properties: dict[str, Any]) -> None:
    for name, values in shown(properties).items():
        assert len(name) <= 60
        assert values
        assert all(len(text) <= LONGEST_VALUE for text, _kind in values)
