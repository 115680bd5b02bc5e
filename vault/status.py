"""How far a vault is: counts, what is wrong with which note, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from django.db.models import Count, Q

from vault import access
from vault.core.types import Scope
from vault.counting import in_time
from vault.generations import generation
from vault.models import Chunk, Job, Note, SyncRun, Vault
from vault.problem_kinds import NOT_WRONG, Kind, Looked, Problem
from vault.problems import list_problems
from vault.staleness import pending_chunks, refused_by, stale_chunks

# Problems that a status names; the pages of problems show all.
MOST_PROBLEMS = 500


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

    A number is None while counting takes too long.
    """

    notes: int | None
    searchable: int | None
    covered: int | None
    chunks: int | None
    embedded: int | None
    pending: int | None
    failed: int | None
    failed_notes: int | None
    excluded: int | None
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
        return _sentence(self.part, self.notes)

    @property
    def how(self) -> str:
        """What `coverage` counts, for lines that have no page around them."""
        return _how(self.embedding_model)

    @property
    def part(self) -> int | None:
        """Notes that every kind of search the vault has can find."""
        return self.covered if self.embedding_model else self.searchable

    @property
    def percent(self) -> int:
        """Of the notes, rounded down, so that 100 means all; 0 while it is unknown."""
        return (self.part or 0) * 100 // self.notes if self.notes else 0

    @property
    def job(self) -> CurrentJob | None:
        """What to show first: a running job before a queued one."""
        return self.jobs[0] if self.jobs else None

    @property
    def is_settled(self) -> bool:
        """Nothing to wait for: no open job, and nothing pending that could be done."""
        return not self.jobs and self.pending == 0


def vault_status(
    vault: Vault, *, scope: Scope | None = None, with_problems: bool = True
) -> VaultStatus:
    """Everything the vault page shows about the index, as far as `scope` goes.

    The problems are what takes time: a page that only follows a job does without them.
    """
    looked = Looked(vault, scope)
    by_status = in_time(lambda: _by_status(looked))
    model = vault.embedding_model
    chunks = looked.only_open(Chunk.objects.filter(vault=vault))
    count = in_time(chunks.count)
    stale = in_time(lambda: _stale(looked))
    next_model = vault.next_embedding_model
    following = in_time(lambda: generation(vault.pk, next_model)) if next_model else None
    return VaultStatus(
        notes=None if by_status is None else sum(by_status.values()),
        searchable=_of(by_status, Note.Status.INDEXED),
        covered=_covered(looked, by_status, stale),
        chunks=count,
        embedded=_embedded(looked, count, stale),
        pending=None if stale is None else stale.pending,
        failed=in_time(chunks.filter(refused_by(model)).count) if model else 0,
        failed_notes=_of(by_status, Note.Status.FAILED),
        excluded=_of(by_status, Note.Status.EXCLUDED),
        embedding_model=str(model or ""),
        next_embedding_model=str(next_model or ""),
        state=vault.state,
        question=vault.pause_reason,
        following_done=following.done if following else 0,
        following_total=following.total if following else 0,
        problems=_of_kinds(looked, _PROBLEMS) if with_problems else (),
        suspicious=_of_kinds(looked, (Kind.SUSPICIOUS,)) if with_problems else (),
        jobs=tuple(current_jobs(vault)),
        last_run=SyncRun.objects.filter(vault=vault, kind="sync").first()
        if looked.is_whole
        else None,
    )


_PROBLEMS = tuple(kind for kind in Kind if kind not in (*NOT_WRONG, Kind.SUSPICIOUS))


def _of_kinds(looked: Looked, kinds: tuple[Kind, ...]) -> tuple[Problem, ...]:
    lists = (list_problems(looked, kind=kind, most=MOST_PROBLEMS) for kind in kinds)
    return tuple(chain.from_iterable(rows or () for rows in lists))


def _by_status(looked: Looked) -> dict[str, int]:
    rows = looked.notes.order_by().values_list("status").annotate(n=Count("pk"))
    return dict(rows)


def _of(by_status: dict[str, int] | None, status: Note.Status) -> int | None:
    return None if by_status is None else by_status.get(status, 0)


@dataclass(frozen=True, slots=True)
class _Stale:
    """Chunks without a vector of the model that serves, and indexed notes that have such;
    `pending` also counts those that the next model has to come to, less what it refused."""

    chunks: int = 0
    notes: int = 0
    pending: int = 0


def _stale(looked: Looked) -> _Stale:
    """All of it in one look for each model: comparing chunks and vectors is what takes time."""
    vault, next_model = looked.vault, looked.vault.next_embedding_model
    chunks = notes = pending = 0
    if (model := vault.embedding_model) is not None:
        found = looked.only_open(stale_chunks(vault.pk, model)).aggregate(
            chunks=Count("pk"),
            notes=Count("note", distinct=True, filter=Q(note__status=Note.Status.INDEXED)),
            pending=Count("pk", filter=~refused_by(model)),
        )
        chunks, notes, pending = found["chunks"], found["notes"], found["pending"]
    if next_model is not None:
        pending += looked.only_open(pending_chunks(vault.pk, next_model)).count()
    return _Stale(chunks, notes, pending)


def _covered(looked: Looked, by_status: dict[str, int] | None, stale: _Stale | None) -> int | None:
    """Indexed notes without a stale chunk."""
    if looked.vault.embedding_model is None:
        return 0
    indexed = _of(by_status, Note.Status.INDEXED)
    return None if indexed is None or stale is None else indexed - stale.notes


def _embedded(looked: Looked, count: int | None, stale: _Stale | None) -> int | None:
    if looked.vault.embedding_model is None:
        return None if count is None else 0
    return None if count is None or stale is None else count - stale.chunks


def _how(model: object) -> str:
    return "searchable by words and meaning" if model else "searchable by words"


def _sentence(part: int | None, notes: int | None) -> str:
    return "unknown" if part is None or notes is None else f"{part} of {notes}"


def coverage_of(vault: Vault) -> str:
    """As VaultStatus.coverage and how, for lists: nothing else of the status is looked at."""
    looked = Looked(vault)
    by_status = in_time(lambda: _by_status(looked))
    part = _of(by_status, Note.Status.INDEXED)
    if vault.embedding_model is not None:
        part = _covered(looked, by_status, in_time(lambda: _stale(looked)))
    told = _sentence(part, None if by_status is None else sum(by_status.values()))
    return f"{told} {_how(vault.embedding_model).removeprefix('searchable ')}"


def site_counts(user: access.User) -> tuple[int, int]:
    """(vaults, searchable notes) that this user may read."""
    scope = access.scope_for(user)
    found = sum(searchable for _all, searchable in counts_in(scope).values())
    return len(scope.vault_ids), found


def counts_in(scope: Scope) -> dict[int, tuple[int, int]]:
    """(notes, notes that search finds) of each vault of `scope` that has notes to read."""
    notes = access.notes_in(scope).order_by()
    found = Count("pk", filter=Q(status=Note.Status.INDEXED))
    rows = notes.values_list("vault_id").annotate(total=Count("pk"), found=found)
    return {pk: (total, searchable) for pk, total, searchable in rows}


def current_jobs(vault: Vault) -> list[CurrentJob]:
    """Open jobs of the vault and of its models' vector indexes, running ones first."""
    models = [pk for pk in (vault.embedding_model_id, vault.next_embedding_model_id) if pk]
    of_index = Q(kind="vector_index", payload__embedding_model__in=models)
    rows = Job.objects.open().filter(Q(vault=vault) | of_index)
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
