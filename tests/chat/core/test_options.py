"""Precedence of settings: this table is its specification."""

from __future__ import annotations

from typing import Any

import pytest

from chat.core.options import (
    Choices,
    OfferedModel,
    VaultDefaults,
    pick_model,
    resolve,
    vault_level,
)

TABLE: list[tuple[str, list[dict[str, Any]], Any]] = [
    # field, choices of asked, user, vault and site (or the last three), what holds
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
    ("tool_use", [{}, {}, {}], "never"),
    ("tool_use", [{"tool_use": "auto"}, {"tool_use": "never"}, {}], "auto"),
    ("tool_use", [{"tool_use": ""}, {"tool_use": "ask"}, {"tool_use": "auto"}], "ask"),
    ("tool_steps", [{}, {}, {}], 4),
    ("tool_steps", [{}, {"tool_steps": 99}, {}], 12),
    ("models", [{}, {}, {}], ()),
    ("models", [{"model": 1}, {"model": 2}, {"model": 1}], (1, 2)),
    ("models", [{}, {"model": 2}, {"model": 3}], (2, 3)),
    ("models", [{}, {}, {"model": 5}, {"model": 3}], (5, 3)),
    ("models", [{}, {"model": 2}, {"model": 5}, {"model": 3}], (2, 5, 3)),
    ("models", [{"model": 1}, {}, {"model": 5}, {}], (1, 5)),
    ("system_prompt", [{}, {}, {"system_prompt": "vault"}, {"system_prompt": "site"}], "vault"),
    (
        "system_prompt",
        [{}, {"system_prompt": "mine"}, {"system_prompt": "vault"}, {"system_prompt": "site"}],
        "mine",
    ),
    ("system_prompt", [{}, {}, {}, {"system_prompt": "site"}], "site"),
    ("system_prompt", [{}, {}, {"system_prompt": "vault"}, {}], "vault"),
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


def test_a_model_of_a_vault_that_is_not_asked_is_told_as_such() -> None:
    picked = pick_model(
        (9,), available=AVAILABLE, default="one", labels={9: "Nine"}, vaults={9: "Garden"}
    )
    assert picked.model == "one"
    assert picked.notice.startswith("The chosen model “Nine” belongs to the vault “Garden”")


OFFERED = [
    OfferedModel(1, "openai", "small", is_default=True),
    OfferedModel(2, "openai", "large"),
    OfferedModel(3, "ollama", "large", is_default=True),
    OfferedModel(4, "openai", "own", vault_id=7),
    OfferedModel(5, "openai", "large", vault_id=7),
    OfferedModel(6, "openai", "foreign", vault_id=8),
]


@pytest.mark.parametrize(
    ("chosen", "model"),
    [
        ({}, None),
        ({"model": "own"}, 4),
        ({"model": "large"}, 5),
        ({"model": "large", "provider": "ollama"}, 3),
        ({"model": "small"}, 1),
        ({"provider": "openai"}, 1),
        ({"provider": "ollama"}, 3),
        ({"model": "foreign"}, None),
        ({"model": "gone"}, None),
        ({"provider": "gone"}, None),
        ({"provider": "ollama", "model": "small"}, None),
    ],
)
def test_a_vault_chooses_by_name_among_its_own_models_and_the_sites(
    chosen: dict[str, str], model: int | None
) -> None:
    level = vault_level([VaultDefaults(7, "Garden", **chosen)], OFFERED)
    assert level.choices.model == model
    assert level.model_of == ("Garden" if model else "")
    assert bool(level.notice) == (bool(chosen) and model is None)


def test_of_several_vaults_the_first_that_chooses_holds() -> None:
    vaults = [
        VaultDefaults(6, "Attic"),
        VaultDefaults(7, "Garden", model="own"),
        VaultDefaults(8, "House", model="foreign", system_prompt="As a host."),
    ]
    level = vault_level(vaults, OFFERED)
    assert (level.choices.model, level.choices.system_prompt) == (4, "As a host.")
    assert (level.model_of, level.prompt_of) == ("Garden", "House")
    assert vault_level([], OFFERED).choices == Choices()
