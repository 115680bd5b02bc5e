"""What comes before what when both arms are fused: forms of words, identifiers, languages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from asgiref.sync import async_to_sync

from providers.models import EmbeddingModel
from retrieval.core.query import parse_query
from retrieval.core.types import Candidate, Knobs, Mode
from retrieval.facts import scope_facts
from retrieval.meaning import VectorArm
from retrieval.search import search_notes
from retrieval.statements import run_search
from tests.cast import Cast
from tests.retrieval.library import DIMENSIONS, make_embedding_model, write_note
from vault.access import scope_for
from vault.fields import Vector
from vault.models import Chunk, ChunkVector, Note, Vault
from vault.staleness import fingerprint

pytestmark = pytest.mark.django_db


def by_keyword(cast: Cast, query: str) -> list[str]:
    scope = scope_for(cast.owner)
    found = async_to_sync(search_notes)(query, scope=scope, mode=Mode.KEYWORD, limit=20)
    return [hit.path for hit in found.hits]


def direction(*shares: float) -> Vector:
    """A unit vector with these first parts; what is missing to one goes to a part of its own."""
    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[: len(shares)] = shares
    vector[DIMENSIONS - len(shares)] = np.sqrt(max(0.0, 1 - float(vector @ vector)))
    return vector


def give(note: Note, model: EmbeddingModel, vector: Vector) -> None:
    for chunk in Chunk.objects.filter(note=note):
        ChunkVector.objects.create(
            vault=note.vault,
            chunk=chunk,
            embedding_model=model,
            embed_hash=chunk.embed_hash,
            fingerprint=fingerprint(model),
            vector=vector,
        )


def search_both(
    cast: Cast,
    model: EmbeddingModel,
    query: str,
    vector: Vector,
    *,
    found: Sequence[tuple[int, float]] | None = None,
    depth: int = 50,
) -> list[Candidate]:
    """Both arms; with `found`, as where memory compares the vectors."""
    Vault.objects.filter(pk=cast.vault.pk).update(embedding_model=model)
    scope = scope_for(cast.owner)
    arm = VectorArm(model, scope.vault_ids, query=vector)
    if found is not None:
        arm = VectorArm(model, scope.vault_ids, found=tuple(found))
    knobs = Knobs(depth=depth)
    facts = scope_facts(scope)
    rows = run_search(parse_query(query), scope=scope, facts=facts, knobs=knobs, vectors=[arm])
    return list(rows.candidates)


def test_stop_words_of_the_question_do_not_count_in_notes_of_another_language(cast: Cast) -> None:
    write_note(cast.vault, "pump.md", "A pump has a filter.", "Oil comes with it.")
    write_note(cast.vault, "valve.md", "A valve has a spring.", "Filters come in boxes.")
    write_note(
        cast.vault, "song.md", "What does the what its do, what does its the", text_config="german"
    )
    assert by_keyword(cast, "what does the filter of the pump do")[0] == "pump.md"
    assert "song.md" not in by_keyword(cast, "what does the filter of the pump do")


def test_a_question_of_stop_words_alone_is_still_looked_for(cast: Cast) -> None:
    write_note(cast.vault, "band.md", "The Who played in Leeds.", text_config="simple")
    assert by_keyword(cast, "the who") == ["band.md"]


def test_a_plain_word_inside_identifiers_is_no_rarer_than_the_word(cast: Cast) -> None:
    for number in range(12):
        write_note(cast.vault, f"n{number}.md", f"Settings of the engine, page {number + 100}.")
    write_note(cast.vault, "names.md", "Here is `default_setting_name` and no more.")
    write_note(cast.vault, "timeout.md", "The setting for the timeout of a call.")
    assert by_keyword(cast, "which setting has the timeout")[0] == "timeout.md"


def test_a_word_in_a_heading_counts_more_than_one_in_the_text(cast: Cast) -> None:
    write_note(cast.vault, "a.md", "Backups and their schedule, a long list.", title="Servers")
    write_note(cast.vault, "b.md", "They run at night and take long on days.", title="Backups")
    assert by_keyword(cast, "backups long")[0] == "b.md"


def test_a_rare_identifier_decides_before_what_is_merely_near(cast: Cast) -> None:
    model = make_embedding_model()
    asked = direction(1.0)
    for number in range(4):
        near = write_note(
            cast.vault, f"other{number}.md", f"Invoice INV/2026/0004{number} is open."
        )
        give(near, model, direction(0.9 - number / 100))
    meant = write_note(cast.vault, "meant.md", "Invoice INV/2026/00037 was paid.")
    give(meant, model, direction(0.5))
    found = search_both(cast, model, "was INV/2026/00037 paid", asked)
    assert found[0].note_id == meant.pk


def test_what_holds_the_number_asked_for_comes_before_what_speaks_of_its_like(cast: Cast) -> None:
    """Although the others are nearer."""
    model = make_embedding_model()
    for number in range(3):
        other = write_note(cast.vault, f"other{number}.md", f"Of ticket and release {number}.")
        give(other, model, direction(0.9 - number / 100))
    meant = write_note(cast.vault, "meant.md", "Number 35809: a crash of long pages of text.")
    give(meant, model, direction(0.45))
    found = search_both(cast, model, "the release of #35809", direction(1.0))
    assert found[0].note_id == meant.pk


@pytest.mark.parametrize(
    ("asked", "heading"),
    [
        ("ADMINS", "Settings > ADMINS"),
        ("remove", "Sets: remove(*names)"),
        ("what does the QuerySet class do", "class QuerySet"),
        ("--dry-run", "Options > `--dry-run`"),
        ("weekly report", "Work: Weekly report"),
    ],
)
def test_the_section_of_the_name_asked_for_comes_first(
    cast: Cast, asked: str, heading: str
) -> None:
    """Before those that hold its words more often, and before its name in another case."""
    model = make_embedding_model()
    words = " ".join(heading.split()[-1:])
    for number in range(4):
        often = write_note(
            cast.vault, f"often{number}.md", f"{asked} {words} {asked} {words} and {number}."
        )
        give(often, model, direction(0.9 - number / 100))
    other_case = write_note(
        cast.vault, "case.md", f"What is said of {asked}.", title=heading.swapcase()
    )
    meant = write_note(cast.vault, "meant.md", f"What is said of {asked}.", title=heading)
    give(other_case, model, direction(0.5))
    give(meant, model, direction(0.5))
    found = search_both(cast, model, asked, direction(1.0))
    assert found[0].note_id == meant.pk


def test_a_section_is_not_meant_whose_heading_says_more_than_the_name(cast: Cast) -> None:
    model = make_embedding_model()
    nearer = write_note(cast.vault, "nearer.md", "ADMINS are told.", title="Sending")
    longer = write_note(cast.vault, "longer.md", "ADMINS are told.", title="Why ADMINS is a list")
    give(nearer, model, direction(0.9))
    give(longer, model, direction(0.2))
    found = {c.note_id: c for c in search_both(cast, model, "ADMINS", direction(1.0))}
    assert found[longer.pk].score <= 1


def test_a_hit_without_a_vector_yet_comes_before_what_is_near_in_another_language(
    cast: Cast,
) -> None:
    model = make_embedding_model()
    duty = write_note(
        cast.vault,
        "duty.md",
        "Дежурный инженер отвечает на вызов и смотрит за насосом.",
        text_config="russian",
    )
    filler = write_note(
        cast.vault, "filler.md", "Инженер ушёл домой вечером.", text_config="russian"
    )
    for number in range(4):
        near = write_note(
            cast.vault, f"n{number}.md", f"An engineer, page {number}.", text_config="english"
        )
        give(near, model, direction(0.6 - number / 100))
    asked = "что делает дежурный инженер ночью с вызовом"
    assert search_both(cast, model, asked, direction(1.0))[0].note_id == duty.pk
    give(duty, model, direction(0.1))
    give(filler, model, direction(0.1))
    assert search_both(cast, model, asked, direction(1.0))[0].note_id != duty.pk


def test_a_name_without_text_that_meaning_alone_found_stands_behind_texts(cast: Cast) -> None:
    model = make_embedding_model()
    picture = write_note(cast.vault, "resizer.png", "", title="resizer.png")
    text = write_note(cast.vault, "text.md", "How a backup is brought back.", title="Return")
    give(picture, model, direction(0.6))
    give(text, model, direction(0.5))
    for number in range(4):
        other = write_note(cast.vault, f"n{number}.md", f"Page {number}.", title=f"t{number}k")
        give(other, model, direction(0.2))
    found = search_both(cast, model, "restoration", direction(1.0))
    assert [candidate.note_id for candidate in found[:2]] == [text.pk, picture.pk]
    by_name = search_both(cast, model, "resizer", direction(1.0))
    assert by_name[0].note_id == picture.pk


def test_a_keyword_hit_that_is_fairly_near_counts_as_such(cast: Cast) -> None:
    """Of the vectors only the nearest two are listed: the other hits are measured."""
    model = make_embedding_model()
    notes = {
        name: write_note(cast.vault, f"{name}.md", text)
        for name, text in (
            ("one", "Nothing of the words."),
            ("two", "Something else again."),
            ("fair", "The copper kettle leaks."),
            ("odd", "A kettle of copper it is."),
        )
    }
    for name, near in (("one", 0.8), ("two", 0.78), ("fair", 0.7), ("odd", 0.1)):
        give(notes[name], model, direction(near))
    asked = direction(1.0)
    near_enough = search_both(cast, model, "copper kettle", asked, depth=2)
    by_note = {candidate.note_id: candidate for candidate in near_enough}
    fair, odd = by_note[notes["fair"].pk], by_note[notes["odd"].pk]
    assert fair.vector_rank is None and odd.vector_rank is None
    assert fair.cosine == pytest.approx(0.7, abs=0.01)
    assert fair.score > odd.score
    chunk_of = dict(Chunk.objects.values_list("note_id", "pk"))
    listed = [
        (chunk_of[notes[name].pk], near)
        for name, near in (("one", 0.8), ("two", 0.78), ("fair", 0.7), ("odd", 0.1))
    ]
    in_memory = search_both(cast, model, "copper kettle", asked, found=listed, depth=2)
    assert [c.note_id for c in in_memory] == [c.note_id for c in near_enough]
    assert [c.score for c in in_memory] == pytest.approx([c.score for c in near_enough], abs=0.01)


def test_a_translation_of_the_best_passage_comes_before_what_is_as_near(cast: Cast) -> None:
    model = make_embedding_model()
    best = write_note(cast.vault, "best.md", "The warranty of the pump is two years.")
    give(best, model, direction(0.8, 0.6))
    german = [
        write_note(cast.vault, f"de{number}.md", text, text_config="german")
        for number, text in enumerate(("Die Garantie dauert zwei Jahre.", "Ein Lied vom Wind."))
    ]
    give(german[0], model, direction(0.4, 0.8))
    give(german[1], model, direction(0.42, -0.2))
    asked = direction(1.0)
    ranked = search_both(cast, model, "How long is the warranty of the pump?", asked)
    assert [c.note_id for c in ranked] == [best.pk, german[0].pk, german[1].pk]
    assert ranked[1].cosine == pytest.approx(0.4, abs=0.01)


def test_among_notes_of_one_language_the_question_alone_decides(cast: Cast) -> None:
    model = make_embedding_model()
    best = write_note(cast.vault, "best.md", "The warranty of the pump is two years.")
    give(best, model, direction(0.8, 0.6))
    others = [
        write_note(cast.vault, f"en{number}.md", text)
        for number, text in enumerate(("It lasts two winters.", "A song of wind."))
    ]
    give(others[0], model, direction(0.4, 0.8))
    give(others[1], model, direction(0.42, -0.2))
    ranked = search_both(cast, model, "How long is the guarantee?", direction(1.0))
    assert [c.note_id for c in ranked] == [best.pk, others[1].pk, others[0].pk]
