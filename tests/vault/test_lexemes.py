"""Word counts: known at once, exact after a refresh, gone with the last chunk."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from tests.vault.folders import Folder, make_folder
from vault import lexemes
from vault.lexemes import refresh_lexemes
from vault.models import Chunk, Lexeme, LexemeFrequency, LexicalCorpus

pytestmark = pytest.mark.django_db


def counts(config: str) -> dict[str, int]:
    rows = LexemeFrequency.objects.filter(text_config=config)
    return dict(rows.values_list("lexeme", "chunks"))


def refreshed(**options: bool) -> list[str]:
    return [config for _vault_id, config in refresh_lexemes(**options)]


def english(word: str) -> str:
    return f"# {word.title()}\n\nThe {word} is described here in plain English words."


def test_a_word_is_known_from_the_moment_its_note_is(folder: Folder) -> None:
    folder.write("a.md", english("quorvex"))
    folder.sync()
    assert counts("english")["quorvex"] == 1
    assert LexicalCorpus.objects.filter(text_config="english").exists()


def test_a_refresh_counts_chunks_and_forgets_words_that_are_gone(folder: Folder) -> None:
    for name in ("a", "b", "c"):
        folder.write(f"{name}.md", english(f"quorvex {name}number"))
    folder.sync()
    folder.delete("c.md")
    folder.sync()
    assert "cnumber" in counts("english")
    assert refreshed() == ["english"]
    assert counts("english")["quorvex"] == 2
    assert "cnumber" not in counts("english")


def test_the_average_length_is_that_of_the_stored_vectors(folder: Folder) -> None:
    for name in ("a", "b"):
        folder.write(f"{name}.md", english(name * 5))
    folder.sync()
    refresh_lexemes()
    corpus = LexicalCorpus.objects.get(text_config="english")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(cardinality(u.positions))::float / count(DISTINCT c.id) "
            "FROM vault_chunk c, unnest(c.tsv) u"
        )
        expected = cursor.fetchone()
    assert expected is not None
    assert corpus.chunks == Chunk.objects.count() == 2
    assert corpus.average_length == pytest.approx(expected[0])


def test_each_language_is_counted_by_itself(folder: Folder) -> None:
    folder.write("en.md", english("quorvex"))
    folder.write("ru.md", "# Заметка\n\nЗдесь по-русски описана одна важная вещь и ещё одна.")
    folder.sync()
    assert refreshed() == ["english", "russian"]
    assert "quorvex" not in counts("russian")


def test_a_configuration_without_chunks_is_forgotten(folder: Folder) -> None:
    folder.write("en.md", english("quorvex"))
    folder.write("ru.md", "# Заметка\n\nЗдесь по-русски описана одна важная вещь и ещё одна.")
    folder.sync()
    folder.delete("ru.md")
    folder.sync()
    refresh_lexemes()
    assert counts("russian") == {}
    assert list(LexicalCorpus.objects.values_list("text_config", flat=True)) == ["english"]


def test_a_large_corpus_is_counted_again_only_when_it_moved(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lexemes, "ALWAYS", 10)
    for number in range(60):
        folder.write(f"{number}.md", english(f"subject{number}"))
    folder.sync()
    assert refreshed() == ["english"]
    folder.write("one more.md", english("more"))
    folder.sync()
    assert refreshed() == [], "one of sixty is less than two in a hundred"
    folder.write("another.md", english("another"))
    folder.sync()
    assert refreshed() == ["english"]
    assert refreshed(force=True) == ["english"]


def test_each_vault_has_its_own_counts(folder: Folder, tmp_path: Path) -> None:
    other = make_folder(tmp_path / "other")
    for each in (folder, other):
        each.write("a.md", english("quorvex"))
        each.sync()
    other.write("b.md", english("quorvex"))
    other.sync()
    refresh_lexemes()
    found = LexemeFrequency.objects.filter(lexeme="quorvex").values_list("vault_id", "chunks")
    assert dict(found) == {folder.vault.pk: 1, other.vault.pk: 2}


def test_the_words_of_a_deleted_vault_are_forgotten(folder: Folder, tmp_path: Path) -> None:
    other = make_folder(tmp_path / "other")
    folder.write("a.md", english("quorvex"))
    other.write("a.md", english("zelmira"))
    folder.sync()
    other.sync()
    assert Lexeme.objects.filter(lexeme="zelmira").exists()
    other.vault.delete()
    refresh_lexemes()
    kept = Lexeme.objects.filter(lexeme__in=["quorvex", "zelmira"])
    assert list(kept.values_list("lexeme", flat=True)) == ["quorvex"]
