"""Whether one text denies what another says, in several languages and grammars."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.core.polarity import goes_against


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("Anyone who comes alone must be at least 14.", "Children under 14 are not allowed."),
        ("The pool is closed on Mondays.", "The pool does not open on Mondays."),
        ("Passing a password on is forbidden.", "You may not pass a password on."),
        ("Logs have to be deleted after 30 days.", "Logs must not be kept for 30 days."),
        ("Sonntags ist das Café geschlossen.", "Das Café arbeitet sonntags nicht."),
        ("Man muss mindestens 21 sein.", "Wer jünger als 21 ist, darf nicht fahren: man haftet."),
        ("По воскресеньям мастерская закрыта.", "Мастерская не работает по воскресеньям."),
        ("Пересылать пароли запрещено.", "Пересылать пароли нельзя."),
        ("图书馆星期一闭馆。", "图书馆周一不开放。"),
        ("满十二岁才能进。", "十二岁以下的儿童不得进。"),
        ("两个版本不同。", "两个版本的格式有差别。"),
        ("Tomatoes get water early.", "Tomatoes are watered at dawn, never at noon."),
        ("Nobody gets parcels in the evening.", "Parcels are only given out before noon."),
    ],
)
def test_two_ways_to_say_the_same_do_not_go_against_each_other(
    statement: str, sentence: str
) -> None:
    assert not goes_against(statement, sentence, in_its_words=False)


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("Members must be at least 14.", "Members must be under 14."),
        ("The pool is open on Mondays.", "The pool is closed on Mondays."),
        ("The pool opens on Mondays.", "The pool does not open on Mondays."),
        ("Es ist erlaubt, Hunde mitzubringen.", "Es ist verboten, Hunde mitzubringen."),
        ("Мастерская открыта по воскресеньям.", "Мастерская закрыта по воскресеньям."),
        ("密码可以用邮件发送。", "密码不可以用邮件发送。"),
        ("Drills may be kept with a deposit.", "Drills may be kept, but not with a deposit."),
    ],
)
def test_a_denial_or_an_opposite_of_one_side_alone_goes_against_it(
    statement: str, sentence: str
) -> None:
    assert goes_against(statement, sentence, in_its_words=False)


def test_only_that_is_turned_into_not_in_the_same_words_is_no_other_way_to_say_it() -> None:
    sentence = "Only members may borrow a ladder."
    assert goes_against("Members may not borrow a ladder.", sentence, in_its_words=True)


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_text_goes_against_itself_and_the_two_sides_are_alike(one: str, other: str) -> None:
    assert not goes_against(one, one, in_its_words=True)
    assert isinstance(goes_against(one, other, in_its_words=False), bool)
