"""A model that would serve worse waits for an owner's word; any other serves by itself."""

from __future__ import annotations

import pytest
from django.test import Client

from providers.models import EmbeddingModel
from retrieval.core.types import Knobs, Mode
from retrieval.evaluation import fall_of, start_due_runs, try_next_model
from retrieval.evaluation.trials import MOST_QUESTIONS
from retrieval.models import EvalQuestion, EvalRun
from retrieval.tasks import try_switch_job
from tests.cast import Cast
from tests.retrieval.evaluation.golden import write_golden_vault
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault import jobs
from vault.generations import begin_switch, finish_switch, ready_to_switch
from vault.index_tasks import request_switch, switch_job
from vault.models import ChunkVector, Job, Note, Vault

pytestmark = pytest.mark.django_db

KNOBS = Knobs(mode=Mode.SEMANTIC)


def prepare(vault: Vault, *, is_worse: bool) -> EmbeddingModel:
    """A generation of vectors of another model, all made; `is_worse`: of the wrong notes."""
    serving = vault.embedding_model
    model = make_embedding_model("next")
    embed(vault, model)
    rows = list(ChunkVector.objects.filter(embedding_model=model).order_by("pk"))
    if is_worse:
        vectors = [row.vector for row in rows]
        for row, vector in zip(rows, vectors[1:] + vectors[:1], strict=True):
            row.vector = vector
            row.save()
    vault.embedding_model = serving
    vault.save()
    begin_switch(vault.pk, model)
    return model


def state_of(vault: Vault) -> tuple[EmbeddingModel | None, EmbeddingModel | None, str]:
    vault.refresh_from_db()
    return vault.embedding_model, vault.next_embedding_model, vault.switch_verdict


def work(vault: Vault) -> None:
    """What the worker does about a switch until nothing more is asked of it."""
    request_switch(vault.pk)
    calls = {"switch": switch_job, "try_switch": try_switch_job}
    while (job := Job.objects.filter(kind__in=calls, state="queued").first()) is not None:
        Job.objects.filter(pk=job.pk).update(state="done")
        if calls[job.kind](job) is not None:
            jobs.want(job.kind, key=job.key, vault_id=job.vault_id)


def test_a_model_that_finds_as_much_serves_by_itself(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    model = prepare(cast.vault, is_worse=False)
    work(cast.vault)
    assert state_of(cast.vault) == (model, None, "")
    trial = EvalRun.objects.get(trial_model=model)
    assert (trial.state, trial.total) == ("done", 3)
    assert trial.index["embedding_model"] == str(model)


def test_without_golden_questions_nothing_is_asked(cast: Cast) -> None:
    write_note(cast.vault, "Alone.md", "A vault without golden questions.")
    embed(cast.vault, make_embedding_model())
    model = prepare(cast.vault, is_worse=False)
    work(cast.vault)
    assert state_of(cast.vault) == (model, None, "")
    assert not EvalRun.objects.exists()


def test_a_worse_model_waits_and_says_what_it_loses(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    serving = cast.vault.embedding_model
    model = prepare(cast.vault, is_worse=True)
    while try_next_model(cast.vault.pk, knobs=KNOBS, most_seconds=0.01) is not None:
        pass
    assert state_of(cast.vault) == (serving, model, "worse")
    report = cast.vault.switch_report
    assert report["questions"] == 3
    assert report["after"] < report["before"] - 0.005
    assert report["worse"] == len(report["examples"]) > 0
    assert "Where does the grey heron sleep?" in report["examples"]
    assert ready_to_switch(cast.vault.pk) is None
    work(cast.vault)
    assert state_of(cast.vault) == (serving, model, "worse"), "asked again, it still waits"
    assert fall_of(cast.vault) is None, "nothing that serves has become worse"
    assert EvalRun.objects.count() == 2


def held(cast: Cast) -> tuple[Client, EmbeddingModel]:
    write_golden_vault(cast.vault)
    model = prepare(cast.vault, is_worse=True)
    while try_next_model(cast.vault.pk, knobs=KNOBS, most_seconds=9) is not None:
        pass
    client = Client()
    client.force_login(cast.owner)
    return client, model


def test_the_owner_is_asked_with_figures_and_questions(cast: Cast) -> None:
    client, model = held(cast)
    page = client.get("/vaults/team/index").content.decode()
    run = EvalRun.objects.get(trial_model=model)
    for said in (
        "finds less than what serves now",
        "3 golden questions were asked of both",
        "nDCG@10",
        "Where does the grey heron sleep?",
        "Switch anyway",
        "Stay with",
        f"/lab/evaluation/team/runs/{run.pk}",
    ):
        assert said in page
    assert 'hx-trigger="every 2s"' not in page, "nothing moves while it waits"
    beside = client.get(f"/lab/evaluation/team/runs/{run.pk}").content.decode()
    assert "before a switch to" in beside
    assert "under" in client.get("/lab/evaluation/team/").content.decode()


def test_it_switches_when_the_owner_says_so(cast: Cast) -> None:
    client, model = held(cast)
    client.post("/vaults/team/index/switch", {"action": "agree"})
    work(cast.vault)
    assert state_of(cast.vault) == (model, None, "")
    assert start_due_runs(KNOBS)[0] == [], "it was measured before it served"


def test_it_stays_when_the_owner_says_so_and_is_tried_anew_when_chosen_again(cast: Cast) -> None:
    client, model = held(cast)
    serving = cast.vault.embedding_model
    client.post("/vaults/team/index/switch", {"action": "cancel"})
    assert state_of(cast.vault) == (serving, None, "")
    begin_switch(cast.vault.pk, model)
    assert ready_to_switch(cast.vault.pk) == model


def test_the_questions_can_be_asked_again(cast: Cast) -> None:
    client, _model = held(cast)
    client.post("/vaults/team/index/switch", {"action": "try"})
    cast.vault.refresh_from_db()
    assert cast.vault.switch_report == {}
    assert Job.objects.filter(kind="switch", state="queued").exists()
    assert try_next_model(cast.vault.pk, knobs=KNOBS, most_seconds=9) is None
    assert state_of(cast.vault)[2] == "worse"
    assert EvalRun.objects.count() == 4


def test_a_trial_that_is_called_off_judges_nothing(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    prepare(cast.vault, is_worse=True)
    begin_switch(cast.vault.pk, cast.vault.embedding_model)
    assert try_next_model(cast.vault.pk, knobs=KNOBS, most_seconds=9) is None
    assert not EvalRun.objects.exists()


def test_of_many_questions_some_of_every_class_are_asked(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    note = Note.objects.get(path="Ops/Pumps.md")
    for number in range(2 * MOST_QUESTIONS):
        row = EvalQuestion.objects.create(
            vault=cast.vault, text=f"Pump {number}?", question_class=f"class {number // 30}"
        )
        row.expected.add(note)
    prepare(cast.vault, is_worse=False)
    trial = try_next_model(cast.vault.pk, knobs=KNOBS, most_seconds=0)
    assert trial is not None
    assert trial.total == MOST_QUESTIONS
    asked = EvalQuestion.objects.filter(pk__in=trial.pending)
    assert asked.values("question_class").distinct().count() >= 5


def test_a_switch_cut_before_its_last_step_goes_on(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    model = prepare(cast.vault, is_worse=False)
    assert try_next_model(cast.vault.pk, knobs=KNOBS, most_seconds=9) is None
    assert state_of(cast.vault)[2] == "agreed"
    assert finish_switch(cast.vault.pk)
    assert state_of(cast.vault) == (model, None, "")
