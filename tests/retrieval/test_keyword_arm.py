"""The keyword arm in SQL: exact BM25, and what is read where words are frequent."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from retrieval.core import keyword_sql
from retrieval.core.query import parse_query
from retrieval.core.types import Candidate, Knobs, Mode
from retrieval.facts import scope_facts
from retrieval.statements import run_search
from tests.cast import Cast
from tests.retrieval.library import write_note
from vault.access import scope_for
from vault.lexemes import refresh_lexemes
from vault.models import Chunk

pytestmark = pytest.mark.django_db


def keyword_search(cast: Cast, query: str, *, depth: int = 50) -> list[Candidate]:
    scope = scope_for(cast.owner)
    found = run_search(
        parse_query(query),
        scope=scope,
        facts=scope_facts(scope),
        knobs=Knobs(mode=Mode.KEYWORD, depth=depth),
        vectors=[],
    )
    return sorted(found.candidates, key=lambda each: each.lexical_rank or 0)


def contents(found: list[Candidate]) -> list[str]:
    texts = dict(Chunk.objects.values_list("pk", "content"))
    return [texts[each.chunk_id] for each in found]


def bm25(words: list[str], query: list[str], *, chunks: list[list[str]]) -> float:
    """The score of a passage of `words`, as the textbook has it."""
    average = sum(map(len, chunks)) / len(chunks)
    score = 0.0
    for term in query:
        df = sum(term in chunk for chunk in chunks)
        idf = math.log(1 + (len(chunks) - df + 0.5) / (df + 0.5))
        tf = Counter(words)[term]
        length = len(words) / average
        score += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length))
    return score


def test_scores_are_those_of_bm25_by_the_book(cast: Cast) -> None:
    dice = random.Random(4)
    # No stemmer cuts these, and the title is a word of the passage.
    vocabulary = ["pumpk", "bokuk", "dalok", "fizuk", "gorak", "hubik", "rare"]
    texts = [
        [dice.choice(vocabulary[:-1]) for _ in range(dice.randint(1, 60))] + ["rare"] * (n % 9 == 0)
        for n in range(40)
    ]
    for number, words in enumerate(texts):
        write_note(cast.vault, f"{number}.md", " ".join(words), title=f"t{number}k")
    refresh_lexemes(force=True)
    chunks = [[f"t{number}k", *words] for number, words in enumerate(texts)]
    query = ["pumpk", "dalok", "rare"]
    found = keyword_search(cast, " ".join(query))
    expected = {
        " ".join(words[1:]): bm25(words, query, chunks=chunks)
        for words in chunks
        if set(words) & set(query)
    }
    assert len(found) == len(expected)
    for text, candidate in zip(contents(found), found, strict=True):
        assert candidate.bm25 == pytest.approx(expected[text], rel=1e-5)


@pytest.fixture
def frequent(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Cast:
    """Twenty passages with each of two words, two of them with both, where five is many."""
    monkeypatch.setattr(keyword_sql, "LEAST_ROWS", 5)
    monkeypatch.setattr(keyword_sql, "POOL_SHARE", 0)
    monkeypatch.setattr("retrieval.statements.EVERY_LEXEME_UP_TO", 0)
    for number in range(20):
        write_note(cast.vault, f"a{number:02}.md", f"weekly number {number}k")
        write_note(cast.vault, f"b{number:02}.md", f"backup number {number}k")
    write_note(cast.vault, "c1.md", "weekly backup of the cellar")
    write_note(cast.vault, "c2.md", "backup, done weekly")
    write_note(cast.vault, "d.md", "the quench")
    refresh_lexemes(force=True)
    return cast


def test_a_rare_word_brings_its_passages_and_leaves_frequent_ones_out(frequent: Cast) -> None:
    assert contents(keyword_search(frequent, "quench weekly backup")) == ["the quench"]


def test_beside_a_rare_word_frequent_ones_bring_the_passages_that_hold_two_of_them(
    frequent: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword_sql, "LEAST_ROWS", 15)
    found = contents(keyword_search(frequent, "quench weekly backup"))
    assert set(found) == {"the quench", "weekly backup of the cellar", "backup, done weekly"}


def test_words_that_bring_few_passages_in_all_bring_each_of_them(
    frequent: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword_sql, "LEAST_ROWS", 50)
    assert len(keyword_search(frequent, "quench weekly backup")) == 43


def test_of_frequent_words_those_that_stand_together_come_first(frequent: Cast) -> None:
    found = contents(keyword_search(frequent, "weekly backup"))
    assert set(found[:2]) == {"weekly backup of the cellar", "backup, done weekly"}
    # The rarest of the two alone fills up.
    assert len(found) == 22


def test_where_words_may_bring_more_rows_than_are_ranked_the_best_of_these_are(
    frequent: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By rank, which is cheaper than BM25; in a small scope all are ranked."""
    every = contents(keyword_search(frequent, "weekly backup", depth=2))
    for name, value in (("POOL", 2), ("POOL_SHARE", 2)):
        monkeypatch.setattr(keyword_sql, name, value)
    assert "ts_rank" in keyword_sql.reach(2, chunks=Chunk.objects.count()).best
    assert contents(keyword_search(frequent, "weekly backup", depth=2)) == every
    assert set(every) == {"weekly backup of the cellar", "backup, done weekly"}


def test_of_one_frequent_word_no_more_is_read_than_that(
    frequent: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyword_sql, "MOST_ROWS", 5)
    found = contents(keyword_search(frequent, "weekly"))
    assert len(found) == 5
    assert found == contents(keyword_search(frequent, "weekly"))


def test_words_that_are_in_nearly_everything_are_asked_for_together(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("LEAST_ROWS", 5), ("POOL_SHARE", 0), ("FILLING", 3)):
        monkeypatch.setattr(keyword_sql, name, value)
    monkeypatch.setattr("retrieval.statements.EVERY_LEXEME_UP_TO", 0)
    for number in range(60):
        words = [
            word for place, word in enumerate(("alpha", "beta", "gamma")) if number % 4 != place
        ]
        write_note(cast.vault, f"{number:02}.md", " ".join(words))
    refresh_lexemes(force=True)
    found = contents(keyword_search(cast, "alpha beta gamma"))
    assert found[:15] == ["alpha beta gamma"] * 15
    assert len(found) <= 15 + 3


@pytest.mark.parametrize("query", ["ds7604", "DS-7604", "computeDiscount", "compute_discount"])
def test_identifiers_are_found_however_they_are_joined(cast: Cast, query: str) -> None:
    texts = (
        ("printer DS-7604", "printer ds7604")
        if "7604" in query
        else ("call compute_discount here", "call computeDiscount here")
    )
    for number, text in enumerate((*texts, "another printer", "another call")):
        write_note(cast.vault, f"{number}.md", text)
    assert set(contents(keyword_search(cast, query))) == set(texts)


@pytest.mark.parametrize("query", ["tumour", "tumor", "Tumors"])
def test_a_word_counts_as_the_same_in_its_other_spelling(cast: Cast, query: str) -> None:
    texts = ["The tumor stays here.", "The tumour stays here."]
    for number, text in enumerate([*texts, "Another note altogether."]):
        write_note(cast.vault, f"{number}.md", text, title=f"t{number}k")
    refresh_lexemes(force=True)
    found = keyword_search(cast, query)
    assert sorted(contents(found)) == texts
    assert found[0].bm25 == pytest.approx(found[1].bm25)


@pytest.mark.parametrize("query", ["TNF-alpha", "TNF-α"])
def test_a_greek_letter_and_its_name_find_each_other(cast: Cast, query: str) -> None:
    texts = ["The level of TNF-alpha.", "The level of TNF-α."]
    for number, text in enumerate([*texts, "Another note altogether."]):
        write_note(cast.vault, f"{number}.md", text, title=f"t{number}k")
    refresh_lexemes(force=True)
    assert sorted(contents(keyword_search(cast, query))) == texts


def test_words_that_ask_bring_no_passages_where_no_spaces_are_written(cast: Cast) -> None:
    texts = ["水泵的另一个名称是抽水机。", "什么是什么？问题和回答。"]
    for number, text in enumerate(texts):
        write_note(cast.vault, f"{number}.md", text, title=f"t{number}k")
    refresh_lexemes(force=True)
    assert contents(keyword_search(cast, "水泵是什么？")) == texts[:1]
    assert contents(keyword_search(cast, "什么")) == texts[1:]
