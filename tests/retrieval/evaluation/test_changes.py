"""Golden questions asked again after a change, without anybody asking."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.conf import settings
from django.test import Client

from providers.models import RerankModel
from retrieval.core.types import Knobs, Mode
from retrieval.evaluation import cancel_run, fall_of, go_on, start_due_runs, start_run
from retrieval.models import EvalRun, RetrievalSettings
from retrieval.tasks import SETTLED_AGAIN, evaluate_changes_job
from tests.cast import Cast, make_user
from tests.retrieval.evaluation.golden import write_golden_vault
from tests.retrieval.library import write_markdown, write_note
from vault import jobs
from vault.index_tasks import request_new_model
from vault.jobs import Again
from vault.models import Chunk, Job

pytestmark = pytest.mark.django_db

KNOBS = Knobs(mode=Mode.KEYWORD)


def measure(knobs: Knobs = KNOBS) -> list[EvalRun]:
    """The runs that are due, asked to their end."""
    return [run for each in start_due_runs(knobs)[0] if (run := go_on(each.pk, most_seconds=60))]


def test_what_was_never_measured_is_measured_once(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    write_note(cast.foreign_vault, "Alone.md", "A vault without golden questions.")
    (run,) = measure()
    assert (run.vault, run.user, run.label) == (cast.vault, None, "after a change")
    assert run.state == EvalRun.State.DONE
    assert measure() == []


def test_chunking_model_questions_and_settings_make_a_run_due(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    measure()
    assert measure(replace(KNOBS, passages=3)) == [], "it orders nothing"
    assert len(measure(replace(KNOBS, depth=20))) == 1
    cast.vault.chunk_tokens = 50
    cast.vault.save()
    assert len(measure()) == 1
    model = cast.vault.embedding_model
    assert model is not None
    cast.vault.embedding_model = None
    cast.vault.save()
    assert len(measure()) == 1
    write_markdown(cast.foreign_vault, "Heron.md", "# Heron\n\nIt sleeps in the old oak.\n")
    write_markdown(cast.foreign_vault, "golden-questions.md", "- Where? -> [[Heron]]\n")
    assert [run.vault for run in measure()] == [cast.foreign_vault]


def test_a_run_that_waits_or_was_stopped_is_not_begun_again(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    (run,), _ = start_due_runs(KNOBS)
    assert start_due_runs(KNOBS) == ([], False)
    assert cancel_run(run)
    assert start_due_runs(KNOBS) == ([], False)


def test_a_vault_at_work_is_waited_for(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    job = jobs.want("embed", key="embed:1", vault_id=cast.vault.pk)
    assert start_due_runs(KNOBS) == ([], True)
    asking = jobs.want("evaluate_changes", key="evaluate_changes")
    assert evaluate_changes_job(asking) == Again(after=SETTLED_AGAIN)
    Job.objects.filter(pk=job.pk).update(state=Job.State.DONE)
    assert evaluate_changes_job(asking) is None
    run = EvalRun.objects.get()
    assert Job.objects.filter(kind="evaluate", payload={"run": run.pk}).exists()


def test_it_is_looked_for_after_a_sync_a_switch_and_other_settings(
    cast: Cast, client: Client
) -> None:
    assert "evaluate_changes" in settings.JOBS_AFTER_SYNC
    request_new_model(cast.vault.pk)
    asked = Job.objects.filter(kind="evaluate_changes")
    assert asked.count() == 1
    asked.delete()
    client.force_login(make_user("root", is_superuser=True))
    row = RetrievalSettings(depth=40)
    assert not RerankModel.objects.exists()
    names = (
        *("fusion", "passages", "depth", "rrf_k", "chunks_per_note", "token_budget"),
        *("neighbours", "alternates", "overfetch"),
    )
    fields = {name: getattr(row, name) for name in names}
    assert client.post("/admin/retrieval/retrievalsettings/add/", fields).status_code == 302
    assert RetrievalSettings.objects.get().depth == 40
    assert asked.count() == 1


def test_a_worse_result_is_told_where_the_vault_is_measured(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    measure()
    assert fall_of(cast.vault) is None
    Chunk.objects.filter(vault=cast.vault).update(content="…", heading_text="", made_tokens="")
    cast.vault.chunk_tokens = 50
    cast.vault.save()
    (bad,) = measure(replace(KNOBS, depth=20))
    fall = fall_of(cast.vault)
    assert fall is not None
    assert (fall.run, len(fall.found.worse)) == (bad, 3)
    client = Client()
    client.force_login(cast.owner)
    page = client.get(f"/lab/evaluation/{cast.vault.slug}/").content.decode()
    assert "found less well" in page
    assert f"?with={fall.before.pk}" in page
    mine = start_run(cast.vault, knobs=KNOBS, user=cast.owner)
    go_on(mine.pk, most_seconds=60)
    assert fall_of(cast.vault) is None, "somebody has looked since"
