"""Installations of many sizes, each in a database of its own, for measuring speed.

They stand beside the product's database on the server of DATA_DIR, and stay there, so that
the next run only measures. What is missing is made: notes and passages (speed_text.py), their
vectors, the index of the vectors, the counts of words, as the product would have them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from speed_text import CHUNKS_A_NOTE, DIMENSIONS, Passages
from speed_vectors import Cloud

BATCH = 5_000
# Digits of a subject, where a passage's hash would stand.
HASH = 6
# Sizes of the vaults of each installation, in passages. `scopes` is the one in which scopes
# of all sizes are searched: its least vault has 40 notes.
INSTALLATIONS = {
    "10k": (10_000,),
    "100k": (25_000,) * 4,
    "150k": (7_500,) * 20,
    "scopes": (400, 2_000, 6_000, 12_000, 30_000, 149_600),
    "1m": (50_000,) * 20,
}
# PostgreSQL's own figures, that a run does not depend on when autovacuum came by.
_TABLES = "vault_note, vault_chunk, vault_chunkvector, vault_lexeme, vault_lexemefrequency"


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation that is filled: its vaults in the order of INSTALLATIONS."""

    name: str
    model: Any
    vaults: tuple[Any, ...]


def installation(name: str) -> Installation:
    """Switch to the database of `name`, making what is missing there."""
    from vault.models import Vault

    switch_to(f"speed_{name}")
    model = _model()
    sizes = INSTALLATIONS[name]
    if Vault.objects.count() < len(sizes):
        _fill(name, model, sizes)
    _index(model)
    vaults = tuple(Vault.objects.order_by("pk"))
    _note_vectors(model, vaults)
    return Installation(name, model, vaults)


def switch_to(database: str) -> None:
    """Make `database`, empty, if it is missing, and connect Django to it."""
    from django.core.management import call_command
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database])
        if cursor.fetchone() is None:
            cursor.execute(
                f"CREATE DATABASE {database} TEMPLATE template0 ENCODING 'UTF8' "
                "LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' LOCALE 'C'"
            )
    connection.close()
    connection.settings_dict["NAME"] = database
    call_command("migrate", verbosity=0)


def drop(name: str) -> None:
    from django.db import connection

    switch_to("secondbrain")
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS speed_{name}")


def _model() -> Any:
    from providers.models import EmbeddingModel, Provider

    provider, _ = Provider.objects.get_or_create(
        slug="speed", defaults={"name": "Speed", "kind": "fake", "needs_key": False}
    )
    model, _ = EmbeddingModel.objects.get_or_create(
        provider=provider, name="speed", defaults={"dimensions": DIMENSIONS}
    )
    return model


def _fill(name: str, model: Any, sizes: tuple[int, ...]) -> None:
    """All in one transaction: a run that is killed leaves nothing half made."""
    from django.db import connection, transaction

    from vault.lexemes import refresh_lexemes
    from vault.models import Vault

    passages = Passages(sum(sizes))
    with _told(f"{name}: notes and passages"), transaction.atomic():
        with connection.cursor() as cursor:
            # Built at the end, it takes a tenth of the time.
            cursor.execute("DROP INDEX IF EXISTS chunk_tsv")
        for number, size in enumerate(sizes):
            vault = Vault.objects.create(
                slug=f"speed-{number:02}", name=f"Speed {number}", place="", embedding_model=model
            )
            _write(vault.pk, passages, size)
    with _told(f"{name}: index of words"), connection.cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '1GB'")
        cursor.execute("CREATE INDEX IF NOT EXISTS chunk_tsv ON vault_chunk USING gin (tsv)")
        cursor.execute("RESET maintenance_work_mem")
    with _told(f"{name}: counts of words"):
        refresh_lexemes(force=True)


def _write(vault_id: int, passages: Passages, size: int) -> None:
    """Notes of ten passages, a subject each."""
    from django.db import connection

    subjects = passages.dice.integers(0, passages.subjects, -(-size // CHUNKS_A_NOTE))
    note_ids = _write_notes(vault_id, len(subjects))
    with connection.cursor() as cursor:
        for start in range(0, size, BATCH):
            places = np.arange(start, min(start + BATCH, size))
            texts = passages.texts(subjects[places // CHUNKS_A_NOTE])
            with cursor.cursor.copy(_COPY_CHUNKS) as copy:
                for place, text in zip(places.tolist(), texts, strict=True):
                    note, ordinal = divmod(place, CHUNKS_A_NOTE)
                    subject = int(subjects[note])
                    copy.write_row(_chunk(vault_id, note_ids[note], note, ordinal, subject, text))


def _write_notes(vault_id: int, count: int) -> list[int]:
    from vault.models import Note

    made = Note.objects.bulk_create(
        (
            Note(
                vault_id=vault_id, path=f"{number:06}.md", title=f"Note {number}",
                lookup_keys=[f"note {number}", f"{number:06}.md"], content_hash="x",
                file_modified="2026-01-01T00:00Z", status=Note.Status.INDEXED,
            )
            for number in range(count)
        ),
        batch_size=BATCH,
    )  # fmt: skip
    return [note.pk for note in made]


_COPY_CHUNKS = """
COPY vault_chunk (vault_id, note_id, ordinal, heading_path, heading_text, content, context,
    summary, context_made, made_tokens, embedded_text, embedded_shown, start, "end", start_line,
    end_line, tokens, is_code, embed_hash, embed_failed, embed_failed_by, embed_attempts,
    text_config) FROM STDIN"""


def _chunk(
    vault_id: int, note_id: int, note: int, ordinal: int, subject: int, text: str
) -> tuple[Any, ...]:
    """A row of _COPY_CHUNKS. Its subject stands where a hash would: the vector is made by it."""
    title = f"Note {note}"
    empty = ("", "", "", "", "")
    numbers = (0, 0, 1, 1, 1, len(text) // 4, False)
    return (
        vault_id, note_id, ordinal, [title], title, text, *empty, *numbers,
        f"{subject:0{HASH}}", "", "", 0, "english",
    )  # fmt: skip


def _index(model: Any) -> None:
    """The vectors and their index, where they are missing."""
    from django.db import connection

    from vault.models import Chunk, ChunkVector
    from vault.vector_index import has_index

    if not ChunkVector.objects.exists():
        with _told("vectors"):
            _write_vectors(model, Chunk.objects.count())
    if not has_index(model):
        with _told("index of vectors"):
            _build_index(model)
        with connection.cursor() as cursor:
            cursor.execute(f"VACUUM ANALYZE {_TABLES}")


def _note_vectors(model: Any, vaults: tuple[Any, ...]) -> None:
    """The vectors of whole notes, as the product makes them, where they are missing."""
    from django.db import connection

    from vault.models import NoteVector
    from vault.note_vectors import write_note_vectors

    if NoteVector.objects.exists():
        return
    with _told("vectors of notes"):
        for vault in vaults:
            write_note_vectors(vault.pk, model)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE vault_notevector")


def _write_vectors(model: Any, count: int) -> None:
    from django.db import connection, transaction

    from vault.models import Chunk

    cloud = Cloud(count)
    rows = Chunk.objects.order_by("pk").values_list("pk", "vault_id", "note_id", "embed_hash")
    with transaction.atomic(), connection.cursor() as cursor:
        last = 0
        while batch := list(rows.filter(pk__gt=last)[:BATCH]):
            last = batch[-1][0]
            # Made before the copy begins: the connection takes no query until it ends.
            made = _rows(batch, model, cloud).tobytes()
            with cursor.cursor.copy(_COPY_VECTORS) as copy:
                copy.write(_SIGNATURE)
                copy.write(made)
                copy.write(_TRAILER)


_COPY_VECTORS = """
COPY vault_chunkvector (vault_id, chunk_id, embedding_model_id, embed_hash, fingerprint, vector)
    FROM STDIN (FORMAT BINARY)"""
# PostgreSQL's binary form of COPY, and pgvector's of a halfvec: its length, two bytes that mean
# nothing, its numbers.
_SIGNATURE = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_TRAILER = b"\xff\xff"


_ROW = np.dtype(
    [
        ("fields", ">i2"),
        *(
            part
            for name, kind in (
                ("vault", ">i8"),
                ("chunk", ">i8"),
                ("model", ">i8"),
                ("embed_hash", f"S{HASH}"),
                ("fingerprint", "S16"),
                ("vector", np.dtype([("length", ">i2"), ("unused", ">i2"), ("of", ">f2", 384)])),
            )
            for part in ((f"{name}_bytes", ">i4"), (name, kind))
        ),
    ]
)


def _rows(batch: list[Any], model: Any, cloud: Cloud) -> Any:
    """Rows of _COPY_VECTORS as PostgreSQL reads them."""
    from vault.staleness import fingerprint

    rows = np.zeros(len(batch), dtype=_ROW)
    rows["fields"] = 6
    for name in ("vault", "chunk", "model", "embed_hash", "fingerprint", "vector"):
        rows[f"{name}_bytes"] = _ROW[name].itemsize
    ids, vaults, notes, subjects = (np.array(column) for column in zip(*batch, strict=True))
    rows["vault"], rows["chunk"], rows["model"] = vaults, ids, model.pk
    rows["embed_hash"] = subjects.astype(f"S{HASH}")
    rows["fingerprint"] = fingerprint(model).encode()
    rows["vector"]["length"] = DIMENSIONS
    rows["vector"]["of"] = cloud.passages(subjects.astype(np.int64), notes)
    return rows


def _build_index(model: Any) -> None:
    """The index that vault/vector_index.py builds, with memory for all of it."""
    from django.db import connection

    from vault.vector_index import BUILD_WIDTH, index_name, vector_cast

    with connection.cursor() as cursor:
        cursor.execute("SET maintenance_work_mem = '3GB'")
        cursor.execute(
            f"CREATE INDEX {index_name(model)} ON vault_chunkvector USING hnsw "
            f"((vector::{vector_cast(model)}) halfvec_cosine_ops) "
            f"WITH (ef_construction = {BUILD_WIDTH}) WHERE embedding_model_id = {model.pk}"
        )
        cursor.execute("RESET maintenance_work_mem")


@contextmanager
def _told(what: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
