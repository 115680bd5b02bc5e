"""Write what a sync planned: moves, deletions, and notes read from their files.

Every batch is one transaction. A note that the database refuses is stored as failed,
with the reason, and its neighbours as if it were not there.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import takewhile
from threading import Event

import structlog
from django.db import DatabaseError, transaction
from django.db.models import TextField, Value
from django.db.models.functions import Cast, Concat

from vault.connections import mark_names_changed
from vault.core.types import FileState
from vault.indexing import fill_note, indexed_hash, write_new_notes, write_note
from vault.lexemes import know_lexemes
from vault.models import Chunk, ChunkVector, FormerPath, Link, Note, NoteVector, ScrubFinding
from vault.reading import Reading, ReadingOptions

log = structlog.get_logger(__name__)

# Notes in one transaction: one by one, an import takes nearly twice as long.
BATCH_NOTES = 100
BATCH_CHUNKS = 1000
# Paths that one statement changes: a folder of thousands of notes is a few statements.
BATCH_MOVES = 500

# psycopg cannot encode a lone surrogate: a ValueError, before the database is asked.
_REFUSED = (DatabaseError, ValueError)


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file on its way into the tables. `note_id` is None for a new note.

    `failure` says why it could not be read although it is a note.
    """

    state: FileState
    reading: Reading
    note_id: int | None = None
    failure: str = ""


def in_batches(files: Iterable[ReadFile]) -> Iterator[list[ReadFile]]:
    """Cut the stream so that one transaction stays small."""
    batch: list[ReadFile] = []
    chunks = 0
    for file in files:
        batch.append(file)
        chunks += len(file.reading.chunks)
        if len(batch) >= BATCH_NOTES or chunks >= BATCH_CHUNKS:
            yield batch
            batch, chunks = [], 0
    if batch:
        yield batch


def batches_ahead(files: Iterable[ReadFile]) -> Generator[list[ReadFile], None, None]:
    """The batches of a stream that is read by a thread, one batch ahead of who takes them.

    So files are parsed while the database stores those before. Reading must not touch the
    database. Close the iterator when it is left early: no file is read then any more.
    """
    is_over = Event()
    batches = in_batches(takewhile(lambda _file: not is_over.is_set(), files))
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="read-ahead") as reader:
        try:
            coming = reader.submit(next, batches, None)
            while batch := coming.result():
                coming = reader.submit(next, batches, None)
                yield batch
        finally:
            is_over.set()


def delete_notes(vault_id: int, note_ids: Collection[int]) -> None:
    """Remove notes with all that was made from them, in one transaction a batch."""
    ids = sorted(note_ids)
    for start in range(0, len(ids), BATCH_NOTES):
        batch = ids[start : start + BATCH_NOTES]
        with transaction.atomic():
            ChunkVector.objects.filter(vault_id=vault_id, chunk__note_id__in=batch).delete()
            NoteVector.objects.filter(vault_id=vault_id, note_id__in=batch).delete()
            Link.objects.filter(source_id__in=batch).delete()
            ScrubFinding.objects.filter(note_id__in=batch).delete()
            Chunk.objects.filter(note_id__in=batch).delete()
            Note.objects.filter(vault_id=vault_id, pk__in=batch).delete()
            mark_names_changed(vault_id)


def move_notes(vault_id: int, moves: Mapping[str, int]) -> None:
    """Give notes (id by new path) their paths; they may swap names, or move in a ring.

    Where each was before is remembered, so that links and citations still find it.
    """
    if not moves:
        return
    with transaction.atomic():
        mark_names_changed(vault_id)
        _remember_paths(vault_id, moves.values())
        aside = uuid.uuid4().hex
        moving = Note.objects.filter(pk__in=moves.values())
        moving.update(path=Concat(Value(f"{aside}/"), Cast("pk", TextField())))
        placed = [Note(pk=note_id, path=path) for path, note_id in moves.items()]
        Note.objects.bulk_update(placed, ["path"], batch_size=BATCH_MOVES)


def _remember_paths(vault_id: int, note_ids: Collection[int]) -> None:
    rows = Note.objects.filter(pk__in=note_ids).values_list("pk", "path")
    former = [FormerPath(note_id=pk, vault_id=vault_id, path=path) for pk, path in rows]
    # The last note that left a path is the one an old link to it means.
    paths = [row.path for row in former]
    FormerPath.objects.filter(vault_id=vault_id, path__in=paths).delete()
    FormerPath.objects.bulk_create(former)


def store(vault_id: int, batch: Sequence[ReadFile], options: ReadingOptions) -> None:
    """Write a batch of files. Their links are due then."""
    try:
        _store_together(vault_id, batch, options)
        return
    except _REFUSED as error:
        log.warning("batch_refused", vault=vault_id, notes=len(batch), error=str(error)[:500])
    for file in batch:
        _store_alone(vault_id, file, options)


def _store_alone(vault_id: int, file: ReadFile, options: ReadingOptions) -> None:
    """One note in its own transaction; as a failed one when the database refuses it."""
    try:
        _store_together(vault_id, [file], options)
        return
    except _REFUSED as error:
        reason = f"The database refused it: {str(error).splitlines()[0][:300]}"
        failed = ReadFile(file.state, Reading(None), note_id=file.note_id, failure=reason)
    _store_together(vault_id, [failed], options)


@transaction.atomic
def _store_together(vault_id: int, batch: Sequence[ReadFile], options: ReadingOptions) -> None:
    known = _known_notes(vault_id, batch)
    new: list[tuple[Note, Reading]] = []
    stored: list[int] = []
    is_renamed = False
    for file in batch:
        note = known.get(file.state.path)
        if note is None:
            note = Note(vault_id=vault_id)
            _fill(note, file, options)
            new.append((note, file.reading))
        else:
            is_renamed |= _store_known(note, file, options)
            stored.append(note.pk)
    write_new_notes(new)
    stored += [note.pk for note, _reading in new]
    know_lexemes(stored)
    if new or is_renamed:
        mark_names_changed(vault_id)


def _known_notes(vault_id: int, batch: Sequence[ReadFile]) -> dict[str, Note]:
    """Rows of these files by path: by id, and by path when a run before was cut."""
    ids = {file.note_id: file.state.path for file in batch if file.note_id is not None}
    notes = Note.objects.filter(vault_id=vault_id)
    known = {note.path: note for note in notes.filter(path__in=[f.state.path for f in batch])}
    return known | {ids[note.pk]: note for note in notes.filter(pk__in=ids)}


def _store_known(note: Note, file: ReadFile, options: ReadingOptions) -> bool:
    """Write a known note; whether links may find it under other names now."""
    before, names = (note.title, note.body), _names(note)
    _fill(note, file, options)
    write_note(note, file.reading, text_changed=(note.title, note.body) != before)
    return _names(note) != names


def _fill(note: Note, file: ReadFile, options: ReadingOptions) -> None:
    """Every column of the row from its file."""
    tried = note.attempts if note.content_hash == file.state.content_hash else 0
    fill_note(note, file.state, file.reading)
    if file.failure:
        note.status, note.reason, note.attempts = Note.Status.FAILED, file.failure, tried + 1
    note.indexed_hash = indexed_hash(file.state.content_hash, file.state.path, options)


def _names(note: Note) -> tuple[object, ...]:
    """What links find a note by."""
    return note.path, sorted(note.aliases), note.status == Note.Status.EXCLUDED


def touch(vault_id: int, states: Iterable[tuple[int, FileState]]) -> None:
    """Remember the new times of files whose content is the same."""
    with transaction.atomic():
        for note_id, state in states:
            Note.objects.filter(vault_id=vault_id, pk=note_id).update(
                file_modified=state.modified, size=state.size
            )
