"""Cases from the field that are about what is stored after the second sync."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vault.embedder import Scripted, embed, make_model
from tests.vault.folders import Folder, make_folder
from vault.models import Chunk, ChunkVector

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = make_folder(tmp_path / "notes", embedding_model=make_model())
    made.write("Gone.md", "# Gone\n\nThe secret plan selmane.")
    made.write("Old folder/Plan.md", "# Plan\n\nThe first idea was quelmane.")
    made.write("Old folder/Keep.md", "# Keep\n\nThis stays: rolmane.")
    made.sync()
    return made


@pytest.mark.parametrize("is_embedded_between", [True, False])
def test_46_deleted_renamed_and_edited_notes_do_not_linger(
    folder: Folder, *, is_embedded_between: bool
) -> None:
    backend = Scripted()
    if is_embedded_between:
        embed(folder, backend)
    keep = folder.note("Old folder/Keep.md").pk
    backend.calls.clear()
    folder.delete("Gone.md")
    folder.move("Old folder", "New folder")
    folder.write("New folder/Plan.md", "# Plan\n\nThe first idea was tulmane.")
    folder.sync()
    assert folder.found("selmane") == []
    assert folder.found("quelmane") == []
    assert folder.found("tulmane") == ["New folder/Plan.md"]
    assert folder.found("rolmane") == ["New folder/Keep.md"]
    assert folder.note("New folder/Keep.md").pk == keep
    assert not Chunk.objects.filter(content__contains="selmane").exists()
    embed(folder, backend)
    sent = [text for call in backend.calls for text in call]
    assert len(sent) == (1 if is_embedded_between else 2)
    assert ChunkVector.objects.filter(vault=folder.vault).count() == 2
    assert folder.sync().counts["changes"] == 0
