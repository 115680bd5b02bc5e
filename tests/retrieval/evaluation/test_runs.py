"""Evaluations: asked in slices, killed and gone on with, cancelled, compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.core.comparing import compare
from retrieval.core.types import Knobs, Mode
from retrieval.evaluation import cancel_run, go_on, start_run, would_be_worse
from retrieval.evaluation.runs import (
    is_out_of_date,
    knobs_from,
    previous_of,
    scores_by_question,
)
from retrieval.models import EvalQuestion, EvalRun
from retrieval.tasks import evaluate_job, request_evaluation
from tests.cast import Cast
from tests.retrieval.evaluation.golden import write_golden_vault
from vault.jobs import Again
from vault.models import Chunk, Job, VaultMember

pytestmark = pytest.mark.django_db(transaction=True)

KEYWORD = Knobs(mode=Mode.KEYWORD)


def measured(cast: Cast, knobs: Knobs = KEYWORD) -> EvalRun:
    run = go_on(start_run(cast.vault, knobs=knobs, user=cast.owner).pk, most_seconds=60)
    assert run is not None
    return run


def test_a_run_asks_every_question_and_measures_by_class_and_language(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = measured(cast)
    assert run.state == EvalRun.State.DONE
    assert (run.total, run.done, run.pending) == (3, 3, [])
    assert run.metrics["all"]["questions"] == 3
    assert run.metrics["by_class"].keys() == {"", "Pumps"}
    assert run.metrics["by_language"]["en"]["ndcg_10"] == 1.0
    assert run.metrics["by_language"]["de"]["questions"] == 1
    row = next(row for row in run.results if row["text"].startswith("Wer"))
    assert row["ranks"]["Ops/Valves.md"] == 1
    assert row["top"][0] == "Ops/Valves.md"
    assert run.index["chunks"] == Chunk.objects.filter(vault=cast.vault).count()


def test_the_golden_note_never_counts_as_an_answer(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    for mode in Mode:
        run = measured(cast, Knobs(mode=mode))
        assert len(run.results) == 3
        assert all("golden-questions.md" not in row["top"] for row in run.results)


def test_a_run_that_was_killed_goes_on_where_it_was(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = start_run(cast.vault, knobs=KEYWORD, user=cast.owner)
    done = go_on(run.pk, most_seconds=60)
    assert done is not None
    first = done.results[0]
    EvalRun.objects.filter(pk=run.pk).update(
        state=EvalRun.State.RUNNING, pending=run.pending[1:], results=[first]
    )
    done = go_on(run.pk, most_seconds=60)
    assert done is not None
    assert done.results[0] == first
    assert len({row["question"] for row in done.results}) == 3


def test_no_time_means_that_there_is_more_to_do(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = go_on(start_run(cast.vault, knobs=KEYWORD, user=cast.owner).pk, most_seconds=0)
    assert run is not None
    assert run.is_open
    assert run.done == 0


def test_a_cancelled_run_keeps_what_was_asked(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = start_run(cast.vault, knobs=KEYWORD, user=cast.owner)
    assert cancel_run(run)
    assert not cancel_run(run)
    after = go_on(run.pk, most_seconds=60)
    assert after is not None
    assert after.state == EvalRun.State.CANCELLED
    assert after.done == 0


def test_who_lost_the_right_meanwhile_measures_nothing(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = start_run(cast.vault, knobs=KEYWORD, user=cast.owner)
    VaultMember.objects.filter(user=cast.owner).delete()
    after = go_on(run.pk, most_seconds=60)
    assert after is not None
    assert after.state == EvalRun.State.FAILED
    assert after.results == []


def test_the_job_runs_until_nothing_is_left(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = start_run(cast.vault, knobs=KEYWORD, user=cast.owner)
    job = request_evaluation(run)
    outcome = evaluate_job(job)
    while isinstance(outcome, Again):
        outcome = evaluate_job(job)
    run.refresh_from_db()
    assert run.state == EvalRun.State.DONE
    EvalRun.objects.all().delete()
    assert evaluate_job(Job.objects.get(pk=job.pk)) is None


def test_a_bad_chunker_is_reported_as_a_regression(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    good = measured(cast)
    # What a chunker that loses text leaves behind.
    Chunk.objects.filter(vault=cast.vault).update(content="…", heading_text="", made_tokens="")
    bad = measured(cast)
    assert previous_of(bad) == good
    found = compare(scores_by_question(good), scores_by_question(bad))
    assert found.is_worse
    assert len(found.worse) == 3


def test_a_run_is_out_of_date_when_model_chunking_questions_or_knobs_changed(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = measured(cast)
    assert not is_out_of_date(run, knobs=KEYWORD)
    assert is_out_of_date(run, knobs=replace(KEYWORD, depth=20))
    question = EvalQuestion.objects.first()
    assert question is not None
    question.text += "!"
    question.save()
    assert is_out_of_date(run, knobs=KEYWORD)
    measured_again = measured(cast)
    cast.vault.chunk_tokens = 50
    cast.vault.save()
    measured_again.vault.refresh_from_db()
    assert is_out_of_date(measured_again, knobs=KEYWORD)


def test_stored_knobs_are_read_again_and_unknown_ones_left_out(cast: Cast) -> None:
    run = start_run(cast.vault, knobs=KEYWORD, user=cast.owner)
    run.refresh_from_db()
    assert knobs_from(run.knobs) == KEYWORD
    assert knobs_from({**run.knobs, "gone": 1}) == KEYWORD


def test_worse_settings_are_known_before_they_are_saved(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    hybrid = Knobs()
    assert would_be_worse(KEYWORD, KEYWORD) is None
    assert would_be_worse(KEYWORD, replace(KEYWORD, passages=3, neighbours=0)) is None
    found = would_be_worse(KEYWORD, hybrid)
    assert found is not None
    assert found.before.questions == 3


def test_without_questions_nothing_is_compared(cast: Cast) -> None:
    assert would_be_worse(KEYWORD, Knobs()) is None
