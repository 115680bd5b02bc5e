"""Notes that say of themselves that they no longer hold."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from retrieval.core.standing import outdated_by, standing_of, standing_words

TODAY = date(2026, 11, 30)


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"superseded_by": "[[Leave 2026|the new policy]]"}, ("superseded_by", "the new policy")),
        ({"superseded_by": ["[[Leave 2026]]"]}, ("superseded_by", "Leave 2026")),
        ({"superseded_by": [["New"]]}, ("superseded_by", "New")),
        ({"superseded_by": [[None], ["New"]]}, ("superseded_by", "New")),
        ({"status": "Deprecated"}, ("status", "Deprecated")),
        ({"status": [["archived"]]}, ("status", "archived")),
        ({"valid_until": 2024}, ("valid_until", "2024")),
        ({"valid_until": "2024-12"}, ("valid_until", "2024-12")),
        ({"valid_until": "31.12.2024"}, ("valid_until", "31.12.2024")),
        ({"valid_until": ["12/31/2024"]}, ("valid_until", "12/31/2024")),
        ({"valid_until": "31 December 2024"}, ("valid_until", "31 December 2024")),
        ({"valid_until": "1.1.2024 - 31.3.2024"}, ("valid_until", "1.1.2024 - 31.3.2024")),
        ({"valid_until": "2026-11-29"}, ("valid_until", "2026-11-29")),
        ({"valid_until": "2026-11-29T10:00:00"}, ("valid_until", "2026-11-29")),
    ],
)
def test_a_note_says_that_it_no_longer_holds(
    properties: dict[str, Any], said: tuple[str, str]
) -> None:
    assert outdated_by(properties, today=TODAY) == said


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"status": "current", "valid_until": "2026-11-30"},
        {"superseded_by": None, "status": None, "valid_until": "soon"},
        {"superseded_by": [], "status": ["draft"], "valid_until": 7},
        {"superseded_by": False},
        {"superseded_by": [[]], "status": [["draft"]], "valid_until": 2026},
        {"valid_until": "2026-11"},
        {"valid_until": "31.12.2026"},
        {"valid_until": "yesterday"},
        {"valid_until": "in March"},
        {"valid_until": "31.2.2024"},
    ],
)
def test_other_notes_hold(properties: dict[str, Any]) -> None:
    assert outdated_by(properties, today=TODAY) == ("", "")


def test_how_far_a_note_holds_is_told_as_text() -> None:
    said = standing_of({"status": "draft", "superseded_by": ["[[Leave 2026]]"], "date": 7})
    assert said == {"status": "draft", "superseded_by": "Leave 2026", "valid_until": ""}
    assert standing_words(said) == "status: draft, superseded by: Leave 2026"
    assert standing_words({}) == ""
