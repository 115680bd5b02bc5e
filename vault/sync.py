"""Bring a vault's tables in line with its files.

What is to be done follows from the difference alone: a run may be cut anywhere, and the
next one goes on. One file never stops a run; it becomes a warning.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import sha256

import structlog

from vault.connections import due_connections, refresh_connections
from vault.core.changes import plan_changes
from vault.core.file_kinds import is_picture, kind_of
from vault.core.types import FileState, FileWarning, NoteKind
from vault.indexing import indexed_hash, reading_options
from vault.locks import Work, only_one
from vault.models import Note, SyncRun, Vault
from vault.moves import with_edited_moves
from vault.reading import LARGE, Reading, ReadingOptions, read_note, read_picture_name
from vault.run_rows import Outcome, begin_run, end_run
from vault.settings_files import read_settings_files
from vault.sources import (
    FileBusy,
    FileUnreadable,
    Source,
    SourceOffline,
    SourceUnavailable,
    source_of,
    wait_until_quiet,
)
from vault.storing import ReadFile, batches_ahead, delete_notes, move_notes, store, touch

log = structlog.get_logger(__name__)

# More than this share of the notes gone in one scan, and at least a handful: somebody
# unmounted a disk or mistyped a path more often than they deleted that much.
LARGEST_LOSS = 0.2
HANDFUL = 5
# A note that could not be stored is tried again by this many runs.
MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class SyncProgress:
    """How far a run is: `stage` is "scan", "hash", "changes", "notes", "links", "embeds"."""

    stage: str
    done: int
    total: int


OnProgress = Callable[[SyncProgress], None]


def sync_vault(
    vault_id: int,
    *,
    full: bool = False,
    most_seconds: float | None = None,
    wait: float = 0.0,
    on_progress: OnProgress | None = None,
) -> SyncRun:
    """Read the vault's source and apply what changed; returns the run with its counts.

    `full` hashes every file, not only those with another size or time. After
    `most_seconds` the run ends with counts["left"] > 0: call again. Raises
    vault.locks.Busy when another process syncs this vault for longer than `wait`.
    """
    with only_one(Work.SYNC, vault_id, wait=wait):
        vault = Vault.objects.select_related("embedding_model", "next_embedding_model").get(
            pk=vault_id
        )
        run = begin_run(vault, full=full)
        deadline = None if most_seconds is None else time.monotonic() + most_seconds
        work = _Sync(vault, reading_options(vault), full, deadline, on_progress or _silent)
        try:
            work.go()
        except Exception as error:
            outcome = work.outcome(error=f"{type(error).__name__}: {error}")
            end_run(run, replace(outcome, state=SyncRun.State.FAILED))
            raise
        return end_run(run, work.outcome(error=work.question or work.trouble))


def pause_vault(vault_id: int, *, reason: str) -> None:
    """Let no sync read the vault until somebody answers. Search goes on with what is known.

    Only one that is read: a vault that was deleted meanwhile stays so.
    """
    active = Vault.objects.filter(pk=vault_id, state=Vault.State.ACTIVE)
    active.update(state=Vault.State.PAUSED, pause_reason=reason)


def answer_pause(vault_id: int, *, delete: bool) -> None:
    """Answer a paused vault's question: let the next sync delete what is missing, or
    only look again (and ask again when it is still missing)."""
    paused = Vault.objects.filter(pk=vault_id, state=Vault.State.PAUSED)
    paused.update(state=Vault.State.ACTIVE, pause_reason="", loss_allowed=delete)


@dataclass(slots=True)
class _Known:
    """A note of the tables, as far as planning needs it."""

    pk: int
    state: FileState
    indexed_hash: str
    is_to_retry: bool


@dataclass(slots=True)
class _Sync:
    """One run over one vault."""

    vault: Vault
    options: ReadingOptions
    full: bool
    deadline: float | None
    on_progress: OnProgress
    counts: Counter[str] = field(default_factory=Counter)
    warnings: list[FileWarning] = field(default_factory=list)
    question: str = ""
    trouble: str = ""
    not_read: Mapping[str, int] | None = None
    _compared: dict[str, ReadFile | None] = field(default_factory=dict)

    def go(self) -> None:
        if self.vault.state == Vault.State.PAUSED:
            self.question = self.vault.pause_reason
            return
        if self.vault.state in Vault.GONE:
            self.trouble = "The vault was deleted: it is not read."
            return
        try:
            source = source_of(self.vault)
            self.on_progress(SyncProgress("scan", 0, 0))
            scan = source.scan()
        except SourceOffline as error:
            self.trouble = str(error)
            return
        except SourceUnavailable as error:
            self._pause(f"{error} Nothing was deleted. Mend it, then resume.")
            return
        self.warnings += scan.warnings
        self.not_read = scan.not_read
        read_settings_files(self.vault, source, scan.settings)
        known = self._known()
        wait_until_quiet(scan.files)
        found = self._hashed(source, scan.files, known)
        found += _out_of_sight(scan.unreadable, known, found)
        self._apply(source, known, found)

    def outcome(self, *, error: str) -> Outcome:
        """What the run's row says at its end."""
        warnings = tuple(self.warnings)
        return Outcome(self.state(), dict(self.counts), warnings, error, self.not_read)

    def state(self) -> SyncRun.State:
        if self.question:
            return SyncRun.State.PAUSED
        if self.trouble:
            return SyncRun.State.FAILED
        return SyncRun.State.WARNINGS if self.warnings else SyncRun.State.DONE

    def _known(self) -> dict[str, _Known]:
        columns = ("pk", "path", "size", "file_modified", "content_hash", "indexed_hash")
        rows = Note.objects.filter(vault=self.vault).values_list(*columns, "status", "attempts")
        return {
            path: _Known(
                pk,
                FileState(path, size, modified, content_hash),
                indexed,
                status == Note.Status.FAILED and attempts < MOST_ATTEMPTS,
            )
            for pk, path, size, modified, content_hash, indexed, status, attempts in rows
        }

    def _hashed(
        self, source: Source, files: Sequence[FileState], known: dict[str, _Known]
    ) -> list[FileState]:
        """The files with their hashes; read only where size, time or `full` asks for it."""
        result: list[FileState] = []
        for number, file in enumerate(files):
            if number % 100 == 0:
                self.on_progress(SyncProgress("hash", number, len(files)))
            before = known.get(file.path)
            try:
                state = self._hashed_one(source, file, before.state if before else None)
            except FileUnreadable as error:
                self._put_off(file, error)
                state = before.state if before else None
            if state is not None:
                result.append(state)
        return result

    def _hashed_one(
        self, source: Source, file: FileState, before: FileState | None
    ) -> FileState | None:
        if is_picture(file.path) or self._is_too_large(file):
            return replace(file, content_hash=self._unread_hash(file))
        same = before and (before.size, before.modified) == (file.size, file.modified)
        if before and same and not self.full and not before.content_hash.startswith("unread"):
            return before
        self.counts["hashed"] += 1
        data, state = source.read(file.path)
        return replace(state, content_hash=sha256(data).hexdigest())

    def _is_too_large(self, file: FileState) -> bool:
        return file.size > self._most_kb(file) * 1000

    def _unread_hash(self, file: FileState) -> str:
        """Stands for the content of a file that is not read; never that of another path."""
        seen = (file.path, file.size, file.modified.isoformat(), self._is_too_large(file))
        text = "\0".join(map(str, seen))
        return "unread " + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:56]

    def _most_kb(self, file: FileState) -> int:
        is_attachment = kind_of(file.path) is NoteKind.ATTACHMENT
        return self.vault.largest_attachment_kb if is_attachment else self.vault.largest_note_kb

    def _apply(self, source: Source, known: dict[str, _Known], found: list[FileState]) -> None:
        plan = plan_changes([note.state for note in known.values()], found)
        plan = with_edited_moves(
            self.vault.pk, plan, read_text=lambda file: self._text_of(source, file)
        )
        if self._loses_too_much(len(plan.delete), len(known), len(found)):
            return
        self.on_progress(SyncProgress("changes", 0, len(plan.delete)))
        delete_notes(self.vault.pk, [known[file.path].pk for file in plan.delete])
        self.on_progress(SyncProgress("changes", len(plan.delete), len(plan.delete)))
        ids = {path: note.pk for path, note in known.items()}
        moved = {move.new.path: ids[move.old.path] for move in plan.move}
        move_notes(self.vault.pk, moved)
        ids |= moved
        planned = [*plan.create, *plan.update, *(move.new for move in plan.move)]
        again = self._to_index_again(known, found, {file.path for file in planned})
        self.counts.update(
            created=len(plan.create),
            updated=len(plan.update),
            moved=len(plan.move),
            deleted=len(plan.delete),
            again=len(again),
            files=len(found),
        )
        self._touch(known, found)
        new_paths = {file.path for file in plan.create}
        todo = [(f, None if f.path in new_paths else ids.get(f.path)) for f in [*planned, *again]]
        self._store_all(source, todo)
        if not self.counts["left"]:
            self._connect()
        Vault.objects.filter(pk=self.vault.pk, loss_allowed=True).update(loss_allowed=False)

    def _to_index_again(
        self, known: dict[str, _Known], found: Sequence[FileState], planned: set[str]
    ) -> list[FileState]:
        """Unchanged files whose chunks would be made differently now, or failed before."""
        result = []
        for file in found:
            note = known.get(file.path)
            if note is None or file.path in planned:
                continue
            wanted = indexed_hash(file.content_hash, file.path, self.options)
            if note.is_to_retry or note.indexed_hash != wanted:
                result.append(file)
        return result

    def _touch(self, known: dict[str, _Known], found: Sequence[FileState]) -> None:
        """Files with another time and the same content: no need to hash them next time."""
        touched = []
        for file in found:
            note = known.get(file.path)
            if note and note.state != file and note.state.content_hash == file.content_hash:
                touched.append((note.pk, file))
        touch(self.vault.pk, touched)

    def _store_all(self, source: Source, todo: Sequence[tuple[FileState, int | None]]) -> None:
        stored = 0
        with closing(batches_ahead(self._read_all(source, todo))) as batches:
            for batch in batches:
                store(self.vault.pk, batch, self.options)
                stored += len(batch)
                self.counts["chunks"] += sum(len(file.reading.chunks) for file in batch)
                self._warn_of(batch)
                self.on_progress(SyncProgress("notes", stored, len(todo)))

    def _read_all(
        self, source: Source, todo: Sequence[tuple[FileState, int | None]]
    ) -> Iterator[ReadFile]:
        for number, (file, note_id) in enumerate(todo):
            if self.deadline is not None and number and time.monotonic() > self.deadline:
                self.counts["left"] = len(todo) - number
                return
            if file.path in self._compared:
                read = self._compared.pop(file.path)
            else:
                read = self._read_one(source, file, note_id)
            if read is not None:
                yield replace(read, note_id=note_id)

    def _read_one(self, source: Source, file: FileState, note_id: int | None) -> ReadFile | None:
        """One file, read. None when it cannot be read now: the next scan sees to it."""
        if self._is_too_large(file):
            refusal = (
                f"It is too large: it has {file.size // 1000:,} kB, and files like it over "
                f"{self._most_kb(file):,} kB are not read. Split it, or raise the limit in the "
                "vault's settings."
            )
            return ReadFile(file, Reading(None, refusal=refusal), note_id)
        if is_picture(file.path):
            return ReadFile(file, read_picture_name(file.path, options=self.options), note_id)
        try:
            data, state = source.read(file.path)
        except FileUnreadable as error:
            self._put_off(file, error)
            return None
        state = replace(state, content_hash=sha256(data).hexdigest())
        try:
            reading = read_note(data, path=file.path, options=self.options)
        except Exception as error:  # the outer edge: one file never stops a run
            log.exception("note_failed", vault=self.vault.slug, path=file.path)
            reason = f"It could not be parsed ({type(error).__name__}: {error})."
            return ReadFile(state, Reading(None), note_id, failure=reason)
        return ReadFile(state, reading, note_id)

    def _text_of(self, source: Source, file: FileState) -> str | None:
        """The text of a new note, to see whether it is a missing one; it is kept for storing."""
        if file.size > LARGE:
            return None
        read = self._compared[file.path] = self._read_one(source, file, None)
        return read.reading.note.body if read and read.reading.note else None

    def _put_off(self, file: FileState, error: FileUnreadable) -> None:
        if isinstance(error, FileBusy):
            self.counts["busy"] += 1
        else:
            self.warnings.append(FileWarning(file.path, str(error)))

    def _warn_of(self, batch: Sequence[ReadFile]) -> None:
        for file in batch:
            reason = file.failure or file.reading.refusal
            if reason:
                self.warnings.append(FileWarning(file.state.path, reason))
            for warning, line in file.reading.warnings:
                self.warnings.append(FileWarning(file.state.path, warning, line))

    def _connect(self) -> None:
        """Links and embeds, once no note is left to be stored."""
        if due_connections(self.vault.pk) is None:
            return
        self.counts["links"] = refresh_connections(
            self.vault.pk,
            most_tokens=self.options.limits.maximum,
            on_stage=lambda stage: self.on_progress(SyncProgress(stage, 0, 0)),
        )

    def _loses_too_much(self, lost: int, known: int, found: int) -> bool:
        """Pause with a question instead of deleting what may only be out of sight."""
        emptied = known > 0 and found == 0
        much = lost >= HANDFUL and lost > known * LARGEST_LOSS
        if self.vault.loss_allowed or not (emptied or much):
            return False
        what = "every note is" if emptied else f"{lost} of {known} notes are"
        self._pause(f"In one scan {what} gone from {self.vault.place}. Delete them here as well?")
        return True

    def _pause(self, question: str) -> None:
        self.question = question
        pause_vault(self.vault.pk, reason=question)


def _silent(progress: SyncProgress) -> None:
    """For callers who do not watch."""


def _out_of_sight(
    unreadable: Sequence[str], known: dict[str, _Known], found: Sequence[FileState]
) -> list[FileState]:
    """Known notes that are, or lie below, what could not be looked at: not deleted."""
    if not unreadable:
        return []
    seen = {file.path for file in found}
    folders = tuple(f"{path}/" for path in unreadable)
    return [
        note.state
        for path, note in known.items()
        if path not in seen and (path in unreadable or path.startswith(folders))
    ]
