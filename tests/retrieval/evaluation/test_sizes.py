"""Other sizes of passages are tried with copies that nobody sees, before they are saved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User

from providers.core.errors import Unreachable
from providers.models import UsageRecord
from retrieval.core.types import Knobs, Mode
from retrieval.evaluation import sizes as trials
from retrieval.evaluation import start_due_runs
from retrieval.evaluation.sizes import (
    CannotTry,
    begin_trial,
    end_abandoned_trials,
    go_on_with_trial,
)
from retrieval.models import EvalRun
from retrieval.tasks import request_trial, stop_trial, tidy_trials_job, try_sizes_job
from tests.cast import Cast
from tests.retrieval.evaluation.golden import write_golden_vault
from tests.retrieval.library import make_embedding_model, write_markdown
from vault import jobs
from vault.access import scope_for
from vault.core.passage_sizes import PassageSizes
from vault.embedding import embed_pending
from vault.index_tasks import request_tidied_trials
from vault.jobs import RetryLater
from vault.locks import Work, only_one
from vault.models import Chunk, ChunkVector, Job, Note, SizeTrial, Vault, VaultMember
from vault.removal_tasks import remove_job
from vault.size_trials import trial_of

pytestmark = pytest.mark.django_db

SMALL = PassageSizes(50, 0, 0)
MEANING, WORDS = Knobs(mode=Mode.SEMANTIC), Knobs(mode=Mode.KEYWORD)


def write_vault(vault: Vault) -> None:
    """The golden vault with vectors of its own, of a model that counts as its first one."""
    write_golden_vault(vault)
    ChunkVector.objects.filter(vault=vault).delete()
    embed_pending(vault.pk, most_seconds=60)


def write_alone(vault: Vault) -> None:
    write_markdown(vault, "Alone.md", "Nobody asks.")


def begin(cast: Cast, sizes: PassageSizes = SMALL, user: User | None = None) -> SizeTrial:
    return begin_trial(Vault.objects.get(pk=cast.vault.pk), sizes, user=user)


def work(trial: SizeTrial, *, knobs: Knobs = MEANING, seconds: float = 60.0) -> SizeTrial:
    while True:
        found = go_on_with_trial(trial.pk, knobs=knobs, most_seconds=seconds)
        assert found is not None
        if not found.is_open:
            return found


def remove() -> None:
    """What the worker does about removals that were asked for."""
    while (job := Job.objects.filter(kind="remove", state="queued").first()) is not None:
        Job.objects.filter(pk=job.pk).update(state="done")
        assert remove_job(job) is None


def test_both_cuts_are_asked_and_nothing_is_left_of_them(cast: Cast) -> None:
    write_vault(cast.vault)
    before = Chunk.objects.count()
    trial = begin(cast, user=cast.owner)
    request_trial(trial)
    job = Job.objects.get(kind="try_sizes")
    while try_sizes_job(job) is not None:
        pass
    trial.refresh_from_db()
    assert (trial.state, trial.error) == ("done", "")
    assert (len(trial.pool), trial.notes) == (3, 3)
    report = trial.report
    assert report["questions"] == 3
    assert report["better"] + report["worse"] + report["same"] == 3
    assert set(report["before"]) == {
        "ndcg_10", "recall_10", "recall_20", "mrr_10", "questions", "passages", "tokens", "shown",
    }  # fmt: skip
    remove()
    assert not Vault.every.filter(state="trial").exists()
    assert Chunk.objects.count() == before
    runs = EvalRun.objects.filter(size_trial=trial)
    assert {run.state for run in runs} == {"done"}
    assert runs.get(pk=report["run"]).index["chunk_tokens"] == 50


def test_passages_as_they_are_take_their_vectors_from_the_vault(cast: Cast) -> None:
    write_vault(cast.vault)
    UsageRecord.objects.all().delete()
    trial = work(begin(cast, PassageSizes(399, 60, 60), user=cast.owner))
    assert trial.state == "done"
    assert trial.report["before"]["passages"] == trial.report["after"]["passages"] == 3
    assert trial.report["same"] == 3
    assert not UsageRecord.objects.filter(purpose="embed_passages").exists()


def test_copies_are_in_no_list_no_scope_and_no_history(cast: Cast) -> None:
    write_vault(cast.vault)
    slugs = set(Vault.objects.values_list("slug", flat=True))
    entries = LogEntry.objects.count()
    trial = begin(cast)
    while trial.stage != "ask":
        found = go_on_with_trial(trial.pk, knobs=MEANING, most_seconds=0.01)
        assert found is not None
        trial = found
    copies = Vault.every.filter(state="trial")
    assert copies.count() == 2
    assert not VaultMember.objects.filter(vault__in=copies).exists()
    assert set(Vault.objects.values_list("slug", flat=True)) == slugs
    assert {v.slug for v in Vault.objects.present()} == slugs
    assert not set(scope_for(cast.owner).vault_ids) & {copy.pk for copy in copies}
    assert LogEntry.objects.count() == entries
    assert start_due_runs(MEANING)[0][0].vault == cast.vault


def test_what_is_embedded_counts_as_the_use_of_who_asked(cast: Cast) -> None:
    write_markdown(cast.vault, "Long.md", "# Long\n\n" + "\n\n".join(
        f"Paragraph {n} speaks of subject {n} and of what it may be good for in the end."
        for n in range(30)
    ))  # fmt: skip
    write_vault(cast.vault)
    UsageRecord.objects.all().delete()
    trial = work(begin(cast, user=cast.owner))
    used = UsageRecord.objects.filter(purpose="embed_passages")
    assert {record.user_id for record in used} == {cast.owner.pk}
    assert trial.spent["after"]["tokens"] == sum(record.input_tokens for record in used) > 0
    assert trial.report["after"]["passages"] > trial.report["before"]["passages"]


BIRDS, PLACES = ("heron", "kestrel", "grebe"), ("harbour", "quarry", "orchard")


def spoil(cast: Cast) -> None:
    """A vault in which small passages lose what tells the notes apart: each note speaks of a
    bird, then of a place, and no other one of both."""
    questions = []
    for bird in BIRDS:
        for place in PLACES:
            name = f"{bird[0]}{place[0]}"
            rest = " ".join(f"{name}{n} was noted by {name}{n}x." for n in range(12))
            text = f"It is about the {bird}. {rest}\n\nIt is about the {place}. {rest}\n"
            write_markdown(cast.vault, f"{name}.md", text)
            questions.append(f"- {bird} {place} -> [[{name}]]")
    write_markdown(cast.vault, "golden-questions.md", "\n".join(questions))
    cast.vault.embedding_model = make_embedding_model()
    cast.vault.save()
    embed_pending(cast.vault.pk, most_seconds=60)


def test_sizes_that_find_less_are_told_so(cast: Cast) -> None:
    spoil(cast)
    trial = work(begin(cast), knobs=WORDS)
    assert trial.report["is_worse"]
    assert trial.report["after"]["ndcg_10"] < trial.report["before"]["ndcg_10"] - 0.005
    assert trial.report["worse"] > trial.report["better"]
    assert trial_of(cast.vault, SMALL) == trial
    assert trial_of(cast.vault, PassageSizes(60, 0, 0)) is None


def test_a_trial_without_meaning_says_nothing_of_it(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = begin(cast)
    while trial.stage != "ask":
        trial = go_on_with_trial(trial.pk, knobs=MEANING, most_seconds=0) or trial
    ChunkVector.objects.filter(vault=trial.after_vault).delete()
    trial = work(trial)
    assert trial.state == "failed"
    assert "could not be asked by meaning, so nothing is said" in trial.error


def test_a_trial_is_of_the_sizes_and_the_model_that_were(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = work(begin(cast))
    assert trial_of(cast.vault, SMALL) == trial
    other = Vault.objects.get(pk=cast.vault.pk)
    other.chunk_tokens = 300
    assert trial_of(other, SMALL) is None
    other = Vault.objects.get(pk=cast.vault.pk)
    other.embedding_model = make_embedding_model("other")
    assert trial_of(other, SMALL) is None


def test_a_trial_killed_in_the_middle_goes_on_where_it_was(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = begin(cast)
    stages = set()
    while trial.is_open:  # each go ends after one step, as if its worker died there
        found = go_on_with_trial(trial.pk, knobs=MEANING, most_seconds=0)
        assert found is not None
        trial = found
        stages.add(trial.stage)
    assert (trial.state, stages) == ("done", {"choose", "copy", "embed", "ask"})
    assert Vault.every.filter(state="trial").count() == 2
    assert EvalRun.objects.filter(size_trial=trial).count() == 2


def test_a_trial_whose_worker_died_for_good_is_ended_and_cleared_away(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = begin(cast)
    job = request_trial(trial)
    while (go_on_with_trial(trial.pk, knobs=MEANING, most_seconds=0.01) or trial).stage != "ask":
        pass
    tidy_trials_job(job)
    trial.refresh_from_db()
    assert trial.is_open, "its job waits"
    Job.objects.filter(pk=job.pk).update(state="failed", last_error="Gave up after 5 attempts.")
    tidy_trials_job(job)
    trial.refresh_from_db()
    assert trial.state == "failed"
    assert "Gave up after 5 attempts." in trial.error
    assert not EvalRun.objects.filter(size_trial=trial, state__in=EvalRun.OPEN).exists()
    remove()
    assert not Vault.every.filter(state="trial").exists()
    assert begin(cast).is_open, "and it can be tried again"


def test_copies_of_a_trial_that_goes_on_are_not_removed(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = begin(cast)
    while (go_on_with_trial(trial.pk, knobs=MEANING, most_seconds=0.01) or trial).stage != "ask":
        pass
    copies = Vault.every.filter(state="trial").first()
    assert copies is not None
    jobs.want("remove", key="remove:x", payload={"vault": copies.pk})
    remove()
    assert Vault.every.filter(state="trial").count() == 2


def test_stopping_ends_it_and_its_copies(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = begin(cast)
    while (go_on_with_trial(trial.pk, knobs=MEANING, most_seconds=0.01) or trial).stage != "ask":
        pass
    assert stop_trial(trial)
    assert not stop_trial(trial)
    found = go_on_with_trial(trial.pk, knobs=MEANING, most_seconds=9)
    assert found is not None
    assert found.state == "cancelled"
    remove()
    assert not Vault.every.filter(state="trial").exists()
    assert trial_of(cast.vault, SMALL) is None


@pytest.mark.parametrize(
    ("sizes", "write", "said"),
    [
        (PassageSizes(400, 60, 60), write_vault, "the sizes that the vault has"),
        (SMALL, write_alone, "no golden question to ask"),
    ],
)
def test_what_cannot_be_tried_says_why(
    cast: Cast, sizes: PassageSizes, write: Callable[[Vault], object], said: str
) -> None:
    write(cast.vault)
    with pytest.raises(CannotTry, match=said):
        begin(cast, sizes)


def test_an_empty_vault_has_nothing_to_cut(cast: Cast) -> None:
    with pytest.raises(CannotTry, match="no passages yet"):
        begin(cast)


def test_one_trial_of_a_vault_at_a_time(cast: Cast) -> None:
    write_vault(cast.vault)
    begin(cast)
    with pytest.raises(CannotTry, match="are being tried"):
        begin(cast, PassageSizes(60, 0, 0))


def test_who_lost_the_vault_tries_nothing_in_it(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = begin(cast, user=cast.owner)
    VaultMember.objects.filter(vault=cast.vault, user=cast.owner).update(role="reader")
    found = work(trial)
    assert (found.state, found.error) == ("failed", "Who began it owns the vault no more.")


def test_a_deleted_vault_is_not_tried(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = begin(cast)
    Vault.objects.filter(pk=cast.vault.pk).update(state="deleted")
    assert work(trial).error == "The vault was deleted."


def test_copies_go_although_the_vault_went_first(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = begin(cast)
    while (go_on_with_trial(trial.pk, knobs=MEANING, most_seconds=0) or trial).stage != "embed":
        pass
    Vault.objects.get(pk=cast.vault.pk).delete()
    assert not SizeTrial.objects.exists()
    request_tidied_trials()
    job = Job.objects.get(kind="tidy_trials")
    tidy_trials_job(job)
    remove()
    assert not Vault.every.filter(state="trial").exists()
    Job.objects.all().delete()
    request_tidied_trials()
    assert not Job.objects.exists(), "there is nothing to tidy any more"


def test_a_model_that_is_away_is_waited_for_and_then_given_up(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vault(cast.vault)
    trial = begin(cast)
    job = request_trial(trial)
    job.attempts = 1

    def away(*_args: object, **_options: object) -> None:
        raise Unreachable("The embedding model cannot be reached.")

    monkeypatch.setattr("retrieval.tasks.go_on_with_trial", away)
    with pytest.raises(RetryLater):
        try_sizes_job(job)
    trial.refresh_from_db()
    assert trial.is_open
    assert "cannot be reached" in trial.trouble
    job.attempts = job.most_attempts
    with pytest.raises(RetryLater):
        try_sizes_job(job)
    trial.refresh_from_db()
    assert trial.state == "failed"
    assert "cannot be reached" in trial.error


def test_a_trial_that_a_process_holds_is_not_ended(cast: Cast) -> None:
    write_vault(cast.vault)
    trial = begin(cast)
    with only_one(Work.TRIAL, trial.pk):
        end_abandoned_trials()
    trial.refresh_from_db()
    assert trial.is_open


def test_of_a_large_vault_some_notes_are_taken(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    write_vault(cast.vault)
    for number in range(20):
        write_markdown(cast.vault, f"Other/{number}.md", f"# Other {number}\n\nOf nothing much.")
    embed_pending(cast.vault.pk, most_seconds=60)
    monkeypatch.setattr("retrieval.evaluation.size_steps.MOST_PASSAGES", 6)
    trial = work(begin(cast))
    assert (len(trial.pool), trial.notes) == (6, 23)
    expected = set(Note.objects.filter(path__regex="Heron|Pumps|Valves", vault=cast.vault)
                   .values_list("pk", flat=True))  # fmt: skip
    assert expected <= set(trial.pool)


def test_the_questions_of_a_trial_are_as_many_as_it_may_ask(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_vault(cast.vault)
    monkeypatch.setattr(trials, "MOST_QUESTIONS", 2)
    assert len(begin(cast).questions) == 2
