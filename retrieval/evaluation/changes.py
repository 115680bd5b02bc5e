"""Golden questions asked again of themselves, when what they are asked of has changed."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from retrieval.core.comparing import Comparison, compare
from retrieval.core.types import Knobs
from retrieval.evaluation.questions import golden_notes, read_golden_notes
from retrieval.evaluation.runs import SIZES, index_of, knobs_from, scores_by_question, start_run
from retrieval.evaluation.settings import ranking_knobs
from retrieval.models import EvalQuestion, EvalRun
from vault.models import Job, Vault
from vault.staleness import pending_chunks

# A state that was measured in one of the last runs of a vault is not measured again.
MOST_LOOKED_BACK = 30
# Work after which what is found may be other than now.
_CHANGING = ("sync", "embed", "rescrub", "switch", "lexemes")


@dataclass(frozen=True, slots=True)
class Fall:
    """The last change of a vault after which its golden questions are found less well."""

    run: EvalRun
    before: EvalRun
    found: Comparison


def start_due_runs(knobs: Knobs) -> tuple[list[EvalRun], bool]:
    """Runs for the vaults whose model, chunking, questions or search settings are such as
    no run has measured; and whether some vault is still at work and must be looked at later.
    """
    started: list[EvalRun] = []
    is_waiting = False
    for vault in Vault.objects.select_related("embedding_model__provider").order_by("pk"):
        if not _has_questions(vault):
            continue
        if _is_at_work(vault):
            is_waiting = True
        elif not _is_measured(vault, knobs):
            run = start_run(vault, knobs=knobs, user=None, label=_("after a change"))
            if run.total:
                started.append(run)
            else:
                run.delete()
    return started, is_waiting


def fall_of(vault: Vault) -> Fall | None:
    """What the newest run of its own says, when it is worse than the one before it."""
    done = EvalRun.objects.of_what_serves().filter(vault=vault, state=EvalRun.State.DONE)
    run = done.first()
    if run is None or run.user_id is not None:
        return None
    before = done.filter(user=None, created__lt=run.created).first()
    if before is None:
        before = done.filter(created__lt=run.created).first()
    if before is None:
        return None
    found = compare(scores_by_question(before), scores_by_question(run))
    return Fall(run, before, found) if found.is_worse else None


def _has_questions(vault: Vault) -> bool:
    if golden_notes(vault):
        read_golden_notes(vault)
    return EvalQuestion.objects.filter(vault=vault, expected__isnull=False).exists()


def _is_at_work(vault: Vault) -> bool:
    jobs = Job.objects.filter(state__in=Job.OPEN, kind__in=_CHANGING)
    if jobs.filter(vault=vault).exists() or jobs.filter(kind="lexemes").exists():
        return True
    model = vault.embedding_model
    return model is not None and pending_chunks(vault.pk, model).exists()


def _is_measured(vault: Vault, knobs: Knobs) -> bool:
    now, wanted = index_of(vault), ranking_knobs(knobs)
    questions = EvalQuestion.objects.filter(vault=vault, expected__isnull=False)
    texts = dict(questions.values_list("pk", "text"))
    return any(
        all(run.index.get(name) == now[name] for name in SIZES)
        and ranking_knobs(knobs_from(run.knobs)) == wanted
        and _asks(run, texts)
        for run in EvalRun.objects.filter(vault=vault, size_trial=None)[:MOST_LOOKED_BACK]
    )


def _asks(run: EvalRun, texts: dict[int, str]) -> bool:
    asked = {row["text"] for row in run.results}
    return asked | {texts.get(pk, "") for pk in run.pending} == set(texts.values())
