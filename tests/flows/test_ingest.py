"""The ingest flow from end to end: folder, notes, chunks, vectors, and every change to them."""

from __future__ import annotations

from pathlib import Path

import pytest

from providers.models import EmbeddingModel, Provider, UsageRecord
from tests.vault.folders import Folder, make_folder
from vault.models import Chunk, ChunkVector, Job, Note
from vault.status import vault_status
from vault.tasks import request_sync, run_job

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    provider = Provider.objects.create(slug="fake", name="Fake", kind="fake", needs_key=False)
    model = EmbeddingModel.objects.create(provider=provider, name="hash", dimensions=64)
    return make_folder(tmp_path / "notes", embedding_model=model)


def ingest(folder: Folder) -> None:
    """As the worker does it: a sync, and every job that follows from it."""
    request_sync(folder.vault.pk)
    for _job in range(20):
        Job.objects.filter(state=Job.State.QUEUED).update(run_after=None)
        due = Job.objects.due().order_by("pk").first()
        if due is None:
            return
        run_job(due.pk)
    raise AssertionError("the jobs never end")


def embedding_calls() -> int:
    return UsageRecord.objects.filter(purpose="embed_passages").count()


def test_deleted_renamed_and_edited_notes_do_not_linger(folder: Folder) -> None:
    folder.write("Gone.md", "# Gone\n\nOf selmane.")
    folder.write("Old folder/Plan.md", "# Plan\n\nOf quelmane.")
    folder.write("Old folder/Keep.md", "# Keep\n\nOf rolmane, see [[Plan]].")
    for number in range(12):
        folder.write(f"Filler/{number}.md", f"# Filler {number}\n\nNothing of note {number}.")
    ingest(folder)
    calls = embedding_calls()
    plan = folder.note("Old folder/Plan.md").pk
    folder.delete("Gone.md")
    (folder.root / "Old folder").rename(folder.root / "New folder")
    folder.write("New folder/Plan.md", "# Plan\n\nOf tulmane.")
    ingest(folder)
    assert folder.found("selmane") == folder.found("quelmane") == []
    assert folder.found("tulmane") == ["New folder/Plan.md"]
    assert folder.found("rolmane") == ["New folder/Keep.md"]
    assert embedding_calls() == calls + 1, "for the one text that is new"
    keep = folder.note("New folder/Keep.md")
    assert [link.target for link in keep.links.all()] == [folder.note("New folder/Plan.md")]
    assert not Note.objects.filter(pk=plan, path__startswith="Old").exists()
    assert ChunkVector.objects.count() == Chunk.objects.count() == 14
    runs = folder.vault.sync_runs.count()
    ingest(folder)
    assert embedding_calls() == calls + 1
    latest = folder.vault.sync_runs.first()
    assert latest is not None
    assert latest.counts["changes"] == 0
    assert folder.vault.sync_runs.count() == runs + 1


def test_doubtful_files_never_keep_the_good_ones_out(folder: Folder) -> None:
    folder.write("nul.md", b"# Nul\n\nBefore tulvane\x00\x00 after ulstrom.\n")
    folder.write("latin.md", "# Café\n\nRésumé vandrel.\n".encode("latin-1"))
    folder.write("wide.md", "# Wide\n\nText wimbrel.\n".encode("utf-16"))
    folder.write("binary.md", bytes(range(256)) * 40)
    folder.write("surrogate.md", b"# Broken\n\nHalf \xed\xa0\xbd pair xolvane.\n")
    folder.write("yaml.md", "---\ntitle: {{ title }}\n---\nOf quendrel.")
    folder.write("empty.md", "")
    folder.write("good.md", "# Good\n\nFine yarvint.")
    ingest(folder)
    for word, path in {
        "tulvane": "nul.md",
        "ulstrom": "nul.md",
        "vandrel": "latin.md",
        "wimbrel": "wide.md",
        "xolvane": "surrogate.md",
        "quendrel": "yaml.md",
        "yarvint": "good.md",
    }.items():
        assert folder.found(word) == [path]
    status = vault_status(folder.vault)
    assert (status.notes, status.searchable, status.covered) == (8, 7, 7)
    doubtful = {problem.path for problem in status.problems}
    assert {"nul.md", "latin.md", "surrogate.md", "binary.md", "yaml.md"} <= doubtful
    assert "good.md" not in doubtful
    assert not Note.objects.filter(body__contains="\ufffd" * 10).exists()


def test_a_note_is_saved_while_its_vectors_are_made_and_the_newest_text_wins(
    folder: Folder,
) -> None:
    folder.write("a.md", "# A\n\nOf selmane.")
    folder.sync()
    folder.write("a.md", "# A\n\nOf tulmane.")
    ingest(folder)
    ingest(folder)
    chunk = Chunk.objects.get()
    assert "tulmane" in chunk.content
    assert ChunkVector.objects.get().embed_hash == chunk.embed_hash
