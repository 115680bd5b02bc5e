"""The language of a text, told well enough to choose its mean."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.language import ANY, LANGUAGES, language_of

SENTENCES = {
    "en": "The pump is in the cellar and it is serviced every spring.",
    "de": "Die Pumpe steht im Keller und wird jedes Jahr gewartet.",
    "fr": "La pompe est dans la cave et l'entretien se fait chaque année.",
    "es": "La bomba está en el sótano y se revisa cada año.",
    "it": "La pompa è nella cantina e viene controllata ogni anno.",
    "pt": "A bomba não está no porão, mas na garagem da casa.",
    "nl": "De pomp staat in het huis en wordt niet vaak nagekeken.",
    "sv": "Pumpen står inte i källaren och det är för kallt att gå dit.",
    "da": "Pumpen står ikke i kælderen, og hvordan den blev flyttet, er ukendt.",
    "fi": "Pumppu ei ole kellarissa, ja se on huollettu myös keväällä.",
    "hu": "A szivattyú nem a pincében van, hanem a kertben, és jól működik.",
    "ro": "Pompa nu este în pivniță, ci în grădină, și este veche.",
    "tr": "Pompa bodrumda değil ve her yıl bakımı yapılıyor.",
    "id": "Pompa itu tidak ada di ruang bawah tanah dan sudah tua.",
    "cs": "Čerpadlo není ve sklepě, ale je to v zahradě.",
    "pl": "Pompa nie jest w piwnicy, ale w ogrodzie i działa.",
    "vi": "Máy bơm không ở trong tầng hầm và được bảo trì mỗi năm.",
    "ru": "Насос стоит в подвале, и его обслуживают каждую весну.",
    "uk": "Насос стоїть у підвалі, і його обслуговують щовесни.",
    "bg": "Помпата се намира в мазето и е стара, но работи добре, тъй като я пазят.",
    "sr": "Пумпа није у подруму, већ у башти, и још ради.",
    "zh": "水泵在地下室，每年春天检修一次。",
    "ja": "ポンプは地下室にあり、毎年春に点検されます。",
    "ko": "펌프는 지하실에 있으며 매년 봄에 점검합니다.",
    "th": "ปั๊มอยู่ในห้องใต้ดินและได้รับการตรวจทุกปี",
    "el": "Η αντλία βρίσκεται στο υπόγειο και ελέγχεται κάθε χρόνο.",
    "he": "המשאבה נמצאת במרתף ונבדקת בכל שנה.",
    "ar": "المضخة في القبو وتتم صيانتها كل عام.",
    "fa": "پمپ در زیرزمین است و هر سال بررسی می‌شود.",
    "hi": "पंप तहखाने में है और हर साल इसकी जाँच होती है।",
}


@pytest.mark.parametrize(("language", "sentence"), SENTENCES.items())
def test_a_sentence_is_recognised(language: str, sentence: str) -> None:
    assert language_of(sentence) == language
    assert language_of(unicodedata.normalize("NFD", sentence)) == language


def test_every_language_can_be_said() -> None:
    assert set(SENTENCES) | {"nb"} == LANGUAGES


def test_norwegian_is_told_from_danish_by_its_small_words() -> None:
    assert language_of("Hva er det, og hvordan ble det til?") == "nb"


@pytest.mark.parametrize("text", ["pump manual", "def main(): pass", "CVE-2021-3281", "x"])
def test_names_and_code_count_as_english(text: str) -> None:
    assert language_of(text) == "en"


@pytest.mark.parametrize("text", ["", "42 + 3.5", "\u2026 \u2014", "ქართული", "🙂"])
def test_what_cannot_be_told_is_any_language(text: str) -> None:
    assert language_of(text) == ANY


def test_the_greater_part_decides() -> None:
    assert language_of("Насос: см. раздел про pump manual и его замену.") == "ru"
    assert language_of("The word «насос» is the Russian one for a pump of any kind.") == "en"
    assert language_of("在 Kubernetes 里部署数据库的步骤") == "zh"


def test_a_megabyte_costs_no_more_than_its_beginning() -> None:
    assert language_of("Насос стоит. " + "the end " * 200_000) == "en"
    assert language_of("Насос стоит. " * 400 + "the end " * 200_000) == "ru"


@given(st.text(max_size=200))
def test_any_text_has_one_answer(text: str) -> None:
    assert language_of(text) in LANGUAGES | {ANY}
    assert language_of(text) == language_of(text)
