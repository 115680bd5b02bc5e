"""Made tokens: what a query finds although PostgreSQL's parser would lose it."""

from __future__ import annotations

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from vault.core.folding import fold
from vault.core.lexical import made_tokens, other_spellings, query_tokens, words_joined


def is_found(query: str, text: str) -> bool:
    return bool(set(query_tokens(query)) & set(made_tokens(text).split()))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("CVE-2021-3281", "fixed CVE-2021-3281 today"),
        ("cve-2021-3281", "see :cve:`2021-3281` for more"),
        ("--exclude", "use the ``--exclude`` option"),
        ("INV/2026/00037", "paid: INV/2026/00037."),
        ("inv-2026-00037", "paid: INV/2026/00037."),
        ("00037", "paid: INV/2026/00037."),
        ("a_b.c", "call a_b.c()"),
        ("DS-7604", "camera DS-7604NI-E1/4P/A"),
        ("2.14.3", "version 2.14.3"),
        ("v2.14", "version 2.14.3"),
        ("2.14", "released v2.14.3"),
        ("10.20.30.40", "host 10.20.30.40"),
        ("report.final", "the file report.final.docx, and report.final"),
        ("petrova", "write to ana.petrova@example.org"),
        ("ana.petrova@example.org", "write to Ana.Petrova@Example.org!"),
        ("DE44 5001 0517 5407 3249 31", "account DE44500105175407324931"),
        ("DE44500105175407324931", "account DE44 5001 0517 5407 3249 31"),
        ("thyroid", "thyroid/metabolic"),
        ("metabolic", "thyroid/metabolic"),
        ("ERR_CONN_RESET", "got ERR_CONN_RESET"),
        ("C++", "I like C++ more"),
        ("c++", "in C++20 there is"),
        ("c++20", "in C++20 there is"),
        ("C#", "what about C#?"),
        ("F#", "(F#)"),
        (".NET", "on .NET today"),
        ("dotnet", "on .NET today"),
        ("asp.net", "ASP.NET pages"),
        ("2026-05-26", "on 2026-05-26 we met"),
        ("2026/05/26", "on 2026-05-26 we met"),
        ("user", "call getUserName here"),
        ("Ceuse", "Céüse"),
        ("Céüse", "Ce\u0301u\u0308se"),
        ("lodz", "Łódź"),
        ("angstrom", "Ångström"),
        ("cafe", "cafe\u0301"),
        ("café", "cafe\u0301"),
        ("strasse", "Straße"),
        ("елка", "ёлка"),
        ("合約", "中文合約轉換體驗課問題"),
        ("中文合約", "中文合約轉換體驗課問題"),
        ("猫", "黒い猫がいる"),
        ("パンダ", "白いパンダが"),
        ("ﾊﾟﾝﾀﾞ", "白いパンダが"),
        ("しりとり", "遊ぶしりとりの"),
        ("끝말잇기", "끝말잇기를 하자"),
        ("청구서", "이번 청구서는"),
        ("gen-itgc", "重跑gen-itgc后50条"),
        ("itgc", "重跑gen-itgc后50条"),
        ("ประชุม", "ที่ประชุมตกลง"),
        ("ប្រជុំ", "កិច្ចប្រជុំបាន"),
        # A part of an identifier, as it is asked for.
        ("OPS-4711", "see https://jira.example.com/browse/OPS-4711?focused=1"),
        ("acme/pump", "https://example.com/acme/pump"),
        ("37", "paid: INV/2026/00037."),
        ("1.2.3", "tagged 1.2.3-rc.1"),
        ("config", "in $HOME/.config"),
        (".config", "in $HOME/.config"),
        ("integer", "a Map<String, List<Integer>>"),
        ("xml", "call XMLParser"),
        ("email", "an e-mail came"),
        # Without its joints, and apart.
        ("3f2504e04f8941d39a0c0305e82c3301", "run 3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
        ("001a2b3c4d5e", "mac 00:1A:2b:3C:4d:5E"),
        ("9783161484100", "ISBN 978-3-16-148410-0"),
        ("gpt4o", "GPT-4o"),
        ("iso 9001", "ISO9001"),
        ("ISO9001", "iso-9001"),
        ("HT20260088", "合同编号HT-2026-0088已签署"),
        # One number, however it is grouped.
        ("1200.50", "costs €1,200.50 net"),
        ("1.200,50", "costs €1,200.50 net"),
        ("1 200,50", "costs 1200,50"),
        ("10000", "10\u00a0000 or 10\u202f000"),
        ("10492", "order 10,492"),
        ("+493012345678", "call +49 (0)30 1234-5678"),
        ("+49 30 1234567", "call 030/1234567"),
        ("044 123 45 67", "call +380 44 123 45 67"),
        ("01719876543", "call 0171/9876543"),
        ("2181508150", "tax 21/815/08150"),
        ("19 %", "VAT is 19%"),
        ("10°C", "at 10 °C"),
        # Days, however they are written.
        ("2026-07-07", "am 7. Juli 2026 kam er"),
        ("2025-03-14", "on March 14th, 2025"),
        ("2026-09-21", "21 сентября 2026 года"),
        ("2026-04-09", "2026年4月9日签了合同"),
        ("2026-04-12", "due 12/04/2026"),
        ("2026-12-04", "due 12/04/2026"),
        # Signs within words, and characters that nobody sees.
        ("OBrien", "O’Brien agreed"),
        ("don’t", "we don't"),
        ("обʼєктів", "п'ять об'єктів"),
        ("knowledge", "kno\u200bwled\u00adge"),
        ("کتابها", "کتاب\u200cها"),
        ("H2O", "H₂O"),
        ("5 μm", "of 5 µm"),
        # Vowel signs, and letters that are written one for another.
        ("المكتبه", "فِي المَكْتَبَة"),
        ("שלום", "שָׁלוֹם לכולם"),
        ("पंप", "नीला पम्प"),
        ("замок", "старый за\u0301мок"),
    ],
)
def test_a_query_finds_the_text(query: str, text: str) -> None:
    assert is_found(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("C#", "C and C++ code"),
        ("C++", "C and C# code"),
        ("2021-3281", "2020-1111"),
        ("2.14.3", "3.14.2"),
        ("ハンタ", "パンダ"),
        ("мои", "мой"),
        ("--exclude", "we exclude it"),
        ("合約", "約合"),
        ("a", "x/a.b"),
    ],
)
def test_a_query_does_not_find_what_only_looks_alike(query: str, text: str) -> None:
    assert not is_found(query, text)


@pytest.mark.parametrize(
    "text", ["", "plain words only", "a well-known state-of-the-art method", "JavaScript", "12 34"]
)
def test_plain_words_are_left_to_postgres(text: str) -> None:
    assert made_tokens(text) == ""


def test_tokens_come_in_the_order_and_number_of_the_text() -> None:
    assert made_tokens("A-1 then B-2 then A-1") == "azz1 bzz2 azz1"


def test_a_query_of_any_length_is_cut() -> None:
    assert len(query_tokens("A-1 " * 100_000)) == 1


def test_a_very_long_identifier_gives_its_parts_only() -> None:
    tokens = made_tokens("x/" + "part/" * 100 + "end").split()
    assert set(tokens) == {"part", "end"}


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Céüse", "ceuse"),
        ("ŁÓDŹ", "lodz"),
        ("Æsop Œuvre Øre Þór", "aesop oeuvre ore thor"),
        ("Αθήνα", "αθηνα"),
        ("мой", "мой"),
        ("Ёлка", "елка"),
        ("ガ", "ガ"),
        ("हिन्दी पँप ज़मीन", "हिंदी पंप जमीन"),
        ("شَلام المكتبة کتاب", "شلام المكتبه كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("за\u0301мок", "замок"),
        ("İzmir", "izmir"),
    ],
)
def test_only_marks_that_people_leave_off_are_folded(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text())
def test_made_tokens_are_letters_and_digits(text: str) -> None:
    for token in made_tokens(text).split():
        assert token == token.lower()
        assert not set(token) & set(" -_./:+#@'\"\\&|!()<>*")


@given(st.text())
def test_plain_words_around_a_text_change_nothing_that_is_made_of_it(text: str) -> None:
    around = f'The "harbour" (of the town), Дом: {text} and so, the old mill.'
    assert made_tokens(around).split() == made_tokens(text).split()


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("- Plain words. (Really!)", ""),
        ("see note.md, now", "notezzmd note md"),
        ("run --exclude now.", "zxmzxmexclude exclude"),
        ("Café, (naïve) Straße.", "cafe naive strasse"),
        ("C# or F#", "czxh fzxh"),
        (
            "DE44 5001 0517 5407 3249 31 a",
            """de44500105175407324931 de44 5001 0517 5407 3249 31
            500105175407324931 5175407324931 5407324931""",
        ),
    ],
)
def test_signs_around_a_word_do_not_hide_it(text: str, made: str) -> None:
    assert made_tokens(text).split() == made.split()


@given(st.text().map(str.lower))  # parts of camelCase are for other queries
def test_a_text_is_found_by_itself(text: str) -> None:
    made = set(made_tokens(text[:1000]).split())
    assert not made or made & set(query_tokens(text))


@pytest.mark.django_db
def test_postgres_keeps_made_tokens_as_they_are() -> None:
    text = (
        "CVE-2021-3281 --exclude -v INV/2026/00037 a_b.c C++20 C# .NET ana.petrova@example.org "
        "2.14.3 DS-7604NI-E1/4P/A Céüse Straße 重跑gen-itgc后50条 猫 パンダー 끝말잇기 ที่ประชุม "
        "កិច្ចប្រជុំបាន ສະບາຍດີ DE44 5001 0517 5407 3249 31 https://example.org/a/b.html?x=1 "
        "10e5/2e10 1e5-e6 0x1F/2 мой-2 Αθήνα/β"
    )
    tokens = made_tokens(text)
    with connection.cursor() as cursor:
        cursor.execute("SELECT tsvector_to_array(to_tsvector('simple', %s))", [tokens])
        (kept,) = cursor.fetchone()
    assert set(kept) == set(tokens.split())


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ("ds7604", "the printer DS-7604 is broken"),
        ("DS7604", "ds_7604"),
        ("computeDiscount", "call compute_discount(x)"),
        ("getHTTPUser", "get_http_user"),
        ("what is e101?", "E-101"),
    ],
)
def test_an_identifier_is_found_where_its_joints_were_left_out(asked: str, text: str) -> None:
    assert set(other_spellings(asked)) & set(made_tokens(text).split())


@pytest.mark.parametrize(
    ("asked", "word"), [("DS-7604", "ds7604"), ("compute_discount", "computediscount")]
)
def test_an_identifier_is_found_where_its_joints_are_left_out(asked: str, word: str) -> None:
    assert word in other_spellings(asked)


@pytest.mark.parametrize("text", ["a plain question", "and/or", "3.14", "état-major", "e-mail", ""])
def test_words_and_numbers_have_no_other_spelling(text: str) -> None:
    assert other_spellings(text) == ()


@given(st.text(max_size=80))
def test_spellings_are_those_of_each_word_whatever_stands_around_it(text: str) -> None:
    """Plain text is passed over at a glance; beside an identifier all of it is read."""
    assert other_spellings(text) == tuple(
        each for each in other_spellings(f"DS-7604 {text}") if each != "ds7604"
    )


@given(st.text(max_size=80))
def test_other_spellings_of_any_text_are_single_lexemes(text: str) -> None:
    assert all(each.isalnum() and each == each.lower() for each in other_spellings(text))


@pytest.mark.parametrize(
    ("asked", "word"),
    [
        ("elastic search", "elasticsearch"),
        ("Qt 6", "qt6"),
        ("e-mail to bob", "email"),
        ("Node JS", "nodejs"),
        ("کتاب ها", "كتابها"),
    ],
)
def test_neighbours_are_looked_for_as_one_word_too(asked: str, word: str) -> None:
    assert word in words_joined(asked)


@pytest.mark.parametrize("asked", ["", "pump", "蓝色 水泵", "what is the payment method?"])
def test_one_word_scripts_without_spaces_and_whole_questions_have_none(asked: str) -> None:
    assert words_joined(asked) == ()


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("it's what we're told, l'été", "ete"),
        ("a well-known co-worker", "coworker"),
        ("3 of 12, 5", ""),
        ("in 2026 and 1984", ""),
        ("a < b and c > d", ""),
    ],
)
def test_what_says_nothing_more_is_left_out(text: str, made: str) -> None:
    assert made_tokens(text) == made
