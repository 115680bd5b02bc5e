"""What is embedded again when notes, headings or the model change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from providers.core.errors import BadRequest
from providers.core.protocols import Vectors
from providers.models import EmbeddingModel
from tests.vault.embedder import Scripted, embed, fill, make_model
from tests.vault.folders import Folder
from vault.embedding import embed_pending
from vault.models import Chunk, ChunkVector, Note, NoteVector, Vault
from vault.refusals import mark_failed
from vault.staleness import pending_chunks

pytestmark = pytest.mark.django_db


def test_an_edit_embeds_one_chunk_and_a_move_none(folder: Folder, backend: Scripted) -> None:
    text = "# T\n\n" + "\n\n".join(f"## H{n}\n\n" + f"Words of part {n}. " * 60 for n in range(4))
    folder.write("a.md", text)
    folder.sync()
    embed(folder, backend)
    before = backend.sent
    folder.write("a.md", text.replace("part 2", "piece 2"))
    folder.sync()
    embed(folder, backend)
    assert backend.sent == before + 1
    folder.move("a.md", "sub/a.md")
    folder.sync()
    embed(folder, backend)
    assert backend.sent == before + 1


def test_a_note_that_changes_or_goes_while_it_is_embedded_gets_no_wrong_vector(
    folder: Folder, backend: Scripted
) -> None:
    fill(folder, 3)

    def meanwhile(texts: Sequence[str], vectors: Vectors) -> Vectors:
        backend.fault = lambda texts, vectors: vectors
        edits.append(True)
        return vectors

    edits: list[bool] = []
    backend.fault = meanwhile

    def edit(chunk_ids: list[int]) -> None:
        if not edits:
            folder.write("000.md", "# Note 0\n\nAnother text.")
            folder.delete("001.md")
            folder.sync()

    embed(folder, backend, on_batch=edit)
    assert not Note.objects.filter(path="001.md").exists()
    current = ChunkVector.objects.values_list("embed_hash", flat=True)
    assert sorted(current) == sorted(Chunk.objects.values_list("embed_hash", flat=True))
    assert backend.sent == 4, "the text that was rewritten meanwhile is sent once more"


class TestChangeOfModel:
    """Vectors of two models live side by side; vectors of two makes never under one."""

    def embed_with(self, folder: Folder, backends: dict[str, Scripted], **options: Any) -> None:
        options.setdefault("most_seconds", 60)
        embed_pending(folder.vault.pk, backend_of=lambda model: backends[model.name], **options)
        folder.vault.refresh_from_db()

    def test_what_the_old_model_refused_is_tried_with_the_new_one(self, folder: Folder) -> None:
        fill(folder, 1)
        old, new = folder.vault.embedding_model, make_model("two")
        assert old is not None
        mark_failed([Chunk.objects.get().pk], old, "too long for the old one")
        Vault.objects.filter(pk=folder.vault.pk).update(next_embedding_model=new)
        self.embed_with(folder, {"one": Scripted(), "two": Scripted()})
        assert ChunkVector.objects.get().embedding_model == new

    def test_another_prefix_makes_every_vector_stale(
        self, folder: Folder, model: EmbeddingModel
    ) -> None:
        fill(folder, 3)
        backends = {"one": Scripted()}
        self.embed_with(folder, backends)
        model.passage_prefix = "passage: "
        model.save()
        assert pending_chunks(folder.vault.pk, model).count() == 3
        self.embed_with(folder, backends)
        assert backends["one"].sent == 6
        assert ChunkVector.objects.count() == NoteVector.objects.count() == 3

    def test_another_length_under_the_same_row_leaves_no_vector_of_the_old_one(
        self, folder: Folder, model: EmbeddingModel
    ) -> None:
        """Not of a passage that is refused now, either."""

        def refuse_one(texts: Sequence[str], vectors: Vectors) -> Vectors:
            if any("subject1." in text for text in texts):
                raise BadRequest("This text is not to my taste.")
            return vectors

        fill(folder, 3)
        self.embed_with(folder, {"one": Scripted()})
        model.dimensions = 32
        model.save()
        backend = Scripted(32)
        backend.fault = refuse_one
        self.embed_with(folder, {"one": backend})
        for table in (ChunkVector, NoteVector):
            vectors = table._default_manager.values_list("vector", flat=True)
            assert [len(vector) for vector in vectors] == [32, 32], table


def test_a_note_that_embeds_a_block_is_sent_with_it_and_again_when_the_block_changes(
    folder: Folder, backend: Scripted
) -> None:
    folder.write("pump.md", "quorvex ^b1")
    folder.write("a.md", "Own.\n\n![[pump#^b1]]")
    folder.sync()
    embed(folder, backend)
    assert "a\n\nOwn.\n\n![[pump#^b1]]\n\nquorvex" in backend.calls[0]
    folder.write("pump.md", "zelmira ^b1")
    folder.sync()
    embed(folder, backend)
    assert "a\n\nOwn.\n\n![[pump#^b1]]\n\nzelmira" in backend.calls[-1]


def long_note(sections: int = 10, paragraphs: int = 5) -> str:
    """A note of about fifty chunks: in each section, paragraphs of one chunk each."""
    parts = ["# Long"]
    for section in range(sections):
        parts.append(f"## Section {section}")
        for number in range(paragraphs):
            words = " ".join(f"w{section}x{number}x{word}" for word in range(60))
            parts.append(f"Paragraph {section}.{number} begins. {words}.")
    return "\n\n".join(parts)


def test_an_edited_paragraph_of_a_long_note_embeds_one_chunk_or_two(
    folder: Folder, backend: Scripted
) -> None:
    text = long_note()
    folder.write("long.md", text)
    folder.sync()
    embed(folder, backend)
    chunks = Chunk.objects.count()
    assert backend.sent == chunks
    assert chunks >= 50
    folder.write("long.md", text.replace("Paragraph 4.2 begins", "Paragraph 4.2 ends"))
    folder.sync()
    embed(folder, backend)
    assert 1 <= backend.sent - chunks <= 2
    assert Chunk.objects.count() == chunks


def test_another_heading_embeds_its_section_alone(folder: Folder, backend: Scripted) -> None:
    text = long_note()
    folder.write("long.md", text)
    folder.sync()
    embed(folder, backend)
    before = backend.sent
    folder.write("long.md", text.replace("## Section 4", "## Renamed"))
    folder.sync()
    embed(folder, backend)
    sent = [chunk for call in backend.calls for chunk in call][before:]
    assert sent
    assert all(chunk.startswith("Long > Renamed\n") for chunk in sent)
    renamed = Chunk.objects.filter(heading_path__contains=["Renamed"]).count()
    assert len(sent) == renamed < before


def test_another_model_embeds_everything(folder: Folder, backend: Scripted) -> None:
    folder.write("long.md", long_note())
    folder.sync()
    embed(folder, backend)
    before = backend.sent
    Vault.objects.filter(pk=folder.vault.pk).update(embedding_model=make_model("two"))
    embed(folder, backend)
    assert backend.sent == before * 2
