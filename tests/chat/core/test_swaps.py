"""Another name in the place of the one that a passage has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.citations import Quotable, find_quote, undecided
from chat.core.swaps import Swap, find_swap

POOL = ["Marta Keller opens the doors at six, and Tom counts the till.", "Tom lives in Oslo."]


@pytest.mark.parametrize(
    ("statement", "sentence", "read", "said"),
    [
        ("Ben counts the till daily.", "Tom counts the till daily.", "Tom", "Ben"),
        (
            "The pool on Mill Road is closed.",
            "The pool on Elm Lane is closed.",
            "Elm Lane",
            "Mill Road",
        ),
        ("Frau Reuter prüft die Kasse.", "Frau Albers prüft die Kasse.", "Albers", "Reuter"),
        (
            "Доступ выдаёт бухгалтер по заявке.",
            "Доступ выдаёт Павел по заявке.",
            "Павел",
            "бухгалтер",
        ),
        ("新书每月从广州运来。", "新书每月从上海运来。", "上海", "广州"),
        (
            "We moved from Jira to YouTrack.",
            "We moved from Jira to Redmine.",
            "Redmine",
            "YouTrack",
        ),
    ],
)
def test_a_name_in_the_place_of_another_is_found(
    statement: str, sentence: str, read: str, said: str
) -> None:
    assert find_swap(statement, [sentence]) == Swap(read, said, is_other=False)


def test_two_names_of_one_passage_are_two_things() -> None:
    takes = "Заказы принимает Ольга, а ремонтирует Сергей."
    assert find_swap("Заказы принимает Сергей.", [takes]) == Swap("Ольга", "Сергей", is_other=True)
    assert find_swap("Tom opens the doors at six.", POOL) == Swap(
        "Marta Keller", "Tom", is_other=True
    )


@pytest.mark.parametrize(
    ("statement", "sentences"),
    [
        ("Keller opens the doors at six.", POOL),
        ("Tom counts the till.", POOL),
        ("Bergen is backed up hourly.", ["Oslo, Bergen and Leeds are backed up hourly."]),
        ("Oslo is backed up hourly.", ["Oslo, Bergen and Leeds are backed up hourly."]),
        ("Ann opens the doors.", ["Ann, the manager, opens the doors."]),
        ("The manager opens the doors.", ["Ann opens the doors.", "The manager Ann has a dog."]),
        ("Ann opens the doors.", ["She opens the doors."]),
        ("It failed in March.", ["The pump failed in March.", "It was mended."]),
        ("Er öffnet die Türen.", ["Jonas öffnet die Türen.", "Er ist der Chef."]),
        ("Она открывает двери.", ["Ольга открывает двери.", "Она живёт рядом."]),
        ("The doors are opened by Ann.", ["Ann opens the doors."]),
        ("Die Pumpe steht im Keller.", ["Die Wasserpumpe steht im Keller."]),
        ("The pool closes at 21:00.", ["The pool closes at 20:00."]),
        ("Отчёт готовит Анна Белова.", ["Отчёт подписан Анной Беловой."]),
        ("Ann mended the pump.", ["Ann repaired the pump."]),
        ("", POOL),
        ("Tom", []),
    ],
)
def test_what_is_no_other_name_is_no_swap(statement: str, sentences: list[str]) -> None:
    assert find_swap(statement, sentences) is None


def test_a_role_of_another_is_weak_by_words_alone() -> None:
    text = " ".join(POOL)
    passage = Quotable(1, "Pool", text, 0, len(text), "/n", 1)
    assert find_quote(passage, "Tom opens the doors at six.").weak
    assert not find_quote(passage, "Marta Keller opens the doors at six.").weak
    assert undecided(passage, "Eve opens the doors at six.") == "swap"


@given(st.lists(st.sampled_from(["Ann", "Bob", "opens", "the", "doors", ",", "李强", "9:00", "."])))
def test_a_sentence_has_no_other_name_than_itself(words: list[str]) -> None:
    sentence = " ".join(words)
    assert find_swap(sentence, [sentence]) is None
