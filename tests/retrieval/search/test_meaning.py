"""Search by meaning: where vectors are missing, stale, foreign or of another make."""

from __future__ import annotations

import pytest
from django.db import connection

from providers.models import EmbeddingModel
from retrieval.core.types import Mode
from retrieval.facts import ScopeFacts, VaultFacts
from tests.cast import Cast, make_vault
from tests.retrieval.library import embed, make_embedding_model, write_note
from tests.retrieval.search.asking import arm, paths, search
from vault.models import Chunk, ChunkVector
from vault.staleness import fingerprint

pytestmark = pytest.mark.django_db


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


def test_vaults_of_one_lack_are_told_in_one_sentence() -> None:
    def facts(name: str, *, chunks: int = 9, vectors: int = 0) -> VaultFacts:
        return VaultFacts(1, name, name, EmbeddingModel(), chunks, vectors, None)

    vaults = (facts("Team"), facts("Wiki", vectors=3), facts("Old", vectors=9), facts("Docs"))
    scope = ScopeFacts(
        vaults=(*vaults, facts("New", chunks=0)),
        text_configs=("english",),
        has_halfvec=True,
        has_trigrams=True,
        is_small=True,
    )
    assert scope.gaps() == (
        "New holds no searchable text yet.",
        "Team and Docs have no vectors yet: they are searched by keyword only.",
        "Some of Wiki has no vectors yet: that is found by keyword only.",
    )


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


def test_source_code_is_english_whatever_language_its_words_look_like(cast: Cast) -> None:
    write_note(cast.vault, "en.md", "the pump warranty is two years", text_config="english")
    write_note(cast.vault, "far.md", "something else entirely", text_config="english")
    # Only small words that keywords leave out: near in meaning alone.
    write_note(cast.vault, "pump.py", "how is the of the how is the", text_config="danish")
    embed(cast.vault, make_embedding_model())
    chunks = Chunk.objects.filter(note__path="pump.py")

    def scores(question: str) -> list[float]:
        found = []
        for is_code in (False, True):
            chunks.update(is_code=is_code)
            hits = search(cast.owner, question).hits
            found.append(next(hit.score for hit in hits if hit.path == "pump.py"))
        return found

    as_danish, as_code = scores("how long is the warranty of the pump")
    assert as_code < as_danish
    as_danish, as_code = scores("wie lang ist die pump warranty für mich")
    assert as_code == pytest.approx(as_danish)
