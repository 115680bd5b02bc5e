"""How far a vault is: counts, what is wrong with which note, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, F, IntegerField, Q, QuerySet, Sum
from django.db.models.functions import Length

from vault import access
from vault.generations import generation
from vault.models import Chunk, Job, Note, SettingsFile, SyncRun, Vault
from vault.staleness import pending_chunks, refused_by, stale_chunks

MOST_PROBLEMS = 500
# A note of this many characters in a single chunk, or with fewer than this share of its
# text in chunks, was probably not understood.
LONG_FOR_ONE_CHUNK = 6000
LEAST_SHARE = 0.5
SHORTEST_SUSPICIOUS = 1000


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with one file. `path` is relative to the vault.

    `severity` is "missing" (it cannot be found), "partly" (some of it cannot, or not by
    meaning), "doubtful" (all of it can be found; look whether it was read rightly) or
    "setting" (a settings file of the vault: what stands there does not hold).
    """

    path: str
    reason: str
    mend: str
    severity: str
    line: int | None = None
    note_id: int | None = None


@dataclass(frozen=True, slots=True)
class CurrentJob:
    """What a worker does for the vault now. `seconds_left` is None while unknown."""

    kind: str
    state: str
    stage: str
    done: int
    total: int
    per_second: float
    seconds_left: int | None
    attempts: int
    last_error: str


@dataclass(frozen=True, slots=True)
class VaultStatus:
    """The numbers of one vault. `searchable` is by keyword, `covered` also by meaning.

    `following_…`: chunks that the next embedding model has vectors of, and is to have.
    """

    notes: int
    searchable: int
    covered: int
    chunks: int
    embedded: int
    pending: int
    failed: int
    failed_notes: int
    excluded: int
    embedding_model: str
    next_embedding_model: str
    state: str
    question: str
    following_done: int = 0
    following_total: int = 0
    problems: tuple[Problem, ...] = ()
    suspicious: tuple[Problem, ...] = ()
    jobs: tuple[CurrentJob, ...] = ()
    last_run: SyncRun | None = field(default=None)

    @property
    def coverage(self) -> str:
        """The sentence of the page: `12 of 14`."""
        return f"{self.covered if self.embedding_model else self.searchable} of {self.notes}"

    @property
    def job(self) -> CurrentJob | None:
        """What to show first: a running job before a queued one."""
        return self.jobs[0] if self.jobs else None

    @property
    def is_settled(self) -> bool:
        """Nothing to wait for: no open job, and nothing pending that could be done."""
        return not self.jobs and not self.pending


def vault_status(vault: Vault, *, with_problems: bool = True) -> VaultStatus:
    """Everything the vault page shows about the index.

    The problems are what takes time: a page that only follows a job does without them.
    """
    notes = Note.objects.filter(vault=vault)
    by_status = dict(notes.order_by().values_list("status").annotate(n=Count("pk")))
    chunks = Chunk.objects.filter(vault=vault).count()
    model = vault.embedding_model
    embedded = chunks - stale_chunks(vault.pk, model).count() if model else 0
    failed = Chunk.objects.filter(refused_by(model), vault=vault).count() if model else 0
    last_run = SyncRun.objects.filter(vault=vault).first()
    next_model = vault.next_embedding_model
    following = generation(vault.pk, next_model) if next_model else None
    return VaultStatus(
        notes=sum(by_status.values()),
        searchable=by_status.get(Note.Status.INDEXED, 0),
        covered=_covered(vault, by_status.get(Note.Status.INDEXED, 0)),
        chunks=chunks,
        embedded=embedded,
        pending=_pending(vault),
        failed=failed,
        failed_notes=by_status.get(Note.Status.FAILED, 0),
        excluded=by_status.get(Note.Status.EXCLUDED, 0),
        embedding_model=str(model or ""),
        next_embedding_model=str(next_model or ""),
        state=vault.state,
        question=vault.pause_reason,
        following_done=following.done if following else 0,
        following_total=following.total if following else 0,
        problems=tuple(_problems(vault, last_run)) if with_problems else (),
        suspicious=tuple(_suspicious(notes)) if with_problems else (),
        jobs=tuple(current_jobs(vault)),
        last_run=last_run,
    )


def site_counts(user: access.User) -> tuple[int, int]:
    """(vaults, searchable notes) that this user may read."""
    vaults = access.visible_to(user)
    notes = Note.objects.filter(vault__in=vaults, status=Note.Status.INDEXED)
    return vaults.count(), notes.count()


def current_jobs(vault: Vault) -> list[CurrentJob]:
    """Open jobs of the vault, running ones first."""
    rows = Job.objects.open().filter(vault=vault)
    return [_current(job) for job in sorted(rows, key=lambda job: (job.state != "running", job.pk))]


def _current(job: Job) -> CurrentJob:
    progress: dict[str, Any] = job.progress
    rate = float(progress.get("per_second", 0))
    left = progress.get("left")
    return CurrentJob(
        kind=job.kind,
        # A job of many slices is queued between two of them: it goes on, it does not wait.
        state="running" if job.progress and not job.attempts else job.state,
        stage=str(progress.get("stage", "")),
        done=int(progress.get("done", 0)),
        total=int(progress.get("total", 0)),
        per_second=rate,
        seconds_left=int(left / rate) if left is not None and rate > 0 else None,
        attempts=job.attempts,
        last_error=job.last_error,
    )


def _pending(vault: Vault) -> int:
    models = filter(None, (vault.embedding_model, vault.next_embedding_model))
    return sum(pending_chunks(vault.pk, model).count() for model in models)


def _covered(vault: Vault, indexed: int) -> int:
    """Indexed notes without a stale chunk."""
    if vault.embedding_model is None:
        return 0
    stale = stale_chunks(vault.pk, vault.embedding_model)
    waiting = Note.objects.filter(
        pk__in=stale.values("note_id"), status=Note.Status.INDEXED
    ).count()
    return indexed - waiting


def _problems(vault: Vault, last_run: SyncRun | None) -> Iterator[Problem]:
    notes = Note.objects.filter(vault=vault)
    missing = notes.filter(status__in=[Note.Status.FAILED, Note.Status.EXCLUDED])
    yield from (_missing(note) for note in missing.defer("body")[:MOST_PROBLEMS])
    yield from _of_settings(vault)
    yield from _unembedded(vault)
    yield from _of_the_run(last_run, set(notes.values_list("path", flat=True)))
    for note in notes.exclude(warnings=[]).defer("body")[:MOST_PROBLEMS]:
        yield from _doubtful(note)


def _missing(note: Note) -> Problem:
    return Problem(
        path=note.path,
        reason=note.reason,
        mend=(
            "Mend the file and sync."
            if note.status == Note.Status.EXCLUDED
            else "Look at the file, save it, and sync; a full sync tries it again as it is."
        ),
        severity="missing",
        note_id=note.pk,
    )


def _of_settings(vault: Vault) -> Iterator[Problem]:
    for file in SettingsFile.objects.filter(vault=vault).exclude(problems=[]):
        for problem in file.problems[:MOST_PROBLEMS]:
            yield Problem(
                path=file.path,
                reason=problem["reason"],
                mend=problem["mend"],
                severity="setting",
                line=problem["line"],
            )


def _unembedded(vault: Vault) -> Iterator[Problem]:
    if vault.embedding_model is None:
        return
    failed = Chunk.objects.filter(refused_by(vault.embedding_model), vault=vault)
    for chunk in failed.select_related("note").defer("tsv", "note__body")[:MOST_PROBLEMS]:
        yield Problem(
            path=chunk.note.path,
            reason=f"Not searchable by meaning: {chunk.embed_failed}",
            mend="Change the passage, or choose “retry failed” when the model was the trouble.",
            severity="partly",
            line=chunk.note.body_line + chunk.start_line - 1,
            note_id=chunk.note_id,
        )


def _of_the_run(run: SyncRun | None, known: set[str]) -> Iterator[Problem]:
    """What the last run said about files that are no notes (those have their own row)."""
    for warning in run.warnings if run else ():
        if warning["path"] not in known:
            yield Problem(
                path=warning["path"],
                reason=warning["reason"],
                mend="Mend it in the folder, or name it in .brainignore.",
                severity="missing",
                line=warning["line"],
            )


def _doubtful(note: Note) -> Iterator[Problem]:
    for warning in note.warnings:
        yield Problem(
            path=note.path,
            reason=warning["reason"],
            mend="The note is searchable; correct the file to be rid of the warning.",
            severity="doubtful",
            line=warning["line"],
            note_id=note.pk,
        )


def _suspicious(notes: QuerySet[Note]) -> Iterator[Problem]:
    """Indexed notes whose number of chunks does not fit their text."""
    measured = notes.filter(status=Note.Status.INDEXED).annotate(
        length=Length("body"),
        pieces=Count("chunks"),
        inside=Sum(F("chunks__end") - F("chunks__start"), output_field=IntegerField()),
    )
    one = Q(pieces__lte=1, length__gt=LONG_FOR_ONE_CHUNK)
    little = Q(length__gt=SHORTEST_SUSPICIOUS, inside__lt=F("length") * LEAST_SHARE)
    for note in measured.filter(one | little).defer("body")[:MOST_PROBLEMS]:
        yield Problem(
            path=note.path,
            reason=f"{note.length:,} characters became {note.pieces} chunks.",
            mend="Look whether most of it is one unclosed comment or code fence.",
            severity="doubtful",
            note_id=note.pk,
        )
