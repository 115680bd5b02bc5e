"""COPY against bulk_create: the same rows, the same refusals."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.forms.models import model_to_dict

from tests.cast import make_user, make_vault
from vault.copying import copy_rows
from vault.models import Chunk, Note, ScrubFinding, Vault

pytestmark = pytest.mark.django_db

WILD = 'tab\there, back\\slash, \\N, "quoted", {curly}, line\nbreak, 漢字, 🎉'


@pytest.fixture
def vault() -> Vault:
    return make_vault("copied", owner=make_user("keeper"))


def made_note(vault: Vault, path: str = "a.md", **fields: Any) -> Note:
    values: dict[str, Any] = {
        "title": WILD,
        "body": WILD,
        "properties": {"list": [1, "two", None, {"deep": [True]}], "text": WILD},
        "headings": [{"level": 1, "text": WILD}],
        "tags": ["one", WILD, ""],
        "aliases": [],
        "lookup_keys": [WILD],
        "content_hash": "0" * 64,
        "file_modified": datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC),
    }
    return Note(vault=vault, path=path, **(values | fields))


def columns(note: Note) -> dict[str, Any]:
    return model_to_dict(note) | {"id": 0, "path": ""}


def test_a_copied_row_is_the_row_that_an_insert_makes(vault: Vault) -> None:
    Note.objects.bulk_create([made_note(vault, "inserted.md")])
    copy_rows(Note, [made_note(vault, "copied.md")], with_ids=True)
    inserted, copied = Note.objects.get(path="inserted.md"), Note.objects.get(path="copied.md")
    assert columns(copied) == columns(inserted)
    assert copied.created >= inserted.created
    assert copied.updated >= inserted.updated


def test_copied_rows_know_their_keys_and_later_rows_take_others(vault: Vault) -> None:
    notes = [made_note(vault, f"{number}.md") for number in range(3)]
    copy_rows(Note, notes, with_ids=True)
    stored = dict(Note.objects.filter(vault=vault).values_list("path", "pk"))
    assert {note.path: note.pk for note in notes} == stored
    later = Note.objects.create(vault=vault, path="later.md", file_modified=notes[0].file_modified)
    assert later.pk not in stored.values()


def test_generated_columns_are_generated(vault: Vault) -> None:
    note = made_note(vault)
    copy_rows(Note, [note], with_ids=True)
    copy_rows(
        Chunk,
        [
            Chunk(
                vault=vault,
                note=note,
                ordinal=0,
                heading_path=["Harbour", WILD],
                content="Ships were anchored.",
                text_config="english",
                start=0,
                end=1,
                start_line=1,
                end_line=1,
                tokens=5,
                embed_hash="0" * 64,
            )
        ],
    )
    chunk = Chunk.objects.get(note=note)
    assert chunk.heading_path == ["Harbour", WILD]
    assert "'anchor'" in str(chunk.tsv)


def test_a_refused_row_refuses_them_all(vault: Vault) -> None:
    copy_rows(Note, [made_note(vault, "there.md")], with_ids=True)
    with pytest.raises(DatabaseError, match="note_unique_path"), transaction.atomic():
        copy_rows(Note, [made_note(vault, "new.md"), made_note(vault, "there.md")], with_ids=True)
    with pytest.raises(ValueError, match="surrogates"), transaction.atomic():
        copy_rows(Note, [made_note(vault, "new.md", body="\udc80")], with_ids=True)
    assert Note.objects.filter(vault=vault).count() == 1


def test_no_rows_ask_the_database_nothing(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        copy_rows(ScrubFinding, [])
