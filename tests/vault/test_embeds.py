"""What a note embeds is found through it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from tests.vault.folders import Folder, make_folder, snapshot
from vault.core.tokens import estimate_tokens
from vault.embeds import refresh_embeds
from vault.indexing import reading_options
from vault.models import LexemeFrequency, Note

pytestmark = pytest.mark.django_db


def test_an_embedded_section_is_found_through_the_embedding_note(folder: Folder) -> None:
    folder.write("pump.md", "# Pump\n\nquorvex\n\n## Drill\n\nzelmira %%tulmane%%\n\n## End\n\nx")
    folder.write("a.md", "## First\n\nWords.\n\n## Second\n\n![[pump#Drill]]\n")
    folder.sync()
    assert folder.found("zelmira") == ["a.md", "pump.md"]
    assert folder.found("quorvex") == ["pump.md"]
    assert folder.found("tulmane") == []
    first, second = folder.chunks("a.md")
    assert first.embedded_text == ""
    assert second.embedded_text == "## Drill\n\nzelmira"
    assert "zelmira" not in second.content
    assert LexemeFrequency.objects.filter(lexeme="zelmira", text_config=second.text_config).exists()


def test_the_embedding_note_follows_what_it_embeds(folder: Folder) -> None:
    folder.write("pump.md", "quorvex ^b1\n\nzelmira")
    folder.write("a.md", "![[pump#^b1]]")
    folder.sync()
    assert folder.found("quorvex") == ["a.md", "pump.md"]
    before = folder.chunks("a.md")[0].embed_hash
    folder.write("pump.md", "tulmane ^b1\n\nzelmira")
    folder.sync()
    assert folder.found("quorvex") == []
    assert folder.found("tulmane") == ["a.md", "pump.md"]
    assert folder.chunks("a.md")[0].embed_hash != before
    folder.delete("pump.md")
    folder.write("other.md", "zelmira")
    folder.sync()
    assert folder.found("tulmane") == []


def test_embeds_in_embeds_are_found_and_loops_end(folder: Folder) -> None:
    folder.write("one.md", "alpha\n\n![[two]]")
    folder.write("two.md", "beta\n\n![[three]]")
    folder.write("three.md", "gamma\n\n![[one]] ![[three]]")
    folder.sync()
    for word in ("alpha", "beta", "gamma"):
        assert folder.found(word) == ["one.md", "three.md", "two.md"]
    assert folder.chunks("one.md")[0].embedded_text.count("alpha") == 0
    folder.write("three.md", "delta")
    folder.sync()
    assert folder.found("delta") == ["one.md", "three.md", "two.md"]
    assert folder.found("gamma") == []


def test_a_second_look_changes_nothing(folder: Folder) -> None:
    folder.write("pump.md", "quorvex-77 " * 3)
    folder.write("a.md", "![[pump]] and ![[pump#Nowhere]] and ![[picture.png]]")
    folder.sync()
    before = snapshot(folder.vault)
    most_tokens = reading_options(folder.vault).limits.maximum
    assert refresh_embeds(folder.vault.pk, most_tokens=most_tokens) == []
    folder.sync(full=True)
    assert snapshot(folder.vault) == before


def test_a_note_of_another_vault_is_not_embedded(folder: Folder, tmp_path: Path) -> None:
    other = make_folder(tmp_path / "other")
    other.write("pump.md", "quorvex")
    other.sync()
    folder.write("a.md", "![[pump]]")
    folder.sync()
    assert folder.found("quorvex") == []


def test_an_embedded_block_is_part_of_what_the_vector_is_made_from(folder: Folder) -> None:
    folder.write("pump.md", "quorvex ^b1\n\nzelmira")
    folder.write("a.md", "Own words.\n\n![[pump#^b1]]")
    folder.sync()
    (chunk,) = folder.chunks("a.md")
    assert chunk.vector_text() == "a\n\nOwn words.\n\n![[pump#^b1]]\n\nquorvex"
    assert (chunk.content, chunk.start, chunk.end) == ("Own words.\n\n![[pump#^b1]]", 0, 25)
    assert not chunk.renew_vector_hash()
    folder.write("a.md", "Other words.\n\n![[pump#^b1]]")
    folder.sync()
    assert folder.chunks("a.md")[0].vector_text().endswith("quorvex")


def test_what_is_shown_never_makes_the_text_behind_a_vector_too_long(folder: Folder) -> None:
    folder.write("long.md", "Zelmira speaks of quorvex at length. " * 200)
    folder.write("a.md", "Short.\n\n![[long]]")
    folder.write("b.md", "One more word to fill it. " * 60 + "\n\n![[long]]")
    folder.sync()
    most = reading_options(folder.vault).limits.maximum
    shown = {}
    for path in ("a.md", "b.md"):
        for chunk in folder.chunks(path):
            assert estimate_tokens(chunk.vector_text()) <= most
            assert chunk.embedded_text[: chunk.embedded_shown].endswith(("", "at", "length."))
        shown[path] = max(chunk.embedded_shown for chunk in folder.chunks(path))
    assert shown["a.md"] > shown["b.md"]
    assert folder.found("quorvex") == ["a.md", "b.md", "long.md"]


def test_a_refusal_of_the_old_text_is_forgotten_with_it(folder: Folder) -> None:
    folder.write("pump.md", "quorvex")
    folder.write("a.md", "![[pump]]")
    folder.sync()
    (chunk,) = folder.chunks("a.md")
    chunk.embed_failed, chunk.embed_failed_by, chunk.embed_attempts = "too long", "x", 1
    chunk.save(update_fields=["embed_failed", "embed_failed_by", "embed_attempts"])
    folder.write("pump.md", "zelmira")
    folder.sync()
    assert folder.chunks("a.md")[0].embed_failed == ""


def test_a_context_line_that_is_written_meanwhile_is_part_of_the_hash(folder: Folder) -> None:
    folder.write("whole.md", "# Whole\n\n![[part]]")
    folder.write("part.md", "Of selmane.")
    folder.sync()
    written: list[str] = []

    def write_line(execute: Any, sql: str, *arguments: Any) -> Any:
        result = execute(sql, *arguments)
        if "embedded_text" in sql.partition(" FROM ")[0] and not written:
            written.append(sql)
            chunk = folder.chunks("whole.md")[0]
            chunk.context = "Where it stands."
            chunk.renew_vector_hash()
            chunk.save(update_fields=["context", "embed_hash"])
        return result

    note = folder.note("part.md")
    Note.objects.filter(pk=note.pk).update(body="Of tarvik.")
    with connection.execute_wrapper(write_line):
        assert refresh_embeds(folder.vault.pk, most_tokens=400)
    (chunk,) = folder.chunks("whole.md")
    assert (chunk.context, chunk.embedded_text) == ("Where it stands.", "Of tarvik.")
    assert written
    assert not chunk.renew_vector_hash()
