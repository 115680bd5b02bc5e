"""What somebody typed becomes a query: safe, cut, taken apart."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.query import (
    LONGEST_QUERY,
    clean,
    identifiers_in,
    like_pattern,
    names_in,
    parse_query,
    phrase_pattern,
    straight_quotes,
)

ANYTHING = st.text(st.characters(codec=None), max_size=300) | st.text(
    alphabet="\"-' \\%_&|!():*<>\x00\ud800abя中", max_size=120
)


@given(ANYTHING)
def test_any_string_becomes_text_that_can_be_stored(text: str) -> None:
    for query in (parse_query(text), parse_query(text, operators=True)):
        for part in (query.text, *query.phrases, *query.excluded, *query.excluded_phrases):
            part.encode()
            assert "\x00" not in part
            assert len(part) <= LONGEST_QUERY


@given(ANYTHING)
def test_operators_never_leave_a_question_without_its_words(text: str) -> None:
    plain, parsed = parse_query(text), parse_query(text, operators=True)
    assert bool(plain.words) == bool(parsed.words or parsed.excludes)


WORDS = st.lists(st.text("abcdefgh", min_size=2, max_size=6), min_size=1, max_size=3)


@given(st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3))
def test_what_is_excluded_is_never_looked_for(
    wanted: list[list[str]], phrases: list[list[str]], out: list[list[str]]
) -> None:
    left_out = [f'-"X{" X".join(words)}"' for words in out]
    single = [f"-Y{words[0]}" for words in out]
    quoted = [f'"{" ".join(words)}"' for words in phrases]
    plain = [" ".join(words) for words in wanted]
    query = parse_query(" ".join((*plain, *left_out, *quoted, *single)), operators=True)
    assert "X" not in query.text
    assert "Y" not in query.text
    assert query.phrases == tuple(dict.fromkeys(" ".join(words) for words in phrases))
    assert query.excluded_phrases == tuple(dict.fromkeys(said[2:-1] for said in left_out))
    assert query.excluded == tuple(dict.fromkeys(said[1:] for said in single))
    assert set(query.words) == {word for words in (*wanted, *phrases) for word in words}
    assert query.is_exclusions_alone == (bool(out) and not query.text)


@pytest.mark.parametrize(
    "text", ['pump -"in March" seal', "pump -“in March” seal", "-«in March» pump seal"]
)
def test_a_minus_before_a_phrase_excludes_it(text: str) -> None:
    query = parse_query(text, operators=True)
    assert (query.text, query.phrases) == ("pump seal", ())
    assert query.excluded_phrases == ("in March",)


@pytest.mark.parametrize("text", ["“blue pump” seal", "„blue pump“ seal", "«blue pump» seal"])
def test_typographic_quotes_make_a_phrase(text: str) -> None:
    query = parse_query(text, operators=True)
    assert (query.phrases, query.text) == (("blue pump",), "blue pump seal")


@pytest.mark.parametrize("text", ["tag:project -pump", 'kind:code -"blue pump" -discount'])
def test_filters_with_exclusions_list_notes(text: str) -> None:
    query = parse_query(text, operators=True)
    assert query.is_filters_alone
    assert query.excludes


@pytest.mark.parametrize("text", ["-draft", "-draft -old", '-"blue pump"'])
def test_exclusions_alone_ask_for_nothing(text: str) -> None:
    query = parse_query(text, operators=True)
    assert (query.text, query.is_exclusions_alone, query.is_filters_alone) == ("", True, False)


def test_a_megabyte_is_cut() -> None:
    assert len(clean("word " * 250_000)) == LONGEST_QUERY


def test_phrases_and_excluded_words_become_filters() -> None:
    query = parse_query('restore "weekly   copy" -draft time', operators=True)
    assert query.phrases == ("weekly copy",)
    assert query.excluded == ("draft",)
    assert query.text == "restore weekly copy time"


def test_in_chat_every_character_is_text() -> None:
    query = parse_query('what does "-draft" do?')
    assert (query.phrases, query.excluded) == ((), ())
    assert query.text == 'what does "-draft" do?'


@pytest.mark.parametrize("text", ["--exclude", "-v", "rsync --delete", "e-mail", "a - b", "-"])
def test_options_and_hyphens_exclude_nothing(text: str) -> None:
    assert parse_query(text, operators=True).excluded == ()


@pytest.mark.parametrize("text", ['""', '"..."', '"blue pump', "“blue pump"])
def test_what_asks_for_nothing_else_is_taken_as_text(text: str) -> None:
    query = parse_query(text, operators=True)
    assert query.text == text
    assert (query.phrases, query.excluded) == ((), ())


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), min_size=1, max_size=40))
def test_a_phrase_pattern_finds_its_phrase_and_nothing_in_its_place(phrase: str) -> None:
    squeezed = " ".join(phrase.split())
    pattern = phrase_pattern(phrase)
    assert re.fullmatch(pattern, squeezed)
    assert re.fullmatch(pattern, squeezed.replace(" ", "\n  "))
    assert not re.fullmatch(pattern, squeezed + "x")


def test_wildcards_of_like_are_escaped() -> None:
    assert like_pattern(r"50%_\x") == r"%50\%\_\\x%"


def test_names_in_a_query_are_the_whole_phrases_links_and_identifiers() -> None:
    text = 'what of "blue pump", [[Folder/Kestrel#May|it]] and INV/2026/00037? in 2026'
    names = names_in(parse_query(text, operators=True))
    assert names[0].startswith("what of blue pump ,")
    assert names[1:] == ("blue pump", "Folder/Kestrel", "INV/2026/00037")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("is CVE-2021-3281 fixed", ("cvezz2021zz3281",)),
        ("what does --exclude do", ("zxmzxmexclude",)),
        ("C++ or a_b.c", ("czxpzxp", "azzbzzc")),
        ("ticket #35809, of 2024, took 1,000,000 or 12345-6", ("zz12345zz6", "35809")),
        ("pizza, jazz and a zxing puzzle", ()),
        ("a state-of-the-art pump", ()),
        ("", ()),
    ],
)
def test_identifiers_are_told_from_words_by_their_signs(text: str, found: tuple[str, ...]) -> None:
    assert identifiers_in(text) == found


@given(ANYTHING)
def test_identifiers_of_any_text_are_lexemes(text: str) -> None:
    assert all(token == token.casefold() and " " not in token for token in identifiers_in(text))


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ('When was the song "Fog on the Tyne" released?', "Fog on the Tyne"),
        ("Warum wurde die Gruppe als „die Methodisten“ bezeichnet?", "die Methodisten"),
        ("Какой исследователь ввел в обиход название «кислород»?", "кислород"),
        ("有多少个国家在它们的名字中包含“亚马逊”？", "亚马逊"),
        ("有多少个国家在它们的名字中包含“亚马逊”", "亚马逊"),
        ('Who of the two asked his father "Are we there yet?"', "Are we there yet?"),
        ("ใครเขียนเพลง “สายน้ำ” ในปีนั้น", "สายน้ำ"),
        ('من كتب أغنية "ضباب النهر" القديمة؟', "ضباب النهر"),
    ],
)
def test_a_question_in_a_sentence_quotes_what_it_asks_about(question: str, quoted: str) -> None:
    query = parse_query(question, operators=True)
    assert query.phrases == ()
    assert query.quoted == (quoted,)
    assert quoted in names_in(query)
    assert query.text == straight_quotes(question)
    assert not query.narrows


@pytest.mark.parametrize(
    "typed",
    [
        '"weekly copy"',
        '"weekly copy?"',
        'restore "weekly copy"?',
        'how to restore the last "weekly copy" of everything',
        "„weekly copy“ restore",
        "“水泵” 维修手册",
    ],
)
def test_words_beside_a_phrase_leave_it_a_condition(typed: str) -> None:
    query = parse_query(typed, operators=True)
    assert query.phrases
    assert query.quoted == ()


def test_a_question_that_quotes_keeps_its_other_operators() -> None:
    query = parse_query(
        'Which theatre is a "monumental theatre" in Warsaw -"film house" -opera tag:art ?',
        operators=True,
    )
    assert query.quoted == ("monumental theatre",)
    assert query.excluded == ("opera",)
    assert query.excluded_phrases == ("film house",)
    assert [each.value for each in query.filters] == ["art"]
    assert "film" not in query.text


@pytest.mark.parametrize(
    "text",
    [
        "Was war vor dem „Fischglas“-artigen Helm auf den Anzügen?",
        'the "fish bowl"-shaped helmet',
        'What does "rsync -draft" really do here?',
        'notes on "rsync -draft"',
    ],
)
def test_a_minus_in_a_phrase_or_at_its_end_excludes_nothing(text: str) -> None:
    query = parse_query(text, operators=True)
    assert (query.excluded, query.excluded_phrases) == ((), ())
    assert query.words == parse_query(text).words
