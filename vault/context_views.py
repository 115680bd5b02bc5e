"""Context lines of a vault: what they cost, on, off, again. For its owners."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from providers.presenters import money
from vault import access
from vault.context_page import context_page
from vault.enrich_estimate import enrich_estimate
from vault.enrichment import switch_off, switch_on
from vault.index_forms import ContextForm
from vault.index_tasks import request_retried_contexts
from vault.models import Vault
from vault.presenters import job_words
from vault.tasks import request_enrich


@login_required
@require_safe
@never_cache
def vault_context(request: HttpRequest, slug: str) -> HttpResponse:
    """Whether a model writes context lines, how far it is, and what is spent."""
    return _page(request, access.owned_vault(request.user, slug))


@login_required
@require_safe
@never_cache
def vault_context_state(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the page that moves while lines are written."""
    found = access.owned_vault(request.user, slug)
    context = _context(found)
    response = render(request, "vault/context_state.html", context)
    if not context["page"].is_moving:
        response["HX-Refresh"] = "true"
    return response


@login_required
@require_POST
def vault_context_change(request: HttpRequest, slug: str) -> HttpResponse:
    """Switch lines off, try failed ones again, or tell what they cost and switch them on."""
    found = access.owned_vault(request.user, slug)
    action = request.POST.get("action", "")
    if action == "off":
        switch_off(found.pk)
        request_enrich(found.pk)
        return _done(request, found, _("Context lines are off; those that exist are removed."))
    if action == "retry":
        count = request_retried_contexts(found.pk)
        text = ngettext("%(n)d note is tried again.", "%(n)d notes are tried again.", count)
        return _done(request, found, text % {"n": count})
    return _switch_on(request, found)


def _switch_on(request: HttpRequest, found: Vault) -> HttpResponse:
    form = ContextForm(request.POST, models=context_page(found).choices)
    if not form.is_valid():
        return _page(request, found, {"form": form}, status=400)
    model, summarize = form.chosen, form.cleaned_data["summarize"]
    if "confirm" not in request.POST:
        estimate = enrich_estimate(found, model, summarize=summarize)
        costs = {"cost": money(estimate.cost), "embedding_cost": money(estimate.embedding_cost)}
        return _page(request, found, {"form": form, "estimate": estimate, **costs})
    switch_on(found.pk, model, summarize=summarize, user_id=request.user.pk)
    request_enrich(found.pk)
    return _done(request, found, _("%(model)s writes the context lines.") % {"model": model})


def _done(request: HttpRequest, found: Vault, text: str) -> HttpResponse:
    messages.success(request, text)
    return redirect("vault-context", found.slug)


def _page(
    request: HttpRequest, found: Vault, more: dict[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    context = _context(found)
    form = ContextForm(None, models=context["page"].choices, before=context["page"].settings)
    return render(
        request, "vault/context.html", context | {"form": form} | (more or {}), status=status
    )


def _context(found: Vault) -> dict[str, Any]:
    page = context_page(found)
    return {
        "vault": found,
        "page": page,
        "words": job_words(page.job) if page.job else "",
        "spent": money(page.settings.cost),
    }
