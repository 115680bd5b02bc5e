"""How far a vault is: counts, what is wrong with which note, and how to mend it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from django.db.models import Count, Q, QuerySet, Sum

from vault import access
from vault.core.types import Scope
from vault.counting import in_time
from vault.models import Chunk, Job, LexicalCorpus, Note, SyncRun, Vault
from vault.problem_kinds import NOT_WRONG, Kind, Looked, Problem
from vault.problems import problems_of_each, refused_chunks
from vault.run_rows import last_runs
from vault.staleness import refused_by, stale_chunks_of

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


# Passages, as of the last count of words, of vaults that are looked at together.
MOST_TOGETHER = 100_000
# How a look at the database is taken: under a limit of time of its own, or under that of all.
Within = Callable[[Callable[[], Any]], Any]


def vault_status(
    vault: Vault, *, scope: Scope | None = None, with_problems: bool = True
) -> VaultStatus:
    """Everything the vault page shows about the index, as far as `scope` goes.

    The problems are what takes time: a page that only follows a job does without them.
    """
    (found,) = _statuses(Looked((vault,), scope), within=in_time, with_problems=with_problems)
    return found


def vault_statuses(
    vaults: Sequence[Vault], *, scope: Scope | None = None, with_problems: bool = True
) -> list[VaultStatus]:
    """As vault_status, of many vaults: as many looks as of one for those that hold some
    MOST_TOGETHER passages together. Where that takes too long, each is looked at by itself, so
    that one large vault leaves only its own numbers unknown."""

    def look(together: Sequence[Vault]) -> list[VaultStatus]:
        looked = Looked(tuple(together), scope)
        found = in_time(
            lambda: _statuses(looked, within=lambda look: look(), with_problems=with_problems)
        )
        if found is not None:
            return found
        return [vault_status(each, scope=scope, with_problems=with_problems) for each in together]

    return [status for together in _together(vaults) if together for status in look(together)]


def _together(vaults: Sequence[Vault]) -> list[list[Vault]]:
    """`vaults` in their order, in parts that can be looked at in the time that one look has."""
    rows = LexicalCorpus.objects.filter(vault__in=[vault.pk for vault in vaults]).order_by()
    sizes = dict(rows.values_list("vault_id").annotate(n=Sum("chunks")))
    parts: list[list[Vault]] = [[]]
    size = 0
    for vault in vaults:
        size += sizes.get(vault.pk, 0)
        if parts[-1] and size > MOST_TOGETHER:
            parts.append([])
            size = sizes.get(vault.pk, 0)
        parts[-1].append(vault)
    return parts


def _statuses(looked: Looked, *, within: Within, with_problems: bool) -> list[VaultStatus]:
    counts = _counts(looked, within=within)
    problems: dict[int, list[Problem]] = {}
    suspicious: dict[int, list[Problem]] = {}
    if with_problems:
        problems = _problems(looked, _PROBLEMS, within=within)
        suspicious = _problems(looked, (Kind.SUSPICIOUS,), within=within)
    jobs = _jobs_of(looked.vaults)
    runs = {run.vault_id: run for run in last_runs(looked.vault_ids)} if looked.is_whole else {}
    return [
        replace(
            counts[vault.pk],
            problems=tuple(problems.get(vault.pk, ())),
            suspicious=tuple(suspicious.get(vault.pk, ())),
            jobs=tuple(jobs[vault.pk]),
            last_run=runs.get(vault.pk),
        )
        for vault in looked.vaults
    ]


_PROBLEMS = tuple(kind for kind in Kind if kind not in (*NOT_WRONG, Kind.SUSPICIOUS))


def _problems(
    looked: Looked, kinds: tuple[Kind, ...], *, within: Within
) -> dict[int, list[Problem]]:
    """By vault. Of kinds that take too long to look for there are none."""
    found: dict[int, list[Problem]] = defaultdict(list)
    for kind in kinds:
        look = partial(problems_of_each, looked, kinds=(kind,), most=MOST_PROBLEMS)
        for vault_id, rows in (within(look) or {}).items():
            found[vault_id] += rows
    return found


def _counts(looked: Looked, *, within: Within) -> dict[int, VaultStatus]:
    """What is counted, by vault; each number is None where counting took too long."""
    by_status = within(lambda: _by_status(looked))
    chunks = within(lambda: _by_vault(looked.only_open(_chunks_of(looked))))
    stale = within(lambda: _stale(looked))
    failed = within(lambda: _by_vault(looked.only_open(refused_chunks(looked))))
    following = within(lambda: _following(looked))
    found = {}
    for vault in looked.vaults:
        pk = vault.pk
        notes = None if by_status is None else by_status[pk]
        count = None if chunks is None else chunks.get(pk, 0)
        waits = None if stale is None else stale[pk]
        done, total = (following or {}).get(pk, (0, 0))
        found[pk] = VaultStatus(
            notes=None if notes is None else sum(notes.values()),
            searchable=_of(notes, Note.Status.INDEXED),
            covered=_covered(vault, notes, waits),
            chunks=count,
            embedded=_embedded(vault, count, waits),
            pending=None if waits is None else waits.pending,
            failed=None if failed is None else failed.get(pk, 0),
            failed_notes=_of(notes, Note.Status.FAILED),
            excluded=_of(notes, Note.Status.EXCLUDED),
            embedding_model=str(vault.embedding_model or ""),
            next_embedding_model=str(vault.next_embedding_model or ""),
            state=vault.state,
            question=vault.pause_reason,
            following_done=done,
            following_total=total,
        )
    return found


def _by_status(looked: Looked) -> dict[int, dict[str, int]]:
    """Notes by vault and status."""
    rows = looked.notes.order_by().values_list("vault_id", "status").annotate(n=Count("pk"))
    found: dict[int, dict[str, int]] = {pk: {} for pk in looked.vault_ids}
    for vault_id, status, count in rows:
        found[vault_id][status] = count
    return found


def _of(by_status: dict[str, int] | None, status: Note.Status) -> int | None:
    return None if by_status is None else by_status.get(status, 0)


def _chunks_of(looked: Looked) -> QuerySet[Chunk]:
    return Chunk.objects.filter(vault__in=looked.vault_ids)


def _by_vault(chunks: QuerySet[Chunk]) -> dict[int, int]:
    return dict(chunks.order_by().values_list("vault_id").annotate(n=Count("pk")))


@dataclass(frozen=True, slots=True)
class _Stale:
    """Chunks without a vector of the model that serves, and indexed notes that have such;
    `pending` also counts those that the next model has to come to, less what it refused."""

    chunks: int = 0
    notes: int = 0
    pending: int = 0


def _stale(looked: Looked) -> dict[int, _Stale]:
    """By vault. One look for each model: comparing chunks and vectors is what takes time."""
    found = {pk: _Stale() for pk in looked.vault_ids}
    for model, ids in looked.serving.items():
        stale = looked.only_open(stale_chunks_of(ids, model)).order_by()
        rows = stale.values_list("vault_id").annotate(
            chunks=Count("pk"),
            notes=Count("note", distinct=True, filter=Q(note__status=Note.Status.INDEXED)),
            pending=Count("pk", filter=~refused_by(model)),
        )
        found |= {pk: _Stale(*numbers) for pk, *numbers in rows}
    for model, ids in looked.following.items():
        waiting = stale_chunks_of(ids, model).exclude(refused_by(model))
        for pk, count in _by_vault(looked.only_open(waiting)).items():
            found[pk] = replace(found[pk], pending=found[pk].pending + count)
    return found


def _following(looked: Looked) -> dict[int, tuple[int, int]]:
    """(chunks that the next model has vectors of, all chunks) of vaults that have one."""
    found: dict[int, tuple[int, int]] = {}
    for model, ids in looked.following.items():
        total = _by_vault(Chunk.objects.filter(vault__in=ids))
        stale = _by_vault(stale_chunks_of(ids, model))
        found |= {pk: (total.get(pk, 0) - stale.get(pk, 0), total.get(pk, 0)) for pk in ids}
    return found


def _covered(vault: Vault, by_status: dict[str, int] | None, stale: _Stale | None) -> int | None:
    """Indexed notes without a stale chunk."""
    if vault.embedding_model is None:
        return 0
    indexed = _of(by_status, Note.Status.INDEXED)
    return None if indexed is None or stale is None else indexed - stale.notes


def _embedded(vault: Vault, count: int | None, stale: _Stale | None) -> int | None:
    if vault.embedding_model is None:
        return None if count is None else 0
    return None if count is None or stale is None else count - stale.chunks


def _how(model: object) -> str:
    return "searchable by words and meaning" if model else "searchable by words"


def _sentence(part: int | None, notes: int | None) -> str:
    return "unknown" if part is None or notes is None else f"{part} of {notes}"


def coverage_of(vault: Vault) -> str:
    """As VaultStatus.coverage and how, for lists: nothing else of the status is looked at."""
    looked = Looked((vault,))
    by_status = in_time(lambda: _by_status(looked))
    notes = None if by_status is None else by_status[vault.pk]
    part = _of(notes, Note.Status.INDEXED)
    if vault.embedding_model is not None:
        stale = in_time(lambda: _stale(looked))
        part = _covered(vault, notes, None if stale is None else stale[vault.pk])
    told = _sentence(part, None if notes is None else sum(notes.values()))
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
    return _jobs_of([vault])[vault.pk]


def _jobs_of(vaults: Sequence[Vault]) -> dict[int, list[CurrentJob]]:
    models = {each.pk: {each.embedding_model_id, each.next_embedding_model_id} for each in vaults}
    wanted = [pk for pks in models.values() for pk in pks if pk]
    of_index = Q(kind="vector_index", payload__embedding_model__in=wanted)
    rows = Job.objects.open().filter(Q(vault__in=[*models]) | of_index)
    ordered = sorted(rows, key=lambda job: (job.state != "running", job.pk))

    def is_of(job: Job, pk: int) -> bool:
        is_index = job.kind == "vector_index" and job.payload.get("embedding_model") in models[pk]
        return job.vault_id == pk or is_index

    return {pk: [_current(job) for job in ordered if is_of(job, pk)] for pk in models}


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
