"""The pages of evaluation: questions, runs, one run beside another."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from retrieval.core.types import Knobs, Mode
from retrieval.evaluation import add_question, go_on, start_run
from retrieval.models import EvalQuestion, EvalRun
from tests.cast import Cast, make_vault
from tests.retrieval.evaluation.golden import QUESTIONS, write_golden_vault
from vault.models import Job, Note

pytestmark = pytest.mark.django_db(transaction=True)


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def get(user: Any, name: str, *args: Any, **params: Any) -> Any:
    return client_of(user).get(reverse(name, args=args), params)


def post(user: Any, name: str, *args: Any, **data: Any) -> Any:
    return client_of(user).post(reverse(name, args=args), data, follow=True)


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


def done(cast: Cast, *, mode: Mode, label: str) -> EvalRun:
    run = start_run(cast.vault, knobs=Knobs(mode=mode), user=cast.owner, label=label)
    after = go_on(run.pk, most_seconds=60)
    assert after is not None
    return after


def test_a_vault_without_questions_says_how_to_write_them(cast: Cast) -> None:
    content = text_of(get(cast.owner, "evaluation", "team"))
    assert "golden-questions.md" in content
    assert "Write them into a note called golden-questions.md" in content
    answer = post(cast.owner, "evaluation-start", "team")
    assert "There is no question to ask yet." in text_of(answer)
    assert not EvalRun.objects.exists()


def test_questions_and_broken_lines_are_listed(cast: Cast) -> None:
    write_golden_vault(cast.vault, QUESTIONS + "- Lost\n")
    content = text_of(get(cast.owner, "evaluation", "team"))
    assert "Ask all 3 questions" in content
    assert "golden-questions.md, line 10" in content
    assert "One line of the golden notes could not be read." in content
    assert "line 12" in content


def test_one_vault_is_opened_at_once_several_are_chosen_from(cast: Cast) -> None:
    assert get(cast.owner, "evaluations").headers["Location"] == reverse(
        "evaluation", args=["team"]
    )
    make_vault("second", owner=cast.owner)
    content = text_of(get(cast.owner, "evaluations"))
    assert "Second" in content
    assert "foreign" not in content
    assert "you own none" in text_of(get(cast.mate, "evaluations"))


def test_a_run_is_asked_of_the_worker_under_the_chosen_knobs(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    answer = post(cast.owner, "evaluation-start", "team", label="Try", mode="keyword", fusion="rrf")
    run = EvalRun.objects.get()
    assert (run.label, run.knobs["mode"], run.knobs["fusion"]) == ("Try", "keyword", "rrf")
    assert Job.objects.get(kind="evaluate").payload == {"run": run.pk}
    assert "Waiting for the worker." in text_of(answer)
    assert "hx-get" in text_of(answer)


def test_a_knob_that_means_nothing_starts_nothing(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    answer = post(cast.owner, "evaluation-start", "team", depth="many")
    assert answer.status_code == 400
    assert "Give a whole number from 10 to 500." in text_of(answer)
    assert not EvalRun.objects.exists()


def test_progress_is_shown_and_a_run_is_stopped(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = start_run(cast.vault, knobs=Knobs(mode=Mode.KEYWORD), user=cast.owner)
    EvalRun.objects.filter(pk=run.pk).update(state="running", pending=run.pending[1:])
    moving = get(cast.owner, "evaluation-state", "team", run.pk)
    assert "1 of 3 questions asked." in text_of(moving)
    assert "HX-Refresh" not in moving.headers
    stopped = post(cast.owner, "evaluation-cancel", "team", run.pk)
    assert "The run was stopped after 1 of 3 questions." in text_of(stopped)
    assert get(cast.owner, "evaluation-state", "team", run.pk).headers["HX-Refresh"] == "true"


def test_one_run_shows_figures_and_what_became_of_each_question(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = done(cast, mode=Mode.KEYWORD, label="Words")
    content = text_of(get(cast.owner, "evaluation-run", "team", run.pk))
    assert "nDCG@10" in content
    assert "By class" in content
    assert "By language" in content
    assert "place 1" in content
    assert f'href="{reverse("lab")}?q=Which+pump' in content
    assert "mode=keyword" in content


def test_two_runs_are_compared_question_by_question(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    first = done(cast, mode=Mode.KEYWORD, label="Before")
    second = done(cast, mode=Mode.KEYWORD, label="After")
    rows = [dict(row) for row in second.results]
    rows[0]["scores"] = {**rows[0]["scores"], "ndcg_10": 0.25}
    EvalRun.objects.filter(pk=second.pk).update(results=rows)
    content = text_of(get(cast.owner, "evaluation-run", "team", second.pk))
    assert "Worse: nDCG@10 −0.250 over 3 questions." in content
    assert "0 better · 1 worse · 2 the same" in content
    other_way = get(cast.owner, "evaluation-run", "team", first.pk, **{"with": second.pk})
    assert "Better: nDCG@10 +0.250" in text_of(other_way)
    for odd in ("x", "9" * 30, str(second.pk)):
        assert (
            get(cast.owner, "evaluation-run", "team", second.pk, **{"with": odd}).status_code == 200
        )


def test_a_question_is_added_and_removed_by_hand(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    added = post(
        cast.owner,
        "evaluation-add",
        "team",
        question="Who sleeps?",
        notes="[[Heron]]\nOps/Pumps.md\n",
        **{"class": "Who"},
    )
    assert "The question was added." in text_of(added)
    row = EvalQuestion.objects.get(text="Who sleeps?")
    assert (row.created_by, row.question_class, row.expected.count()) == (cast.owner, "Who", 2)
    removed = post(cast.owner, "evaluation-remove", "team", row.pk)
    assert "“Who sleeps?” was removed." in text_of(removed)
    assert post(cast.owner, "evaluation-remove", "team", row.pk).status_code == 404


def test_a_question_that_cannot_be_added_keeps_what_was_typed(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    answer = post(cast.owner, "evaluation-add", "team", question="Who?", notes="Nobody")
    assert answer.status_code == 400
    content = text_of(answer)
    assert "There is no note “Nobody”." in content
    assert 'value="Who?"' in content
    assert ">Nobody</textarea>" in content
    nobody = post(cast.owner, "evaluation-add", "team", question="Who?", notes="")
    assert "Name at least one note" in text_of(nobody)


def test_a_question_whose_notes_are_gone_says_that_it_is_not_asked(cast: Cast) -> None:
    note = Note.objects.create(
        vault=cast.vault,
        path="A.md",
        title="A",
        content_hash="0",
        file_modified="2026-01-01T00:00Z",
    )
    add_question(cast.vault, "Who?", expected=[note])
    note.delete()
    assert "its notes are gone" in text_of(get(cast.owner, "evaluation", "team"))


def test_questions_are_handed_out_as_a_note(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    answer = get(cast.owner, "evaluation-markdown", "team")
    assert answer.headers["Content-Type"].startswith("text/markdown")
    assert "- Which pump stands in the cellar? -> [[Ops/Pumps]]" in answer.content.decode()


def test_a_change_since_the_last_run_is_told(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    done(cast, mode=Mode.HYBRID, label="")
    assert "changed since the last run" not in text_of(get(cast.owner, "evaluation", "team"))
    cast.vault.chunk_tokens = 99
    cast.vault.save()
    assert "changed since the last run" in text_of(get(cast.owner, "evaluation", "team"))


def test_a_run_that_failed_before_anything_was_asked_shows_no_figures(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    run = start_run(cast.vault, knobs=Knobs(), user=cast.mate)
    assert go_on(run.pk, most_seconds=1) is not None
    client = Client()
    client.force_login(cast.owner)
    page = client.get(f"/lab/evaluation/team/runs/{run.pk}").content.decode()
    assert "The run failed before anything was asked." in page
    assert "Who started it may no longer do so." in page
    assert "Every question, the worst first" not in page
    listed = client.get("/lab/evaluation/team/").content.decode()
    assert "Who started it may no longer do so." in listed
