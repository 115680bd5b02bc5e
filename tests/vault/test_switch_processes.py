"""A change of the embedding model while people search and the worker is killed."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync

from providers.models import EmbeddingModel, Provider, UsageRecord
from retrieval.arms import search_queries
from retrieval.core.query import parse_query
from retrieval.core.types import Knobs, Mode
from retrieval.facts import scope_facts
from tests.vault.folders import Folder, make_folder
from tests.vault.processes import RunningWorker, patience, running_worker, wait_until
from vault.core.types import Scope
from vault.embedding import embed_pending
from vault.generations import begin_switch
from vault.index_tasks import request_new_model
from vault.models import ChunkVector, Job, NoteVector, Vault

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.django_db(transaction=True),
]

NOTES = 120
KILLS = 5


def make_model(name: str, dimensions: int) -> EmbeddingModel:
    provider, _made = Provider.objects.get_or_create(
        slug="fake", defaults={"name": "Fake", "kind": "fake", "needs_key": False}
    )
    return EmbeddingModel.objects.create(provider=provider, name=name, dimensions=dimensions)


@dataclass
class Searcher:
    """Asks the same question again and again, and keeps each different answer."""

    vault: Vault
    answers: list[list[tuple[int, float]]] = field(default_factory=list)
    asked: int = 0

    def ask(self) -> None:
        """Search by meaning alone. Fails when the arm did not run or found too little."""
        scope = Scope(user_id=0, vault_ids=(self.vault.pk,))
        query = parse_query("It tells of subject7 and more.")
        knobs = Knobs(mode=Mode.SEMANTIC, depth=20)
        found = async_to_sync(search_queries)(
            [query], scope=scope, facts=scope_facts(scope), knobs=knobs
        )
        meaning = found.arms[1]
        assert meaning.ran, meaning.reason
        assert meaning.reason == ""
        assert len(found.lists[0]) == 20
        self.asked += 1
        answer = [(c.chunk_id, round(c.cosine or 0.0, 3)) for c in found.lists[0]]
        if not self.answers or answer != self.answers[-1]:
            self.answers.append(answer)


def fill(root: Path, old: EmbeddingModel) -> Folder:
    folder = make_folder(root, embedding_model=old)
    for number in range(NOTES):
        folder.write(f"{number}.md", f"# Note {number}\n\nIt tells of subject{number} and more.")
    folder.sync()
    assert embed_pending(folder.vault.pk, most_seconds=60).left == 0
    return folder


def kill_workers(worker: RunningWorker) -> None:
    for pid in worker.guarded()[:-2]:
        os.kill(pid, signal.SIGKILL)


def test_search_never_notices_a_switch_whose_worker_is_killed_five_times(tmp_path: Path) -> None:
    old, new = make_model("hash", 64), make_model("other delay=30ms", 48)
    folder = fill(tmp_path / "notes", old)
    searcher = Searcher(folder.vault)
    searcher.ask()
    begin_switch(folder.vault.pk, new)
    request_new_model(folder.vault.pk)
    made = ChunkVector.objects.filter(embedding_model=new)

    def has_made(count: int) -> bool:
        searcher.ask()
        return made.count() >= count

    # Each of the kills costs the lease that the dead worker held. At the end nothing is
    # left that a stopped worker would have to finish.
    quick = patience(JOB_LEASE=1.0, JOB_RING_AGAIN=0.7) | {"WORKER_STOP": "1"}
    with running_worker("--no-watch", JOB_WORKERS="1", **quick) as worker:
        for kill in range(KILLS):
            least = 1 + kill * NOTES // (KILLS + 1)
            wait_until(partial(has_made, least), f"{least} vectors", seconds=90)
            wait_until(lambda: len(worker.guarded()) >= 3, "the queue runs")
            kill_workers(worker)

        def is_over() -> bool:
            searcher.ask()
            folder.vault.refresh_from_db()
            return folder.vault.embedding_model == new and not Job.objects.open().exists()

        wait_until(is_over, "the new model serves", seconds=90)
    searcher.ask()
    assert made.count() == NoteVector.objects.filter(embedding_model=new).count() == NOTES
    assert made.values("chunk").distinct().count() == NOTES
    assert ChunkVector.objects.filter(embedding_model=old).count() == NOTES
    assert searcher.asked > KILLS
    assert len(searcher.answers) == 2, "all of the old model, then all of the new one"
    calls = UsageRecord.objects.filter(model=new.name).count()
    assert calls >= KILLS
