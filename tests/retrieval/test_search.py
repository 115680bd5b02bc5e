"""Search of notes: what is found, in which order, by which arm, and for whom."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from providers.models import EmbeddingModel
from retrieval.core.types import Arm, Knobs, Mode, SearchResult
from retrieval.models import RetrievalSettings
from retrieval.search import MOST_RESULTS, search_notes
from tests.cast import Cast, make_vault
from tests.retrieval.library import embed, make_embedding_model, write_markdown, write_note
from vault.access import User, scope_for
from vault.core.folder_rules import FolderRule
from vault.lexemes import refresh_lexemes
from vault.models import Chunk, ChunkVector, Note
from vault.staleness import fingerprint

pytestmark = pytest.mark.django_db

CANARY = "zelmirequorvex"


def search(
    user: User,
    query: str,
    mode: Mode = Mode.HYBRID,
    *,
    limit: int = 10,
    slugs: list[str] | None = None,
) -> SearchResult:
    return async_to_sync(search_notes)(query, scope=scope_for(user, slugs), mode=mode, limit=limit)


def paths(result: SearchResult) -> list[str]:
    return [hit.path for hit in result.hits]


def arm(result: SearchResult, name: str) -> Arm:
    return next(arm for arm in result.arms if arm.name == name)


@pytest.fixture
def model() -> EmbeddingModel:
    return make_embedding_model()


@pytest.fixture
def library(cast: Cast) -> Cast:
    """Three notes in the team's vault, one in the foreign one."""
    write_note(
        cast.vault, "Pumps.md", "The blue pump stands in the cellar.", "It is serviced in May."
    )
    write_note(cast.vault, "Payroll.md", "The payroll export is written every night.")
    write_note(cast.vault, "Green/Garden.md", "Tomatoes need water and sun.")
    write_note(cast.foreign_vault, f"{CANARY}.md", f"The pump {CANARY} in the payroll garden.")
    return cast


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


def test_a_misspelled_word_takes_its_nearest_and_says_so(cast: Cast) -> None:
    write_markdown(cast.vault, "K8s.md", "Our kubernetes cluster runs the invoice service.")
    write_markdown(cast.vault, "Other.md", "Nothing about it here.")
    result = search(cast.owner, "kubernetse", Mode.KEYWORD)
    assert paths(result) == ["K8s.md"]
    assert "kubernetse → kubernet" in arm(result, "keyword").reason
    assert paths(search(cast.owner, "INV202600038", Mode.KEYWORD)) == []


def test_spelling_is_never_mended_to_a_word_of_somebody_elses_vault(library: Cast) -> None:
    write_markdown(library.foreign_vault, "x.md", f"The word {CANARY} again.")
    result = search(library.owner, CANARY[:-1] + "z", Mode.HYBRID)
    assert CANARY not in str(result)


def test_an_outsider_finds_nothing_of_the_team(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    embed(library.foreign_vault, model)
    for mode in Mode:
        for query in ("blue pump", "Pumps", "ump", '"blue pump"'):
            assert all(
                hit.vault_slug == "foreign" for hit in search(library.outsider, query, mode).hits
            )
            assert CANARY not in str(search(library.owner, query, mode))


def test_a_search_stays_in_the_chosen_vaults(library: Cast) -> None:
    second = make_vault("second", owner=library.owner)
    write_note(second, "Pump two.md", "Another blue pump.")
    assert len(search(library.owner, "blue pump").hits) == 2
    assert paths(search(library.owner, "blue pump", slugs=["second"])) == ["Pump two.md"]
    narrowed = search(library.owner, "blue pump", slugs=["foreign"])
    assert narrowed.hits == ()
    assert "filters" in narrowed.notices[0]


def test_nothing_asked_or_nothing_to_read_costs_no_query(library: Cast) -> None:
    scope, nobody = scope_for(library.owner), scope_for(AnonymousUser())
    with CaptureQueriesContext(connection) as captured:
        for query, where, limit in (
            ("", scope, 5),
            (" \n\t ", scope, 5),
            ("\x00", scope, 5),
            ("pump", scope, 0),
            ("pump", scope, -5),
            ("pump", nobody, 5),
        ):
            result = async_to_sync(search_notes)(query, scope=where, mode=Mode.HYBRID, limit=limit)
            assert result.hits == ()
            assert result.notices
    assert len(captured) == 0


def test_a_limit_beyond_reason_is_capped(cast: Cast) -> None:
    for number in range(MOST_RESULTS + 5):
        write_note(cast.vault, f"{number}.md", "The same pump.")
    assert len(search(cast.owner, "pump", limit=100_000).hits) == MOST_RESULTS
    assert len(search(cast.owner, "pump", limit=3).hits) == 3


def test_a_search_takes_a_fixed_number_of_queries(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    second = make_vault("second", owner=library.owner)
    for number in range(6):
        write_note(second, f"{number}.md", "The pump and the payroll of the garden.")
    embed(second, model)
    scope = scope_for(library.owner)
    with CaptureQueriesContext(connection) as captured:
        async_to_sync(search_notes)("pump payroll garden", scope=scope, mode=Mode.HYBRID, limit=9)
    statements = [q["sql"] for q in captured if "SAVEPOINT" not in q["sql"]]
    # settings, vaults, facts, the transaction's settings, the search, notes, chunks
    assert len(statements) == 7
    assert sum(sql.startswith("WITH") for sql in statements) == 1


def test_without_an_embedding_model_keywords_answer_and_the_reason_is_said(library: Cast) -> None:
    result = search(library.owner, "blue pump")
    assert paths(result) == ["Pumps.md"]
    assert arm(result, "meaning").ran is False
    assert "no embedding model" in result.notices[0]


def test_a_vault_without_vectors_yet_is_named(library: Cast, model: EmbeddingModel) -> None:
    library.vault.embedding_model = model
    library.vault.save()
    result = search(library.owner, "blue pump")
    assert paths(result) == ["Pumps.md"]
    assert "no vectors yet" in result.notices[0]


def test_a_vault_that_is_being_embedded_says_so(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    ChunkVector.objects.filter(chunk__note__path="Payroll.md").delete()
    result = search(library.owner, "blue pump")
    assert arm(result, "meaning").ran is True
    assert "Some of Team has no vectors yet" in result.notices[0]


def test_vectors_from_before_the_model_was_changed_count_as_missing(
    library: Cast, model: EmbeddingModel
) -> None:
    embed(library.vault, model)
    EmbeddingModel.objects.filter(pk=model.pk).update(revision="next")
    result = search(library.owner, "pump")
    assert not arm(result, "meaning").ran
    assert "Team has no vectors yet" in arm(result, "meaning").reason
    assert "Pumps.md" in paths(result)


def test_an_embedder_that_fails_leaves_keywords_with_the_reason(
    library: Cast, model: EmbeddingModel
) -> None:
    embed(library.vault, model)
    model.provider.enabled = False
    model.provider.save()
    result = search(library.owner, "blue pump")
    assert paths(result) == ["Pumps.md"]
    assert arm(result, "meaning").ran is False
    assert "switched off" in result.notices[0]


def test_meaning_answers_where_no_word_matches(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    result = search(library.owner, "Zwetschgenknödel")
    assert arm(result, "keyword").found == 0
    assert arm(result, "meaning").found == 4


def test_without_halfvec_vectors_are_compared_in_memory(
    library: Cast, model: EmbeddingModel
) -> None:
    embed(library.vault, model)
    with_halfvec = search(library.owner, "blue pump in the garden", Mode.SEMANTIC)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(
            "ALTER TABLE vault_chunkvector ALTER COLUMN vector TYPE real[] USING vector::real[]"
        )
    without = search(library.owner, "blue pump in the garden", Mode.SEMANTIC)
    assert arm(without, "meaning").path == "exact in memory"
    assert paths(without) == paths(with_halfvec)
    assert [hit.score for hit in without.hits] == pytest.approx(
        [hit.score for hit in with_halfvec.hits], abs=0.01
    )
    assert search(library.owner, "pump", Mode.SEMANTIC).hits
    Chunk.objects.filter(note__path="Pumps.md").update(embed_hash="rewritten")
    assert "Pumps.md" not in paths(search(library.owner, "blue pump", Mode.SEMANTIC))


def test_vectors_of_another_length_do_not_break_the_search(
    library: Cast, model: EmbeddingModel
) -> None:
    embed(library.vault, model)
    EmbeddingModel.objects.filter(pk=model.pk).update(dimensions=32)
    model.refresh_from_db()
    ChunkVector.objects.update(fingerprint=fingerprint(model))
    result = search(library.owner, "blue pump")
    assert paths(result) == ["Pumps.md"]
    assert arm(result, "meaning").path == "exact in memory"


def test_without_trigrams_only_typos_are_lost(library: Cast) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
    assert paths(search(library.owner, "blue pump")) == ["Pumps.md"]
    assert search(library.owner, "paryoll").hits == ()


def test_the_vector_of_a_rewritten_text_is_not_used(library: Cast, model: EmbeddingModel) -> None:
    embed(library.vault, model)
    assert "Pumps.md" in paths(search(library.owner, "pump", Mode.SEMANTIC))
    Chunk.objects.filter(note__path="Pumps.md").update(embed_hash="rewritten")
    assert "Pumps.md" not in paths(search(library.owner, "pump", Mode.SEMANTIC))


def test_vaults_with_two_models_are_searched_together(library: Cast, model: EmbeddingModel) -> None:
    second = make_vault("second", owner=library.owner)
    write_note(second, "Other.md", "A blue pump of another make.")
    embed(library.vault, model)
    embed(second, make_embedding_model("longer", dimensions=96))
    result = search(library.owner, "blue pump", Mode.SEMANTIC)
    assert {"Pumps.md", "Other.md"} <= set(paths(result)[:2])
    assert arm(result, "meaning").found == 5


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


QUERIES = st.text(st.characters(codec=None), max_size=60) | st.text(
    alphabet="\"'-&|!():*<>\\%_#@/.,\x00\ud800 abя中ก́", max_size=60
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=QUERIES, mode=st.sampled_from(Mode))
def test_any_string_is_a_safe_query(library: Cast, query: str, mode: Mode) -> None:
    if library.vault.embedding_model is None:
        embed(library.vault, make_embedding_model())
    result = search(library.owner, query, mode)
    assert all(hit.vault_slug == "team" for hit in result.hits)
    assert CANARY not in str(result.hits)


@pytest.mark.parametrize(
    "query", ["word " * 200_000, "-" * 33, "a-" * 400, '"' * 999, "(" * 1000, "x" * 1_000_000]
)
def test_long_and_deep_queries_are_cut_and_answered(library: Cast, query: str) -> None:
    assert search(library.owner, query).timings["total"] < 5_000


def test_the_words_of_other_vaults_change_neither_order_nor_score_nor_spelling(
    cast: Cast,
) -> None:
    for number in range(6):
        write_note(cast.vault, f"{number}.md", f"The quenching of machine {number}.")
    write_note(cast.vault, "common.md", "The common machine.")
    refresh_lexemes(force=True)
    before = search(cast.owner, "common quenching zelmirra", Mode.KEYWORD)
    other = make_vault("other", owner=cast.outsider)
    for number in range(40):
        write_note(other, f"{number}.md", "A common zelmira of the common kind.")
    refresh_lexemes(force=True)
    after = search(cast.owner, "common quenching zelmirra", Mode.KEYWORD)
    assert [(hit.path, hit.score) for hit in after.hits] == [
        (hit.path, hit.score) for hit in before.hits
    ]
    assert arm(after, "keyword").reason == arm(before, "keyword").reason == ""
    assert "zelmirra → zelmira" in arm(search(cast.outsider, "zelmirra"), "keyword").reason


def test_a_note_that_was_replaced_comes_after_the_one_that_replaced_it(cast: Cast) -> None:
    text = "Thirty days of leave for the zelmira team."
    for path, properties in (
        ("a old.md", {"superseded_by": "[[d new]]"}),
        ("b status.md", {"status": "Deprecated"}),
        ("c past.md", {"valid_until": "2020-01-01"}),
        ("d new.md", {"status": "current", "valid_until": "2999-01-01"}),
    ):
        write_note(cast.vault, path, text, title=path, properties=properties)
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


@pytest.mark.parametrize("query", ["5 March 2024", "March 5, 2024", "5.3.2024", "5 марта 2024"])
def test_a_day_finds_the_note_that_is_named_after_it(cast: Cast, query: str) -> None:
    write_note(cast.vault, "daily/2024-03-05.md", "We talked about the roof.")
    write_note(cast.vault, "other.md", "March is the month of the 5 roofs in 2024.")
    result = search(cast.owner, query)
    assert (result.hits[0].path, result.hits[0].arms[0]) == ("daily/2024-03-05.md", "title")


def test_a_folder_that_is_closed_lends_no_word_to_a_typo_and_no_weight_to_a_word(
    cast: Cast,
) -> None:
    write_markdown(cast.vault, "open/a.md", "The quenching of the common machine.")
    write_markdown(cast.vault, "open/b.md", "The common machine.")
    for number in range(8):
        write_markdown(cast.vault, f"closed/{number}.md", "A common zelmira of the closed kind.")
    refresh_lexemes(force=True)
    whole = scope_for(cast.owner)
    folders = replace(whole, rules=(FolderRule(cast.vault.pk, only=("open",)),))

    def found(query: str) -> SearchResult:
        return async_to_sync(search_notes)(query, scope=folders, mode=Mode.KEYWORD, limit=20)

    assert "→" not in arm(found("zelmirra"), "keyword").reason
    before = [(hit.path, hit.score) for hit in found("common quenching").hits]
    Note.objects.filter(path__startswith="closed/").delete()
    refresh_lexemes(force=True)
    assert [(hit.path, hit.score) for hit in found("common quenching").hits] == before


def test_a_text_in_another_language_is_level_with_a_keyword_hit_and_no_more(cast: Cast) -> None:
    """The fake embedder compares words, so the German note shares a word of code."""
    write_note(cast.vault, "en.md", "the pump warranty is two years", text_config="english")
    write_note(cast.vault, "de.md", "die pump warranty ist zwei years", text_config="german")
    write_note(cast.vault, "far.md", "something else entirely", text_config="german")
    embed(cast.vault, make_embedding_model())
    question = "how long is the warranty of the pump"
    hits = {hit.path: hit.score for hit in search(cast.owner, question).hits}
    assert hits["en.md"] >= hits["de.md"] > 0.5 * hits["en.md"]
    by_meaning = search(cast.owner, question, Mode.SEMANTIC).hits
    cosines = [hit.path for hit in by_meaning]
    assert cosines[0] == "en.md"
    assert max(hit.score for hit in by_meaning) == pytest.approx(0.5)


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
