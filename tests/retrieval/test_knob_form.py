"""Knobs as a form: what is read back, and what is said of a value that means nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.core.types import Fusion, Knobs, Mode
from retrieval.knob_form import ASSEMBLY, RANKING, describe, knob_form, knob_query

BASE = Knobs()
ALL = (*RANKING, *ASSEMBLY)


def test_what_is_not_given_stays_as_it_is() -> None:
    form = knob_form({}, BASE)
    assert form.knobs == BASE
    assert form.is_valid
    assert [field.name for field in form.fields] == list(RANKING)


def test_values_are_read_back() -> None:
    given = {"mode": "keyword", "fusion": "rrf", "depth": "80", "rrf_k": "10", "rerank": "on"}
    form = knob_form(given, BASE, names=ALL)
    assert form.knobs == replace(
        BASE, mode=Mode.KEYWORD, fusion=Fusion.RRF, depth=80, rrf_k=10, rerank=True
    )


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("mode", "odd", "Choose one of keyword, semantic, hybrid."),
        ("fusion", "", "Choose one of convex, rrf."),
        ("depth", "9", "Give a whole number from 10 to 500."),
        ("depth", "٣٣", "Give a whole number from 10 to 500."),
        ("depth", "12.5", "Give a whole number from 10 to 500."),
        ("rerank", "yes", "Choose on or off."),
        ("token_budget", "9" * 50, "Give a whole number from 200 to 200000."),
    ],
)
def test_a_value_that_means_nothing_is_told_at_its_field(name: str, value: str, said: str) -> None:
    form = knob_form({name: value}, BASE, names=ALL)
    assert not form.is_valid
    field = next(field for field in form.fields if field.name == name)
    assert field.error == said
    assert field.value == value[:40]
    assert form.knobs == BASE


def test_a_second_form_has_names_of_its_own() -> None:
    form = knob_form({"mode": "keyword", "b_mode": "semantic"}, BASE, prefix="b_")
    assert form.knobs.mode is Mode.SEMANTIC
    assert form.fields[0].name == "b_mode"


def test_the_address_of_knobs_is_read_as_the_same_knobs() -> None:
    other = replace(BASE, fusion=Fusion.RRF, depth=30, rerank=True, neighbours=0)
    query = knob_query(other, BASE, prefix="b_")
    assert query == {"b_fusion": "rrf", "b_depth": "30", "b_rerank": "on", "b_neighbours": "0"}
    assert knob_form(query, BASE, prefix="b_", names=ALL).knobs == other


def test_knobs_are_described_by_what_differs() -> None:
    assert describe(BASE, BASE) == "as set"
    turned = replace(BASE, fusion=Fusion.RRF, depth=30)
    assert describe(turned, BASE) == "Fusion by rank, Depth 30"
