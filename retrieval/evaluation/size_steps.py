"""The steps of a trial of passage sizes: choose notes, copy, embed, ask, judge.

Each step is small and committed; what comes next is read from the trial's row.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import Count, Sum
from django.db.models.functions import MD5
from django.utils import timezone
from django.utils.translation import gettext as _

from providers.limits import FREE_KINDS, refuse_over_limit
from providers.models import EmbeddingModel, UsageRecord
from providers.usage import hear_usage
from retrieval.core.comparing import Comparison, compare
from retrieval.core.pool import choose_pool
from retrieval.core.types import Knobs, Mode
from retrieval.evaluation.runs import go_on, index_of, scores_by_question
from retrieval.evaluation.scoring import scores_json
from retrieval.models import EvalQuestion, EvalRun
from retrieval.search import search_notes
from vault.access import whole_vault
from vault.embedding import EmbedProgress, embed_pending
from vault.lexemes import refresh_lexemes
from vault.models import Chunk, Note, SizeTrial, Vault
from vault.staleness import pending_chunks
from vault.trial_copies import copy_some, make_copies_vault

# Passages of each vault of copies, at most: minutes of embedding on one core.
MOST_PASSAGES = 2_000
# Notes that search ranks for a question, each of which could be taken for its answer.
RANKED = 50
# Questions that are told as examples of what is found less well.
MOST_EXAMPLES = 5
# Seconds between two looks at whether somebody stopped it.
EMBED_SLICE = 2.0


class Stopped(Exception):
    """Somebody ended the trial meanwhile."""


class Broken(Exception):
    """The trial cannot come to a result; `str()` says why."""


@dataclass(slots=True)
class Work:
    """One go at a trial, until a monotonic time."""

    trial: SizeTrial
    knobs: Knobs
    until: float

    @property
    def seconds(self) -> float:
        """That are left, and a little at least."""
        return max(0.1, self.until - time.monotonic())

    @property
    def copies(self) -> tuple[Vault, Vault]:
        """The vaults of copies, as the vault is cut and as it might be."""
        before, after = self.trial.before_vault, self.trial.after_vault
        if before is None or after is None:
            raise Broken(_("The copies of the notes are gone: try the sizes again."))
        return before, after

    def save(self, **columns: Any) -> None:
        """Write columns of a trial that goes on. Raises Stopped when it does not."""
        for name, value in columns.items():
            setattr(self.trial, name, value)
        rows = SizeTrial.objects.filter(pk=self.trial.pk, state__in=SizeTrial.OPEN)
        if not rows.update(**columns):
            raise Stopped


def take_step(work: Work) -> None:
    """Do the next small piece of the trial. Raises Stopped, Broken, Busy or ProviderError."""
    steps = {
        SizeTrial.Stage.CHOOSE: _choose,
        SizeTrial.Stage.COPY: _copy,
        SizeTrial.Stage.EMBED: _embed,
        SizeTrial.Stage.ASK: _ask,
    }
    steps[SizeTrial.Stage(work.trial.stage)](work)


def _choose(work: Work) -> None:
    """See what search ranks for a question; after the last one, choose the notes."""
    trial = work.trial
    waiting = [pk for pk in trial.questions if str(pk) not in trial.ranked]
    if waiting:
        question = EvalQuestion.objects.filter(pk=waiting[0]).first()
        found = _ranked(trial.vault, question.text, work.knobs) if question else []
        ranked = {**trial.ranked, str(waiting[0]): found}
        work.save(ranked=ranked, done=len(ranked), total=len(trial.questions))
        return
    pool = _pool_of(trial)
    if not pool:
        raise Broken(_("None of the notes that are expected is there any more."))
    notes = Note.objects.filter(vault=trial.vault, chunks__isnull=False).distinct().count()
    with transaction.atomic():
        before = make_copies_vault(trial.vault, trial.before)
        after = make_copies_vault(trial.vault, trial.after)
        total = 2 * len(pool)
        work.save(pool=pool, notes=notes, before_vault=before, after_vault=after)
        work.save(stage=SizeTrial.Stage.COPY, done=0, total=total)


def _ranked(vault: Vault, text: str, knobs: Knobs) -> list[int]:
    found = async_to_sync(search_notes)(
        text, scope=whole_vault(vault), mode=knobs.mode, limit=RANKED, knobs=knobs
    )
    return [pk for hit in found.hits for pk in (hit.note_id, *(c.note_id for c in hit.also_in))]


def _pool_of(trial: SizeTrial) -> list[int]:
    questions = EvalQuestion.objects.filter(pk__in=trial.questions)
    expected = set(questions.filter(expected__isnull=False).values_list("expected", flat=True))
    chunks = Chunk.objects.filter(vault=trial.vault)
    others = (
        Note.objects.filter(vault=trial.vault, chunks__isnull=False)
        .annotate(place=MD5("path"))
        .order_by("place")
        .distinct()
        .values_list("pk", flat=True)[:MOST_PASSAGES]
    )
    spread = list(others)
    wanted = {*expected, *spread, *(pk for each in trial.ranked.values() for pk in each)}
    counted = chunks.filter(note_id__in=wanted).order_by().values_list("note_id")
    weights = {
        note: max(passages, -(-tokens // trial.after_tokens))
        for note, passages, tokens in counted.annotate(n=Count("pk"), tokens=Sum("tokens"))
    }
    ranked = list(trial.ranked.values())
    return choose_pool(expected, ranked, spread, weights=weights, most=MOST_PASSAGES)


def _copy(work: Work) -> None:
    before, after = work.copies
    pool = work.trial.pool
    left = [copy_some(before, pool), 0]
    left[1] = copy_some(after, pool)
    work.save(done=max(0, 2 * len(pool) - sum(left)))
    if any(left):
        return
    refresh_lexemes()
    work.save(stage=SizeTrial.Stage.EMBED, done=0, total=_waiting(before) + _waiting(after))


def _waiting(copies: Vault) -> int:
    model = copies.embedding_model
    return pending_chunks(copies.pk, model).count() if model is not None else 0


def _embed(work: Work) -> None:
    """Embed for a moment: first what has its vectors already, then the new passages."""
    for copies, side in zip(work.copies, ("before", "after"), strict=True):
        if copies.embedding_model is None or not _waiting(copies):
            continue
        _refuse_over_limit(work.trial, copies.embedding_model)
        progress, records = _embedded(copies.pk, min(EMBED_SLICE, work.seconds))
        UsageRecord.objects.filter(pk__in=[each.pk for each in records]).update(
            user_id=work.trial.user_id
        )
        done = work.trial.done + progress.done
        spent = _added(work.trial.spent, side, records)
        work.save(done=min(done, work.trial.total), spent=spent)
        return
    _begin_asking(work)


def _embedded(vault_id: int, seconds: float) -> tuple[EmbedProgress, list[UsageRecord]]:
    with hear_usage() as records:
        progress = embed_pending(vault_id, most_seconds=seconds)
    return progress, records


def _refuse_over_limit(trial: SizeTrial, model: EmbeddingModel) -> None:
    if model.provider.kind not in FREE_KINDS:
        refuse_over_limit(trial.user_id)


def _added(spent: dict[str, Any], side: str, records: list[UsageRecord]) -> dict[str, Any]:
    """What the vectors of each side took so far: tokens, and USD as text."""
    before = spent.get(side, {"tokens": 0, "cost": "0"})
    tokens = before["tokens"] + sum(record.input_tokens for record in records)
    cost = Decimal(before["cost"]) + sum((record.cost for record in records), Decimal(0))
    return {**spent, side: {"tokens": tokens, "cost": str(cost)}}


def _begin_asking(work: Work) -> None:
    trial = work.trial
    before, after = work.copies
    with transaction.atomic():
        first = _run(work, before, None)
        _run(work, after, first)
        work.save(stage=SizeTrial.Stage.ASK, done=0, total=2 * len(trial.questions))


def _run(work: Work, copies: Vault, against: EvalRun | None) -> EvalRun:
    trial = work.trial
    sizes = trial.before if against is None else trial.after
    label = _("passages of %(tokens)d, overlap %(overlap)d, smallest %(least)d, on trial")
    values = {"tokens": sizes.tokens, "overlap": sizes.overlap, "least": sizes.minimum}
    return EvalRun.objects.create(
        vault=trial.vault,
        asked_vault=copies,
        size_trial=trial,
        user=trial.user,
        label=(label % values)[:100],
        against=against,
        knobs=asdict(work.knobs),
        index=index_of(copies),
        pending=trial.questions,
        total=len(trial.questions),
    )


def _ask(work: Work) -> None:
    """Ask for a moment; after the last question, say what was found."""
    trial = work.trial
    runs = list(trial.runs.order_by("pk"))
    for run in runs:
        if run.is_open:
            go_on(run.pk, most_seconds=min(1.0, work.seconds))
            runs = list(trial.runs.order_by("pk"))
            work.save(done=sum(each.done for each in runs))
            return
    if any(run.state == EvalRun.State.CANCELLED for run in runs):
        raise Broken(_("One of its runs was stopped."))
    failed = next((run for run in runs if run.state != EvalRun.State.DONE), None)
    if failed is not None or len(runs) != 2:
        raise Broken(failed.error if failed else _("Its runs are gone."))
    _judge(work, *runs)


def _judge(work: Work, before: EvalRun, after: EvalRun) -> None:
    if work.knobs.mode is not Mode.KEYWORD and work.trial.embedding_model_id is not None:
        _refuse_unequal(before, after)
    found = compare(scores_by_question(before), scores_by_question(after))
    work.save(
        report=_report(work, found, after),
        state=SizeTrial.State.DONE,
        done=work.trial.total,
        finished=timezone.now(),
    )


def _refuse_unequal(before: EvalRun, after: EvalRun) -> None:
    """Say nothing where the model was away for some questions: words alone tell of neither."""
    unmeant = [
        {row["text"]: row.get("unmeant", "") for row in run.results if row.get("unmeant")}
        for run in (before, after)
    ]
    first, second = unmeant
    alone = first.keys() ^ second.keys()
    is_away = first and len(first) == len(before.results)
    if alone or is_away:
        reason = next(reason for each in unmeant for reason in each.values())
        raise Broken(
            _("Some questions could not be asked by meaning, so nothing is said. %(reason)s")
            % {"reason": reason}
        )


def _report(work: Work, found: Comparison, after: EvalRun) -> dict[str, Any]:
    counted = {
        side: Chunk.objects.filter(vault=copies).aggregate(n=Count("pk"), tokens=Sum("tokens"))
        for side, copies in zip(("before", "after"), work.copies, strict=True)
    }
    return {
        "run": after.pk,
        "questions": found.before.questions,
        "is_worse": found.is_worse,
        "is_better": found.is_better,
        "better": len(found.better),
        "worse": len(found.worse),
        "same": found.same,
        "examples": [change.key for change in found.worse[:MOST_EXAMPLES]],
        **{
            side: {
                **scores_json(scores),
                # As every page shows it: a template would round a half the other way.
                "shown": f"{scores_json(scores)['ndcg_10']:.3f}",
                "passages": counted[side]["n"],
                "tokens": int(counted[side]["tokens"] or 0),
            }
            for side, scores in (("before", found.before), ("after", found.after))
        },
    }
