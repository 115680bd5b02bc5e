"""Pages of how a vault is made searchable by meaning: for its owners."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from providers.presenters import money
from vault import access
from vault.generations import (
    SwitchRefused,
    agree_to_switch,
    begin_switch,
    cancel_switch,
    discard_previous,
    roll_back,
    try_again,
)
from vault.index_forms import ModelForm
from vault.index_page import IndexPage, index_page, switch_estimate
from vault.index_tasks import request_new_model, request_switch
from vault.models import Vault
from vault.presenters import job_words


@login_required
@require_safe
@never_cache
def vault_index(request: HttpRequest, slug: str) -> HttpResponse:
    """Which model serves, which is to follow, and the choice of another."""
    found = access.owned_vault(request.user, slug)
    return _page(request, found)


@login_required
@require_safe
@never_cache
def vault_generations(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the page that moves while vectors are made."""
    found = access.owned_vault(request.user, slug)
    page = index_page(found)
    response = render(request, "vault/generations.html", _context(found, page))
    if not page.is_moving:
        response["HX-Refresh"] = "true"  # what can be chosen is another now
    return response


@login_required
@require_POST
def vault_model(request: HttpRequest, slug: str) -> HttpResponse:
    """Say what another model takes; with `confirm`, let it take over when it is ready."""
    found = access.owned_vault(request.user, slug)
    page = index_page(found)
    form = ModelForm(request.POST, models=page.choices, serving=found.embedding_model)
    if not form.is_valid():
        return _page(request, found, {"form": form}, status=400)
    model = form.chosen
    if model == found.embedding_model and found.next_embedding_model is None:
        return _done(request, found, _("Nothing was changed: that is how it is now."))
    if "confirm" not in request.POST:
        estimate = switch_estimate(found.pk, model) if model else None
        cost = money(estimate.cost) if estimate else ""
        context = {"form": form, "is_asked": True, "estimate": estimate, "cost": cost}
        return _page(request, found, context)
    begin_switch(found.pk, model)
    request_new_model(found.pk)
    if model is None:
        return _done(request, found, _("The vault is searched by words only now."))
    text = _("%(model)s takes over when it has a vector of every passage.")
    return _done(request, found, text % {"model": model})


@login_required
@require_POST
def vault_switch(request: HttpRequest, slug: str) -> HttpResponse:
    """Call a switch off, let it be made although it is worse, go back to the model before, or
    give the way back up."""
    found = access.owned_vault(request.user, slug)
    action = request.POST.get("action", "")
    if action in ("agree", "try"):
        (agree_to_switch if action == "agree" else try_again)(found.pk)
        request_switch(found.pk)
        return redirect("vault-index", found.slug)
    if action == "cancel":
        cancel_switch(found.pk)
        text = _("The switch was called off. %(model)s goes on serving.") % {
            "model": found.embedding_model
        }
    elif action == "back":
        try:
            text = _("%(model)s serves again.") % {"model": roll_back(found.pk)}
        except SwitchRefused as refused:
            messages.error(request, str(refused))
            return redirect("vault-index", found.slug)
    elif action == "discard":
        discard_previous(found.pk)
        text = _("The old vectors are being deleted.")
    else:
        return _page(request, found, status=400)
    request_new_model(found.pk)
    return _done(request, found, text)


def _done(request: HttpRequest, found: Vault, text: str) -> HttpResponse:
    messages.success(request, text)
    return redirect("vault-index", found.slug)


def _page(
    request: HttpRequest, found: Vault, more: dict[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    page = index_page(found)
    form = ModelForm(None, models=page.choices, serving=found.embedding_model)
    context = _context(found, page) | {"form": form} | (more or {})
    return render(request, "vault/index.html", context, status=status)


def _context(found: Vault, page: IndexPage) -> dict[str, Any]:
    return {"vault": found, "page": page, "words": job_words(page.job) if page.job else ""}
