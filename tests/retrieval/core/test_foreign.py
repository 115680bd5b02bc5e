"""Which texts a question's words cannot be expected in."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.foreign import Foreign, foreign_to, own_config


@pytest.mark.parametrize(
    ("question", "own"),
    [
        ("How long is the warranty of the pump?", "english"),
        ("Wie lange ist die Garantie der Pumpe?", "german"),
        ("Какая гарантия у этого насоса?", "russian"),
        ("¿Cuál es la garantía de la bomba?", "spanish"),
    ],
)
def test_texts_under_another_stemmer_are_foreign(question: str, own: str) -> None:
    configs = foreign_to(question).configs
    assert own not in configs
    assert "simple" not in configs
    assert {"english", "german", "russian", "spanish"} - set(configs) == {own}


@pytest.mark.parametrize("question", ["", "kafka", "backup kafka", "42", "中文", "🙂 🙂 🙂 🙂"])
def test_nothing_is_foreign_to_a_question_of_uncertain_language(question: str) -> None:
    assert foreign_to(question) == Foreign()


def test_texts_without_a_stemmer_are_told_apart_by_their_script() -> None:
    chinese = foreign_to("水泵的保修期有多长？")
    assert re.search(chinese.absent, "水泵的保修期是两年。")
    assert not re.search(chinese.absent, "ปั๊มมีการรับประกันสองปี")
    english = foreign_to("How long is the warranty of the pump?")
    assert re.search(english.present, "水泵的保修期是两年。")
    assert not re.search(english.present, "| pump | 2 years |")


@given(st.text(max_size=80))
def test_any_text_is_a_question_and_its_patterns_compile(question: str) -> None:
    foreign = foreign_to(question)
    assert re.compile(foreign.present) and re.compile(foreign.absent)
    assert not (foreign.present and foreign.absent)


@pytest.mark.parametrize(
    ("question", "config"),
    [
        ("what does its pump need", "english"),
        ("was braucht die Pumpe", "german"),
        ("что нужно насосу", "russian"),
        ("水泵需要什么", "simple"),
        ("42", "simple"),
        ("", "simple"),
    ],
)
def test_a_question_has_the_configuration_of_its_language(question: str, config: str) -> None:
    assert own_config(question) == config
