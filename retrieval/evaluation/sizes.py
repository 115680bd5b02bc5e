"""Other sizes of passages tried with golden questions, before an owner saves them.

The notes are copied into two vaults without members, cut as they are and by the new sizes,
embedded, and asked. Where a vault is too large for that, the notes that matter most to the
questions and some others stand for it.
"""

from __future__ import annotations

import time

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from providers.core.errors import LimitReached, ProviderError
from retrieval.core.types import Knobs
from retrieval.evaluation.questions import read_golden_notes
from retrieval.evaluation.runs import cancel_run, some_of
from retrieval.evaluation.size_steps import Broken, Stopped, Work, take_step
from vault.access import owned_by
from vault.core.passage_sizes import PassageSizes
from vault.indexing import reading_options
from vault.locks import Busy, only_one
from vault.locks import Work as Lock
from vault.models import Chunk, Job, SizeTrial, Vault
from vault.staleness import fingerprint

# Each is asked twice.
MOST_QUESTIONS = 60


class CannotTry(ValueError):
    """`str()` says why these sizes cannot be tried, and what would mend it."""


def key_of(trial_id: int) -> str:
    """The key of the job that works at a trial."""
    return f"try_sizes:{trial_id}"


def begin_trial(vault: Vault, sizes: PassageSizes, *, user: User | None) -> SizeTrial:
    """A queued trial of `sizes` against those that `vault` has. Raises CannotTry."""
    read_golden_notes(vault)
    questions = some_of(vault, MOST_QUESTIONS)
    refusal = _refusal(vault, sizes, questions)
    if refusal:
        raise CannotTry(refusal)
    now, model = vault.passage_sizes, vault.embedding_model
    try:
        with transaction.atomic():
            return SizeTrial.objects.create(
                vault=vault,
                user=user,
                before_tokens=now.tokens,
                before_overlap=now.overlap,
                before_minimum=now.minimum,
                after_tokens=sizes.tokens,
                after_overlap=sizes.overlap,
                after_minimum=sizes.minimum,
                embedding_model=model,
                space=fingerprint(model) if model else "",
                questions=questions,
                total=len(questions),
            )
    except IntegrityError:
        raise CannotTry(
            _("Other sizes of this vault are being tried: wait for them, or stop that trial.")
        ) from None


def go_on_with_trial(trial_id: int, *, knobs: Knobs, most_seconds: float) -> SizeTrial | None:
    """Work at a trial for about that long; None when it is gone.

    What was done is committed in small steps, so that a trial that is killed goes on where it
    was. Whoever began it must still own the vault. Raises vault.locks.Busy when another
    process is at it, and ProviderError when the embedding model is the trouble.
    """
    with only_one(Lock.TRIAL, trial_id):
        trial = _read(trial_id)
        if trial is None or not trial.is_open:
            return trial
        refusal = _who_may_not(trial)
        if refusal:
            return end_trial(trial, SizeTrial.State.FAILED, refusal)
        work = Work(trial, knobs, until=time.monotonic() + most_seconds)
        work.save(state=SizeTrial.State.RUNNING, trouble="")
        try:
            take_step(work)
            while trial.is_open and time.monotonic() < work.until:
                take_step(work)
        except Stopped:
            return _read(trial_id)
        except Broken as broken:
            return end_trial(trial, SizeTrial.State.FAILED, str(broken))
        except ProviderError as error:
            if not isinstance(error, LimitReached) and not error.permanent:
                raise
            return end_trial(trial, SizeTrial.State.FAILED, f"{error} {error.mend}")
        return _read(trial_id)


def end_trial(trial: SizeTrial, state: SizeTrial.State, error: str = "") -> SizeTrial:
    """Stop a trial that goes on, with its runs. Its copies are left to be removed."""
    going_on = SizeTrial.objects.filter(pk=trial.pk, state__in=SizeTrial.OPEN)
    going_on.update(state=state, error=error, trouble="", finished=timezone.now())
    for run in trial.runs.all():
        cancel_run(run)
    trial.refresh_from_db()
    return trial


def note_trouble(trial_id: int, reason: str) -> None:
    """Say why a trial waits."""
    SizeTrial.objects.filter(pk=trial_id, state__in=SizeTrial.OPEN).update(trouble=reason)


def end_abandoned_trials() -> None:
    """End as failed what nobody works at any more: no job waits, no process holds it."""
    for trial in SizeTrial.objects.filter(state__in=SizeTrial.OPEN).order_by("pk"):
        job = Job.objects.filter(key=key_of(trial.pk)).order_by("-pk").first()
        if job is not None and job.state in Job.OPEN:
            continue
        if _is_held(trial) or (job is None and _is_new(trial)):
            continue
        reason = job.last_error if job is not None else ""
        said = _("Whoever worked at it was stopped: try the sizes again.")
        end_trial(trial, SizeTrial.State.FAILED, f"{said} {reason}".strip())


def largest_passage(vault: Vault) -> int:
    """Tokens that a passage of `vault` has at most, whatever its settings say."""
    return reading_options(vault).limits.maximum


def _refusal(vault: Vault, sizes: PassageSizes, questions: list[int]) -> str:
    if sizes == vault.passage_sizes:
        return _("These are the sizes that the vault has: type others to try them.")
    if not Chunk.objects.filter(vault=vault).exists():
        return _("The vault has no passages yet: wait until its notes are read.")
    if not questions:
        return _(
            "There is no golden question to ask. Write some into a note called "
            "golden-questions.md, or add them on the page Evaluation."
        )
    return ""


def _who_may_not(trial: SizeTrial) -> str:
    if trial.vault.state in Vault.GONE:
        return _("The vault was deleted.")
    if trial.user is not None and not owned_by(trial.user).filter(pk=trial.vault_id).exists():
        return _("Who began it owns the vault no more.")
    return ""


def _is_held(trial: SizeTrial) -> bool:
    try:
        with only_one(Lock.TRIAL, trial.pk):
            return False
    except Busy:
        return True


def _is_new(trial: SizeTrial) -> bool:
    """Whether its job may not be asked for yet, or its command not have got to it."""
    return (timezone.now() - trial.created).total_seconds() < 60


def _read(trial_id: int) -> SizeTrial | None:
    return (
        SizeTrial.objects.select_related(
            "vault", "user", "before_vault", "after_vault", "embedding_model__provider"
        )
        .filter(pk=trial_id)
        .first()
    )
