"""Copies of notes are cut from what is stored as the notes were from their files."""

from __future__ import annotations

import json

import pytest

from tests.vault.folders import Folder
from tests.vault.pdf_files import pdf
from vault.core.passage_sizes import PassageSizes
from vault.models import Chunk, Note, Vault
from vault.trial_copies import copies_left, copy_some, make_copies_vault

pytestmark = pytest.mark.django_db

LONG = "\n\n".join(f"Paragraph {n} is about subject{n} and nothing else at all." for n in range(60))
FILES: dict[str, str | bytes] = {
    "Plain.md": f"# Plain\n\nIntro.\n\n## Part\n\n{LONG}\n",
    "Header.md": f"---\ntitle: A title\naliases: [Other]\ntags: [a/b]\n---\n\nText.\n\n{LONG}",
    "Rule.md": "---\n\nA rule at its top, no header.\n",
    "Only header.md": "---\nstatus: done\n---\n",
    "Embeds.md": "Shows ![[Plain#Part]] and ![[plan.png|The plan of the house]].\n",
    "Table.md": "| a | b |\n|---|---|\n" + "\n".join(f"| row {n} | word{n} |" for n in range(200)),
    "code.py": "def one():\n    return 1\n\n\nclass Two:\n    def three(self):\n        return 3\n",
    "broken.py": "def (:\n",
    "Board.canvas": json.dumps(
        {"nodes": [{"id": "1", "type": "text", "text": "# Card\n\nWords."}]}
    ),
    "plan.png": b"\x89PNG\r\n",
    "Paper.pdf": pdf([["First page of the paper."], ["Second page."]], title="The paper"),
}


def chunks_of(vault: Vault) -> list[tuple[object, ...]]:
    rows = Chunk.objects.filter(vault=vault).order_by("note__path", "ordinal")
    return list(
        rows.values_list("note__path", "heading_path", "content", "embedded_text", "embed_hash")
    )


def copy_all(copies: Vault, original: Vault) -> None:
    ids = list(Note.objects.filter(vault=original).values_list("pk", flat=True))
    while copy_some(copies, ids):
        pass


def test_every_kind_of_note_is_cut_as_its_file_was(folder: Folder) -> None:
    for path, text in FILES.items():
        folder.write(path, text)
    folder.sync()
    copies = make_copies_vault(folder.vault, folder.vault.passage_sizes)
    copy_all(copies, folder.vault)
    assert {row[0] for row in chunks_of(folder.vault)} >= FILES.keys() - {"broken.py"}
    assert chunks_of(copies) == chunks_of(folder.vault)


def test_other_sizes_cut_otherwise_and_leave_the_vault_as_it_is(folder: Folder) -> None:
    folder.write("Plain.md", FILES["Plain.md"])
    folder.sync()
    before = chunks_of(folder.vault)
    copies = make_copies_vault(folder.vault, PassageSizes(60, 0, 0))
    copy_all(copies, folder.vault)
    assert len(chunks_of(copies)) > 2 * len(before)
    assert chunks_of(folder.vault) == before
    assert list(copies_left()) == [copies.pk], "no trial needs it"


def test_a_note_that_cannot_be_read_again_is_left_out_and_stops_nothing(folder: Folder) -> None:
    folder.write("Plain.md", FILES["Plain.md"])
    folder.write("Good.md", "Good.\n")
    folder.sync()
    Note.objects.filter(path="Plain.md").update(kind="unheard-of")
    copies = make_copies_vault(folder.vault, PassageSizes(60, 0, 0))
    copy_all(copies, folder.vault)
    assert {row[0] for row in chunks_of(copies)} == {"Good.md"}
