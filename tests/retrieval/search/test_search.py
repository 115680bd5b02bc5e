"""Search of notes: what is found, in which order, and by which arm."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test.utils import CaptureQueriesContext

from providers.models import EmbeddingModel
from retrieval.core.types import Knobs, Mode
from retrieval.models import RetrievalSettings
from retrieval.search import MOST_RESULTS, search_notes
from tests.cast import Cast, make_vault
from tests.retrieval.library import embed, write_markdown, write_note
from tests.retrieval.search.asking import arm, paths, search
from vault.access import scope_for
from vault.lexemes import refresh_lexemes

pytestmark = pytest.mark.django_db


def test_keyword_search_finds_a_word_by_its_stem(library: Cast) -> None:
    result = search(library.owner, "exports of payrolls", Mode.KEYWORD)
    assert paths(result) == ["Payroll.md"]
    assert result.hits[0].arms == ("keyword 1",)
    assert arm(result, "meaning").ran is False


def test_a_question_finds_its_note_by_both_arms(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    result = search(library.owner, "Where is the blue pump?")
    hit = result.hits[0]
    assert (hit.path, hit.vault_slug, hit.title) == ("Pumps.md", "team", "Pumps")
    assert hit.arms == ("keyword 1", "meaning 1")
    assert hit.snippet == "The blue pump stands in the cellar."
    assert [hit.snippet[a:b] for a, b in hit.marks] == ["blue", "pump"]
    assert hit.span == (0, 35)
    assert result.notices == ()
    assert result.searched_vaults == ("team",)


def test_a_question_with_one_unknown_word_is_still_found_by_keyword(library: Cast) -> None:
    assert paths(search(library.owner, "payroll nonexistentword"))[0] == "Payroll.md"


def test_each_note_has_one_row(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    result = search(library.owner, "pump cellar May serviced", Mode.SEMANTIC)
    assert sorted(paths(result)) == ["Green/Garden.md", "Payroll.md", "Pumps.md"]
    assert [hit.rank for hit in result.hits] == [1, 2, 3]


def test_a_note_that_the_query_names_comes_first(cast: Cast, model: EmbeddingModel) -> None:
    for number in range(12):
        write_note(cast.vault, f"bird {number}.md", "Kestrel kestrel hunting falcon kestrel.")
    write_note(cast.vault, "Kestrel.md", "See birds.", aliases=("Project Osprey",))
    embed(cast.vault, model)
    for query in ("Kestrel", "kestrel", "Project Osprey", "Kestrel.md", "[[Kestrel]]"):
        hit = search(cast.owner, query).hits[0]
        assert (hit.path, hit.arms[0]) == ("Kestrel.md", "title"), query


def test_a_named_note_without_text_is_not_lost(cast: Cast) -> None:
    write_note(cast.vault, "Empty.md")
    hit = search(cast.owner, "empty").hits[0]
    assert (hit.path, hit.snippet, hit.span) == ("Empty.md", "", (0, 0))


def test_phrases_must_stand_in_the_text_and_excluded_words_must_not(
    cast: Cast, model: EmbeddingModel
) -> None:
    write_note(cast.vault, "a.md", "The weekly\ncopy is restored.")
    write_note(cast.vault, "b.md", "Copy it, say weekly.")
    write_note(cast.vault, "c.md", "The weekly copy of drafts.")
    embed(cast.vault, model)
    for mode in Mode:
        assert set(paths(search(cast.owner, '"weekly copy"', mode))) == {"a.md", "c.md"}
        assert paths(search(cast.owner, 'copy "weekly copy" -draft', mode)) == ["a.md"]


def test_a_question_is_answered_by_a_note_without_the_words_it_quotes(
    cast: Cast, model: EmbeddingModel
) -> None:
    write_note(cast.vault, "a.md", "A copy is restored weekly, by the night shift.")
    embed(cast.vault, model)
    for mode in Mode:
        assert paths(search(cast.owner, 'restored "weekly copy"', mode)) == []
        result = search(cast.owner, 'Who restored the "weekly copy" at night?', mode)
        assert paths(result) == ["a.md"]
        assert "search for the quoted words alone" in " ".join(result.notices)


def test_a_misspelled_word_takes_its_nearest_and_says_so(cast: Cast) -> None:
    write_markdown(cast.vault, "K8s.md", "Our kubernetes cluster runs the invoice service.")
    write_markdown(cast.vault, "Other.md", "Nothing about it here.")
    result = search(cast.owner, "kubernetse", Mode.KEYWORD)
    assert paths(result) == ["K8s.md"]
    assert "kubernetse → kubernet" in arm(result, "keyword").reason
    assert paths(search(cast.owner, "INV202600038", Mode.KEYWORD)) == []


def test_a_limit_beyond_reason_is_capped(cast: Cast) -> None:
    for number in range(MOST_RESULTS + 5):
        write_note(cast.vault, f"{number}.md", "The same pump.")
    assert len(search(cast.owner, "pump", limit=100_000).hits) == MOST_RESULTS
    assert len(search(cast.owner, "pump", limit=3).hits) == 3


def test_a_search_takes_a_fixed_number_of_queries(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    second = make_vault("second", owner=library.owner)
    for number in range(6):
        write_note(second, f"{number}.md", f"The pump and the payroll of the garden {number}.")
    embed(second, model)
    scope = scope_for(library.owner)
    # The first one makes the model known to this process.
    search(library.owner, "pump")
    with CaptureQueriesContext(connection) as captured:
        async_to_sync(search_notes)("pump payroll garden", scope=scope, mode=Mode.HYBRID, limit=9)
    statements = [q["sql"] for q in captured if "SAVEPOINT" not in q["sql"]]
    # settings, facts, the transaction's settings, the search, notes, chunks
    assert len(statements) == 6
    assert sum(sql.startswith("WITH") for sql in statements) == 1


def test_without_trigrams_only_typos_are_lost(library: Cast) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
    assert paths(search(library.owner, "blue pump")) == ["Pumps.md"]
    assert search(library.owner, "paryoll").hits == ()


def test_reciprocal_rank_is_an_option(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    RetrievalSettings.objects.create(pk=1, fusion="rrf", rrf_k=60)
    hit = search(library.owner, "blue pump").hits[0]
    assert hit.path == "Pumps.md"
    assert hit.score == pytest.approx(2 / 61)


def test_text_as_typed_is_found_where_keywords_are_few(library: Cast) -> None:
    result = search(library.owner, "omato", Mode.KEYWORD)
    assert [(hit.path, hit.arms) for hit in result.hits] == [("Green/Garden.md", ("text",))]
    assert search(library.owner, "%", Mode.KEYWORD).hits == ()
    assert search(library.owner, "o", Mode.KEYWORD).hits == ()


def test_the_same_search_gives_the_same_order(cast: Cast, model: EmbeddingModel) -> None:
    for number in range(8):
        write_note(cast.vault, f"{number}.md", "The very same text about a pump.")
    embed(cast.vault, model)
    first = paths(search(cast.owner, "pump text"))
    assert first == paths(search(cast.owner, "pump text"))
    assert first == sorted(first)


def test_rare_words_weigh_more_once_words_were_counted(cast: Cast) -> None:
    for number in range(30):
        write_note(cast.vault, f"{number:02}.md", "The service of the common machine.")
    write_note(cast.vault, "rare.md", "The quenching of the machine.")
    refresh_lexemes(force=True)
    assert paths(search(cast.owner, "common service quenching machine"))[0] == "rare.md"


@pytest.mark.parametrize(
    "query", ["word " * 200_000, "-" * 33, "a-" * 400, '"' * 999, "(" * 1000, "x" * 1_000_000]
)
def test_long_and_deep_queries_are_cut_and_answered(library: Cast, query: str) -> None:
    assert search(library.owner, query).timings["total"] < 5_000


def test_a_note_that_was_replaced_comes_after_the_one_that_replaced_it(cast: Cast) -> None:
    text = "Thirty days of leave for the zelmira team, says {}."
    for path, properties in (
        ("a old.md", {"superseded_by": "[[d new]]"}),
        ("b status.md", {"status": "Deprecated"}),
        ("c past.md", {"valid_until": "2020-01-01"}),
        ("d new.md", {"status": "current", "valid_until": "2999-01-01"}),
    ):
        write_note(cast.vault, path, text.format(path), title=path, properties=properties)
    result = search(cast.owner, "leave of the zelmira team")
    assert paths(result)[0] == "d new.md"
    assert set(paths(result)) == {"a old.md", "b status.md", "c past.md", "d new.md"}
    RetrievalSettings.objects.create(pk=1, fusion="rrf", rrf_k=60)
    assert paths(search(cast.owner, "leave of the zelmira team"))[0] == "d new.md"


def test_notes_of_the_time_that_a_question_speaks_of_come_first(cast: Cast) -> None:
    text = "What the zelmira team decided."
    write_note(cast.vault, "a.md", text)
    write_note(cast.vault, "b.md", text, properties={"date": "2024-03-17"})
    write_note(cast.vault, "daily/2024-04-02.md", text)
    in_march = search(cast.owner, "what did the zelmira team decide in March 2024?")
    assert paths(in_march)[0] == "b.md"
    assert "March 2024 = 2024-03-01 to 2024-03-31" in arm(in_march, "keyword").reason
    assert paths(search(cast.owner, "zelmira team in April 2024"))[0] == "daily/2024-04-02.md"


def test_a_word_of_another_language_is_not_mended_into_this_one(cast: Cast) -> None:
    write_markdown(cast.vault, "a.md", "Give notice to the office of the company in time.")
    refresh_lexemes(force=True)
    assert "→" not in arm(search(cast.owner, "Notizen"), "keyword").reason
    said = arm(search(cast.owner, "wo sind die noticen vom Treffen?"), "keyword").reason
    assert "→" not in said
    assert "→" in arm(search(cast.owner, "offise hours"), "keyword").reason


def test_an_everyday_word_of_another_language_is_no_slip(cast: Cast) -> None:
    write_markdown(cast.vault, "a.md", "Der Plan gilt für vier Wochen.")
    refresh_lexemes(force=True)
    said = arm(search(cast.owner, "Wie viele Urlaubstage habe ich?"), "keyword").reason
    assert "→" not in said
    assert "vierr → vier" in arm(search(cast.owner, "vierr Plan"), "keyword").reason


@pytest.mark.parametrize("query", ["5 March 2024", "March 5, 2024", "5.3.2024", "5 марта 2024"])
def test_a_day_finds_the_note_that_is_named_after_it(cast: Cast, query: str) -> None:
    write_note(cast.vault, "daily/2024-03-05.md", "We talked about the roof.")
    write_note(cast.vault, "other.md", "March is the month of the 5 roofs in 2024.")
    result = search(cast.owner, query)
    assert (result.hits[0].path, result.hits[0].arms[0]) == ("daily/2024-03-05.md", "title")


@pytest.mark.parametrize(("overfetch", "notes"), [(1, 3), (4, 10)])
def test_enough_candidates_are_taken_for_notes_of_several_passages(
    cast: Cast, overfetch: int, notes: int
) -> None:
    for number in range(12):
        write_note(cast.vault, f"{number:02}.md", *("The pump." for _ in range(4)))
    result = async_to_sync(search_notes)(
        "pump",
        scope=scope_for(cast.owner),
        mode=Mode.KEYWORD,
        limit=10,
        knobs=Knobs(depth=10, overfetch=overfetch),
    )
    assert len(result.hits) == notes
