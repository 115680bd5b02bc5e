"""The text search configuration of a chunk."""

from __future__ import annotations

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from vault.core.language import text_config

TEXTS = {
    "english": "The reserve is kept for six weeks, and it is checked by the team.",
    "german": "Die Reserve wird sechs Wochen gehalten, und das Team prüft sie nicht.",
    "french": "La réserve est gardée dans le dépôt pour les équipes qui la vérifient.",
    "spanish": "La reserva se guarda en el almacén y el equipo la revisa por la mañana.",
    "italian": "La riserva è nel magazzino e non della squadra che la controlla.",
    "portuguese": "A reserva não está no armazém, mas a equipe que verifica são os donos.",
    "dutch": "De voorraad wordt niet gecontroleerd door het team, maar ook niet van een ander.",
    "swedish": "Det är inte laget som har det, och jag vill att vi kan göra det av en slump.",
    "finnish": "Se on varasto, joka ei ole suuri, mutta hän sanoi että ne ovat siellä.",
    "hungarian": "Az egy raktár, és nem volt az, hogy meg van már, de csak ez.",
    "turkish": "Bu bir depo ve çok daha büyük olan için ne var gibi.",
    "indonesian": "Ini adalah gudang yang tidak akan dipakai untuk itu dari pada dengan dalam.",
    "romanian": "Acesta este un depozit care nu sunt mai mari, și în el să fi pentru noi.",
    "russian": "Резерв хранится шесть недель, и команда проверяет список по вторникам.",
    "serbian": "Резерва се чува шест недеља, и тим проверава њен списак, али још људи.",
    "greek": "Το απόθεμα διατηρείται για έξι εβδομάδες.",
    "arabic": "يتم الاحتفاظ بالمخزون لمدة ستة أسابيع.",
    "armenian": "Պահուստը պահվում է վեց շաբաթ:",
    "hindi": "भंडार छह सप्ताह तक रखा जाता है और टीम इसकी जाँच करती है।",
    "nepali": "भण्डार छ हप्ता राखिएको छ, र टोलीले जाँच गरेको छ, पनि।",
    "tamil": "இருப்பு ஆறு வாரங்களுக்கு வைக்கப்படுகிறது.",
}


@pytest.mark.parametrize(("config", "text"), TEXTS.items())
def test_prose_has_the_configuration_of_its_language(config: str, text: str) -> None:
    assert text_config(text) == config


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12 34 !?",
        "合約轉換",
        "ที่ประชุม",
        "끝말잇기",
        "Резерв зберігається шість тижнів, і команда її перевіряє.",
        "ذخیره برای شش هفته نگه داشته می‌شود و گروه آن را چک می‌کند.",
        "המלאי נשמר במשך שישה שבועות",
        "Dự trữ được giữ trong sáu tuần",
        "zapas jest trzymany przez tygodni i sprawdzany w magazynie " * 5,
    ],
)
def test_what_no_configuration_fits_is_simple(text: str) -> None:
    assert text_config(text) == "simple"


@pytest.mark.parametrize("text", ["Postgres tuning", "Invoice list", "VPN"])
def test_a_few_words_without_a_sign_count_as_english(text: str) -> None:
    assert text_config(text) == "english"


def test_russian_prose_full_of_latin_terms_is_russian() -> None:
    assert (
        text_config("Настройка PostgreSQL: shared_buffers, work_mem и random_page_cost")
        == "russian"
    )


@given(st.text())
def test_any_text_has_a_configuration(text: str) -> None:
    assert text_config(text).isalpha()


@pytest.mark.django_db
def test_postgres_has_every_configuration() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cfgname FROM pg_ts_config")
        known = {name for (name,) in cursor.fetchall()}
    assert {*TEXTS, "simple", "danish", "norwegian", "catalan", "lithuanian"} <= known
