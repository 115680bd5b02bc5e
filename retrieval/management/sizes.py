"""Other sizes of passages tried from the command line, in the process of the command."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import CommandError

from providers.core.errors import ProviderError
from providers.presenters import money
from retrieval.core.types import Knobs
from retrieval.evaluation.size_estimate import trial_estimate
from retrieval.evaluation.sizes import CannotTry, begin_trial, end_trial, go_on_with_trial
from retrieval.presenters.evaluation import TITLES
from retrieval.presenters.sizes import sizes_words, trial_verdict
from vault.core.passage_sizes import PassageSizes
from vault.locks import Busy, Work, only_one
from vault.management.progress import progress_bar
from vault.models import SizeTrial, Vault
from vault.removal import remove_rows
from vault.settings_forms import HOW_NOTES_ARE_CUT, PassageSizesForm
from vault.tasks import request_lexemes

_SLICE = 5.0


def wanted_sizes(vault: Vault, options: dict[str, Any]) -> PassageSizes:
    """The sizes that the options name, the others as `vault` has them. Raises CommandError for
    sizes that no vault may have."""
    typed = {
        name: getattr(vault, name) if options[name] is None else options[name]
        for name in HOW_NOTES_ARE_CUT
    }
    form = PassageSizesForm(typed)
    if not form.is_valid():
        name, errors = next(iter(form.errors.items()))
        raise CommandError(
            f"--{name.replace('_', '-')}: {' '.join(map(str, errors))}", returncode=2
        )
    return form.sizes


def try_sizes(vault: Vault, sizes: PassageSizes, *, knobs: Knobs, may_cost: bool) -> SizeTrial:
    """Try `sizes` to the end and remove the copies, whatever happens. Raises CommandError."""
    cost = trial_estimate(vault, sizes).cost
    if cost and not may_cost:
        raise CommandError(
            f"The vectors of the copies cost {money(cost)} at most: add --yes for that.",
            returncode=2,
        )
    try:
        trial = begin_trial(vault, sizes, user=None)
    except CannotTry as refused:
        raise CommandError(str(refused)) from refused
    try:
        with only_one(Work.TRIAL, trial.pk), progress_bar(vault.slug) as tell:
            while trial.is_open:
                trial = _gone_on(trial, knobs)
                tell(trial.stage, trial.done, trial.total)
    except ProviderError as error:
        raise CommandError(f"{error} {error.mend}") from error
    finally:
        trial = end_trial(trial, SizeTrial.State.CANCELLED)
        _remove_copies(trial)
    if trial.state != SizeTrial.State.DONE:
        raise CommandError(trial.error or "The trial was stopped.")
    return trial


def trial_report(trial: SizeTrial) -> dict[str, Any]:
    """A finished trial as JSON has it."""
    sizes = {"before": trial.before, "after": trial.after}
    return {
        "name": trial.vault.slug,
        "verdict": trial_verdict(trial),
        "notes_tried": len(trial.pool),
        "notes": trial.notes,
        **trial.report,
        **{
            side: {
                "chunk_tokens": tried.tokens,
                "chunk_overlap": tried.overlap,
                "chunk_minimum": tried.minimum,
                "spent": trial.spent.get(side, {"tokens": 0, "cost": "0"}),
                **{name: value for name, value in trial.report[side].items() if name != "shown"},
            }
            for side, tried in sizes.items()
        },
    }


def trial_lines(trial: SizeTrial) -> list[str]:
    """A finished trial as a table."""
    report = trial.report
    width = max(len(sizes_words(trial.before)), len(sizes_words(trial.after)), 20)
    heads = "".join(f"{title:>11}" for title in (*TITLES.values(), "passages", "tokens"))
    lines = [f"{trial.vault.slug:{width}}{heads}"]
    for side, sizes in (("before", trial.before), ("after", trial.after)):
        figures = "".join(f"{report[side][name]:11.3f}" for name in TITLES)
        counts = "".join(f"{report[side][name]:>11,}" for name in ("passages", "tokens"))
        lines.append(f"{sizes_words(sizes):{width}}{figures}{counts}")
    lines.append(
        f"{trial_verdict(trial)}, over {report['questions']} questions, with {len(trial.pool)} of "
        f"{trial.notes} notes: {report['better']} better, {report['worse']} worse, "
        f"{report['same']} the same."
    )
    return lines


def _gone_on(trial: SizeTrial, knobs: Knobs) -> SizeTrial:
    found = go_on_with_trial(trial.pk, knobs=knobs, most_seconds=_SLICE)
    if found is None:
        raise CommandError("The vault was removed.")
    return found


def _remove_copies(trial: SizeTrial) -> None:
    for vault_id in (trial.before_vault_id, trial.after_vault_id):
        while vault_id is not None and not _removed(vault_id):
            time.sleep(0.1)
    request_lexemes()


def _removed(vault_id: int) -> bool:
    try:
        return remove_rows(vault_id, most_seconds=_SLICE, on_progress=lambda _rows: None)
    except Busy:
        return False
