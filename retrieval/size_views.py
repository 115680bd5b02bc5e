"""Pages on which an owner tries other sizes of passages before saving them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from providers.presenters import money
from retrieval.evaluation.questions import read_golden_notes
from retrieval.evaluation.runs import some_of
from retrieval.evaluation.size_estimate import TrialEstimate, trial_estimate
from retrieval.evaluation.sizes import (
    MOST_QUESTIONS,
    CannotTry,
    begin_trial,
    largest_passage,
)
from retrieval.presenters.sizes import (
    settings_url,
    sizes_words,
    trial_costs,
    trial_figures,
    trial_rows,
    trial_tone,
    trial_verdict,
)
from retrieval.tasks import request_trial, stop_trial
from vault.access import owned_vault
from vault.models import SizeTrial, Vault
from vault.settings_forms import HOW_NOTES_ARE_CUT, PassageSizesForm

MOST_TRIALS = 30


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def sizes(request: HttpRequest, slug: str) -> HttpResponse:
    """The sizes of a vault and the trials of others; a POST begins one. Where embedding is
    paid for, what it costs is told first."""
    vault = owned_vault(request.user, slug)
    if request.method != "POST":
        typed = {name: request.GET.get(name, getattr(vault, name)) for name in HOW_NOTES_ARE_CUT}
        return _page(request, vault, PassageSizesForm(initial=typed))
    form = PassageSizesForm(request.POST)
    if not form.is_valid():
        return _page(request, vault, form, status=400)
    estimate = trial_estimate(vault, form.sizes)
    if estimate.cost and "confirm" not in request.POST:
        return _page(request, vault, form, estimate=estimate)
    try:
        trial = begin_trial(vault, form.sizes, user=_person(request))
    except CannotTry as refused:
        form.add_error(None, str(refused))
        return _page(request, vault, form, status=400)
    request_trial(trial)
    return redirect("size-trial", vault.slug, trial.pk)


@login_required
@require_safe
@never_cache
def trial(request: HttpRequest, slug: str, trial_id: int) -> HttpResponse:
    """One trial: how far it is, or what it found."""
    found = _trial(request, slug, trial_id)
    context = _state(found) | {"settings_url": settings_url(found)}
    if found.report:
        context |= {"figures": trial_figures(found), "costs": trial_costs(found)}
    return render(request, "retrieval/size_trial.html", context)


@login_required
@require_safe
@never_cache
def state(request: HttpRequest, slug: str, trial_id: int) -> HttpResponse:
    """The part of the page that moves; when the trial is over, the page is to be read anew."""
    found = _trial(request, slug, trial_id)
    response = render(request, "retrieval/size_trial_state.html", _state(found))
    if not found.is_open:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def stop(request: HttpRequest, slug: str, trial_id: int) -> HttpResponse:
    """End a trial; nothing of it was saved."""
    found = _trial(request, slug, trial_id)
    text = _("The trial was stopped.") if stop_trial(found) else _("The trial was over already.")
    messages.success(request, text)
    return redirect("size-trial", slug, found.pk)


def _page(
    request: HttpRequest,
    vault: Vault,
    form: PassageSizesForm,
    *,
    estimate: TrialEstimate | None = None,
    status: int = 200,
) -> HttpResponse:
    read_golden_notes(vault)
    trials = SizeTrial.objects.filter(vault=vault).defer("ranked", "pool")
    rows = trial_rows(trials.select_related("user", "vault")[:MOST_TRIALS])
    context: dict[str, Any] = {
        "vault": vault,
        "form": form,
        "now": sizes_words(vault.passage_sizes),
        "questions": len(some_of(vault, MOST_QUESTIONS)),
        "most_tokens": largest_passage(vault),
        "rows": rows,
        "going_on": next((row for row in rows if row.trial.is_open), None),
        "estimate": estimate,
        "cost": money(estimate.cost) if estimate else "",
    }
    return render(request, "retrieval/sizes.html", context, status=status)


def _trial(request: HttpRequest, slug: str, trial_id: int) -> SizeTrial:
    vault = owned_vault(request.user, slug)
    trials = SizeTrial.objects.filter(vault=vault).select_related("vault", "user")
    found = trials.filter(pk=trial_id).first() if trial_id < 2**63 else None
    if found is None:
        raise Http404("No such trial.")
    return found


def _state(found: SizeTrial) -> dict[str, Any]:
    return {
        "trial": found,
        "vault": found.vault,
        "before": sizes_words(found.before),
        "after": sizes_words(found.after),
        "verdict": trial_verdict(found),
        "tone": trial_tone(found),
        "is_still_so": found.before == found.vault.passage_sizes,
    }


def _person(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
