"""The other spelling of a question's words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.respelling import respelled


@pytest.mark.parametrize(
    ("british", "american"),
    [
        ("tumour growth", "tumor growth"),
        ("behavioural tests", "behavioral tests"),
        ("the colours of honour", "the colors of honor"),
        ("organisation", "organization"),
        ("realised", "realized"),
        ("analysing", "analyzing"),
        ("data centre", "data center"),
        ("kilometres", "kilometers"),
        ("labelled cells", "labeled cells"),
        ("traveller", "traveler"),
        ("leukaemia", "leukemia"),
        ("hypoglycaemic", "hypoglycemic"),
        ("haemoglobin", "hemoglobin"),
        ("paediatrics", "pediatrics"),
        ("oestrogen", "estrogen"),
        ("aluminium", "aluminum"),
        ("licence", "license"),
        ("programmes", "programs"),
        ("a grey area", "a gray area"),
    ],
)
def test_british_and_american_give_each_other(british: str, american: str) -> None:
    assert respelled(british) == american
    assert respelled(american) == british


@pytest.mark.parametrize(
    ("letters", "names"),
    [
        ("TNF-α", "TNF-alpha"),
        ("IFNγ", "IFNgamma"),
        ("β-catenin", "beta-catenin"),
        ("the β of a plan", "the beta of a plan"),
    ],
)
def test_greek_letters_and_their_names_give_each_other(letters: str, names: str) -> None:
    assert respelled(letters) == names
    assert respelled(names) == letters


@pytest.mark.parametrize(
    "text",
    [
        "",
        "How are vaults backed up at night?",
        "https://colour.example.org/centre",
        "colour_of_centre",
        "Ποιος είναι ο σκοπός",
        "水泵需要什么",
        "betamax",
    ],
)
def test_what_has_no_other_spelling_gives_nothing(text: str) -> None:
    assert respelled(text) == ""


@given(st.text(st.sampled_from("aeiourszmtlc αβ-., Tγ1"), max_size=60) | st.text(max_size=80))
def test_words_keep_their_number_and_the_signs_between_them(text: str) -> None:
    other = respelled(text)
    if other:
        assert len(other.split(" ")) == len(text.split(" "))
        assert [sign for sign in other if not sign.isalpha()] == [
            sign for sign in text if not sign.isalpha()
        ]
