"""Pages of evaluation: golden questions of a vault, runs over them, two runs compared."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from retrieval.core.comparing import compare
from retrieval.evaluation import (
    CannotAdd,
    add_question,
    cancel_run,
    fall_of,
    read_golden_notes,
    remove_question,
    start_run,
)
from retrieval.evaluation.questions import as_markdown, find_notes
from retrieval.evaluation.runs import is_out_of_date, knobs_from, previous_of, scores_by_question
from retrieval.knob_form import describe, knob_form
from retrieval.models import EvalQuestion, EvalRun
from retrieval.options import site_knobs
from retrieval.presenters.evaluation import (
    change_rows,
    fall_row,
    figure_rows,
    figures,
    question_rows,
    run_rows,
    verdict,
    with_changes,
)
from retrieval.tasks import request_evaluation
from vault.access import evaluated_by, evaluated_vault, owned_by
from vault.models import Vault

MOST_RUNS = 30
# Columns of a list of runs; what every question came to stays in the table.
_HEAVY = ("results", "pending")


@login_required
@require_safe
@never_cache
def evaluations(request: HttpRequest) -> HttpResponse:
    """The vaults whose search may be measured. One alone is opened at once."""
    vaults = list(evaluated_by(request.user))
    if len(vaults) == 1:
        return redirect("evaluation", vaults[0].slug)
    rows = [(vault, fall_row(fall_of(vault))) for vault in vaults]
    return render(request, "retrieval/evaluations.html", {"rows": rows})


@login_required
@require_safe
@never_cache
def evaluation(request: HttpRequest, slug: str) -> HttpResponse:
    """The golden questions of a vault, and the runs over them."""
    return _page(request, evaluated_vault(request.user, slug))


@login_required
@require_POST
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the worker for a run under the knobs of the form."""
    vault = evaluated_vault(request.user, slug)
    form = knob_form(request.POST.dict(), site_knobs())
    if not form.is_valid:
        return _page(request, vault, knobs=form, status=400)
    label = request.POST.get("label", "").replace("\0", "")
    run = start_run(vault, knobs=form.knobs, user=_person(request), label=label)
    if not run.total:
        run.delete()
        messages.error(request, _("There is no question to ask yet."))
        return redirect("evaluation", vault.slug)
    request_evaluation(run)
    return redirect("evaluation-run", vault.slug, run.pk)


@login_required
@require_POST
def add(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a golden question by hand."""
    vault = evaluated_vault(request.user, slug)
    text, names, kind = (
        request.POST.get(name, "").replace("\0", "") for name in ("question", "notes", "class")
    )
    listed = [name.strip().strip("[]") for name in names.splitlines() if name.strip()]
    found, missing = find_notes(vault, listed)
    try:
        if missing:
            raise CannotAdd(_("There is no note “%(name)s”.") % {"name": missing[0][:100]})
        add_question(vault, text, expected=found, user=_person(request), question_class=kind)
    except CannotAdd as error:
        typed = {"question": text, "notes": names, "class": kind, "error": str(error)}
        return _page(request, vault, typed=typed, status=400)
    messages.success(request, _("The question was added."))
    return redirect("evaluation", vault.slug)


@login_required
@require_POST
def remove(request: HttpRequest, slug: str, question_id: int) -> HttpResponse:
    """Forget a question that was added by hand."""
    vault = evaluated_vault(request.user, slug)
    removed = remove_question(vault, question_id) if question_id < 2**63 else None
    if removed is None:
        raise Http404("No such question.")
    messages.success(request, _("“%(text)s” was removed.") % {"text": removed.text[:80]})
    return redirect("evaluation", vault.slug)


@login_required
@require_safe
@never_cache
def markdown(request: HttpRequest, slug: str) -> HttpResponse:
    """All questions as a note to be put into the vault."""
    vault = evaluated_vault(request.user, slug)
    read_golden_notes(vault)
    rows = EvalQuestion.objects.filter(vault=vault).prefetch_related("expected")
    response = HttpResponse(as_markdown(rows), content_type="text/markdown; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="golden-questions.md"'
    return response


@login_required
@require_safe
@never_cache
def run(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """One run: figures by class and language, every question, another run beside it."""
    found = _run(request, slug, run_id)
    context = _state(found)
    if not found.is_open:
        context |= _figures(request, found)
    return render(request, "retrieval/evaluation_run.html", context)


@login_required
@require_safe
@never_cache
def state(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """The part of the page that moves; when the run is over, the page is to be read anew."""
    found = _run(request, slug, run_id)
    response = render(request, "retrieval/evaluation_state.html", _state(found))
    if not found.is_open:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def cancel(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """Stop a run; what was asked is kept."""
    found = _run(request, slug, run_id)
    stopped = cancel_run(found)
    text = _("The run was stopped.") if stopped else _("The run was over already.")
    messages.success(request, text)
    return redirect("evaluation-run", slug, found.pk)


def _page(
    request: HttpRequest,
    vault: Vault,
    *,
    knobs: Any = None,
    typed: dict[str, str] | None = None,
    status: int = 200,
) -> HttpResponse:
    base = site_knobs()
    broken = read_golden_notes(vault)
    runs = list(
        EvalRun.objects.filter(vault=vault).defer(*_HEAVY).select_related("user")[:MOST_RUNS]
    )
    done = [run for run in runs if run.state == EvalRun.State.DONE and not run.is_trial]
    newest = next(iter(done), None)
    questions = EvalQuestion.objects.filter(vault=vault).prefetch_related("expected")
    context = {
        "vault": vault,
        "questions": questions,
        "broken": broken,
        "rows": run_rows(runs, vault.slug, base, names=_names(runs)),
        "form": knobs or knob_form({}, base),
        "typed": typed or {},
        "fall": fall_row(fall_of(vault)),
        "is_owner": owned_by(request.user).filter(pk=vault.pk).exists(),
        "is_out_of_date": newest is not None and is_out_of_date(newest, knobs=base),
    }
    return render(request, "retrieval/evaluation.html", context, status=status)


def _run(request: HttpRequest, slug: str, run_id: int) -> EvalRun:
    vault = evaluated_vault(request.user, slug)
    runs = EvalRun.objects.filter(vault=vault).select_related("vault", "user", "against")
    found = runs.filter(pk=run_id).first() if run_id < 2**63 else None
    if found is None:
        raise Http404("No such run.")
    return found


def _state(found: EvalRun) -> dict[str, Any]:
    return {
        "run": found,
        "vault": found.vault,
        "knobs": describe(knobs_from(found.knobs), site_knobs()),
        "who": _names([found]).get(found.user_id or 0, ""),
    }


def _figures(request: HttpRequest, found: EvalRun) -> dict[str, Any]:
    others = EvalRun.objects.filter(vault=found.vault, state=EvalRun.State.DONE).exclude(
        pk=found.pk
    )
    other = _other(request, others) or previous_of(found)
    before = other.metrics if other else None
    context: dict[str, Any] = {
        "other": other,
        "others": others.defer(*_HEAVY)[:MOST_RUNS],
        "figures": figures(found.metrics["all"], None),
        "by_class": figure_rows(found.metrics, "by_class", before),
        "by_language": figure_rows(found.metrics, "by_language", before),
        "questions": question_rows(found, found.vault.slug, site_knobs()),
    }
    if other is not None:
        compared = compare(scores_by_question(other), scores_by_question(found))
        context |= {
            "compared": compared,
            "verdict": verdict(compared),
            "figures": with_changes(context["figures"], compared),
            "better": change_rows(compared.better),
            "worse": change_rows(compared.worse),
            "other_knobs": describe(knobs_from(other.knobs), site_knobs()),
        }
    return context


def _other(request: HttpRequest, others: Any) -> EvalRun | None:
    given = request.GET.get("with", "")
    if not given.isascii() or not given.isdigit() or len(given) > 18:
        return None
    chosen: EvalRun | None = others.filter(pk=int(given)).first()
    return chosen


def _names(runs: list[EvalRun]) -> dict[int, str]:
    return {
        run.user.pk: run.user.get_full_name() or run.user.get_username()
        for run in runs
        if run.user is not None
    }


def _person(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None
