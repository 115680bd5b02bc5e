"""Trials of passage sizes, ready to be shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.contrib.humanize.templatetags.humanize import intcomma
from django.urls import reverse
from django.utils.translation import gettext as _

from providers.presenters import money
from retrieval.presenters.evaluation import TITLES, figures
from vault.core.passage_sizes import PassageSizes
from vault.models import Chunk, SizeTrial
from vault.settings_forms import HOW_NOTES_ARE_CUT


@dataclass(frozen=True, slots=True)
class SizeFigure:
    """One row of a trial's table. `trend`: "up", "down" or "", where one is better."""

    title: str
    before: str
    after: str
    delta: str = ""
    trend: str = ""


@dataclass(frozen=True, slots=True)
class TrialRow:
    """A trial in the list."""

    trial: SizeTrial
    sizes: str
    who: str
    verdict: str
    tone: str
    url: str


def sizes_words(sizes: PassageSizes) -> str:
    """“300 tokens, overlap 60, smallest 60”."""
    return _("%(tokens)d tokens, overlap %(overlap)d, smallest %(least)d") % {
        "tokens": sizes.tokens,
        "overlap": sizes.overlap,
        "least": sizes.minimum,
    }


def trial_verdict(trial: SizeTrial) -> str:
    """In a sentence what came of a trial; its state where nothing did."""
    report = trial.report
    if trial.state != SizeTrial.State.DONE:
        return str(trial.get_state_display()).capitalize()
    if report["is_worse"]:
        return _("Finds less than now")
    return _("Finds more than now") if report["is_better"] else _("Finds about the same")


def trial_tone(trial: SizeTrial) -> str:
    """The look of a trial's verdict: "warn" where it is worse or failed."""
    is_bad = trial.state == SizeTrial.State.FAILED or bool(trial.report.get("is_worse"))
    return "warn" if is_bad else ""


def trial_rows(trials: Iterable[SizeTrial]) -> list[TrialRow]:
    """Trials of one vault, newest first."""
    return [
        TrialRow(
            trial,
            sizes_words(trial.after),
            trial.user.get_full_name() or trial.user.get_username() if trial.user else "",
            trial_verdict(trial),
            trial_tone(trial),
            reverse("size-trial", args=[trial.vault.slug, trial.pk]),
        )
        for trial in trials
    ]


def trial_figures(trial: SizeTrial) -> list[SizeFigure]:
    """How well each question's notes were found with both sizes."""
    before, after = trial.report["before"], trial.report["after"]
    return [
        SizeFigure(figure.title, f"{before[name]:.3f}", figure.text, figure.delta, figure.trend)
        for name, figure in zip(TITLES, figures(after, before), strict=True)
    ]


def trial_costs(trial: SizeTrial) -> list[SizeFigure]:
    """Passages and tokens of the notes that were tried, what their vectors took, and what the
    whole vault would have."""
    before, after = trial.report["before"], trial.report["after"]
    rows = [
        _count(_("Passages"), before["passages"], after["passages"]),
        _count(_("Tokens"), before["tokens"], after["tokens"]),
    ]
    new = [_spent(trial, side) for side in ("before", "after")]
    rows.append(SizeFigure(_("Tokens embedded for the trial"), *(text for text, _cost in new)))
    if any(cost for _text, cost in new):
        rows.append(SizeFigure(_("Cost of the trial"), *(money(cost) for _text, cost in new)))
    now = Chunk.objects.filter(vault_id=trial.vault_id).count()
    then = round(now * after["passages"] / max(1, before["passages"]))
    if now != before["passages"]:
        rows.append(_count(_("Passages of the whole vault, about"), now, then))
    return rows


def settings_url(trial: SizeTrial) -> str:
    """The vault's settings with these sizes filled in, to be saved."""
    sizes = (trial.after_tokens, trial.after_overlap, trial.after_minimum)
    query = urlencode(dict(zip(HOW_NOTES_ARE_CUT, sizes, strict=True)))
    return f"{reverse('vault-settings', args=[trial.vault.slug])}?{query}#cutting"


def _spent(trial: SizeTrial, side: str) -> tuple[str, Decimal]:
    spent: dict[str, Any] = trial.spent.get(side, {"tokens": 0, "cost": "0"})
    return intcomma(spent["tokens"]), Decimal(spent["cost"])


def _count(title: str, before: int, after: int) -> SizeFigure:
    delta = f"{after - before:+,}".replace("-", "−") if after != before else ""
    return SizeFigure(title, intcomma(before), intcomma(after), delta)
