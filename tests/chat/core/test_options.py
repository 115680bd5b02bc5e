"""Precedence of settings: this table is its specification."""

from __future__ import annotations

from typing import Any

import pytest

from chat.core.options import Choices, pick_model, resolve

TABLE: list[tuple[str, list[dict[str, Any]], Any]] = [
    # field, choices of asked, user and site, what holds
    ("mode", [{}, {}, {}], "notes_first"),
    ("mode", [{}, {}, {"mode": "no_notes"}], "no_notes"),
    ("mode", [{}, {"mode": "notes_only"}, {"mode": "no_notes"}], "notes_only"),
    ("mode", [{"mode": "no_notes"}, {"mode": "notes_only"}, {}], "no_notes"),
    ("mode", [{"mode": ""}, {"mode": ""}, {"mode": "no_notes"}], "no_notes"),
    ("system_prompt", [{}, {}, {}], "base"),
    ("system_prompt", [{}, {"system_prompt": ""}, {"system_prompt": "site"}], "site"),
    ("system_prompt", [{}, {"system_prompt": "mine"}, {"system_prompt": "site"}], "mine"),
    ("persona", [{}, {}, {"persona": 3}], 3),
    ("persona", [{"persona": 1}, {"persona": 2}, {"persona": 3}], 1),
    ("passages", [{}, {}, {}], None),
    ("passages", [{}, {"passages": 4}, {"passages": 9}], 4),
    ("passages", [{}, {"passages": 500}, {}], 30),
    ("passages", [{}, {"passages": 0}, {}], 1),
    ("alternates", [{}, {"alternates": False}, {"alternates": True}], False),
    ("rerank", [{}, {}, {"rerank": True}], True),
    ("models", [{}, {}, {}], ()),
    ("models", [{"model": 1}, {"model": 2}, {"model": 1}], (1, 2)),
    ("models", [{}, {"model": 2}, {"model": 3}], (2, 3)),
]


@pytest.mark.parametrize(("name", "levels", "expected"), TABLE)
def test_the_nearest_choice_holds(name: str, levels: list[dict[str, Any]], expected: Any) -> None:
    resolved = resolve(*(Choices(**level) for level in levels), base_prompt="base")
    assert getattr(resolved, name) == expected


AVAILABLE = [(1, "one"), (2, "two")]


@pytest.mark.parametrize(
    ("wanted", "model"), [((), "standard"), ((2, 1), "two"), ((9, 1), "one"), ((9,), "standard")]
)
def test_the_first_available_model_answers(wanted: tuple[int, ...], model: str) -> None:
    picked = pick_model(wanted, available=AVAILABLE, default="standard", labels={})
    assert picked.model == model
    assert bool(picked.notice) == (bool(wanted) and wanted[0] == 9)


def test_a_switch_of_models_is_never_silent() -> None:
    picked = pick_model((9,), available=AVAILABLE, default="one", labels={9: "Nine"})
    assert picked.notice.startswith("The chosen model “Nine” is not available now, so one answered")
    assert "your choice is kept" in picked.notice
