"""What only an owner does: change a vault's settings, delete it, bring it back."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from providers.presenters import money
from vault import access
from vault.index_page import CuttingEstimate, cutting_estimate
from vault.removal import UNDO_TIME, RemovalRefused, delete_vault, loss_of, restore_vault
from vault.removal_tasks import call_off_removal, request_removal
from vault.settings_forms import HOW_NOTES_ARE_CUT, VaultSettingsForm
from vault.settings_saving import Conflict, conflict_of, save_settings, stamp_of
from vault.size_trials import trial_of
from vault.tasks import request_sync


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def vault_settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Name, place, what is left out, limits. Other sizes of passages are asked about first."""
    found = access.owned_vault(request.user, slug)
    is_staff = bool(getattr(request.user, "is_staff", False))
    if request.method != "POST":
        form = VaultSettingsForm(instance=found, initial=_tried(request), is_staff=is_staff)
        return _page(request, form)
    form = VaultSettingsForm(request.POST, instance=found, is_staff=is_staff)
    if not form.is_valid():
        return _page(request, form, status=400)
    stored = access.owned_vault(request.user, slug)
    stamp = _stamp(request)
    if conflict := conflict_of(form, stamp=stamp, vault=stored):
        return _page(request, form, conflict=conflict, status=409)
    if "confirm" not in request.POST and set(form.changed_data) & set(HOW_NOTES_ARE_CUT):
        estimate = cutting_estimate(found)
        if estimate is not None:
            return _page(request, form, estimate=estimate)
    if conflict := save_settings(form, stamp=stamp):
        return _page(request, form, conflict=conflict, status=409)
    if set(form.changed_data) - {"name"}:
        request_sync(found.pk)
        messages.success(request, _("Saved. The vault is read again with these settings."))
    else:
        messages.success(request, _("Saved."))
    return redirect("vault-settings", found.slug)


@login_required
@require_POST
def vault_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a vault whose name was typed to confirm it."""
    found = access.owned_vault(request.user, slug)
    try:
        delete_vault(found.pk, typed=request.POST.get("name", ""))
    except RemovalRefused as refused:
        is_staff = bool(getattr(request.user, "is_staff", False))
        form = VaultSettingsForm(instance=found, is_staff=is_staff)
        return _page(request, form, refusal=str(refused), status=400)
    request_removal(found.pk)
    text = _("%(name)s was deleted. You can bring it back for %(n)d minutes.")
    messages.success(request, text % {"name": found.name, "n": _minutes()})
    return redirect("vaults")


@login_required
@require_POST
def vault_restore(request: HttpRequest, slug: str) -> HttpResponse:
    """Bring a deleted vault back."""
    found = access.deleted_vault(request.user, slug)
    try:
        restore_vault(found.pk)
    except RemovalRefused as refused:
        messages.error(request, str(refused))
        return redirect("vaults")
    call_off_removal(found.pk)
    messages.success(request, _("%(name)s is back.") % {"name": found.name})
    return redirect("vault", found.slug)


def _tried(request: HttpRequest) -> dict[str, str]:
    """Sizes of passages that were tried and are to be saved, from the address."""
    return {name: request.GET[name] for name in HOW_NOTES_ARE_CUT if name in request.GET}


def _stamp(request: HttpRequest) -> str:
    """Of what was seen before this was sent: told as a conflict last, else on the page."""
    return request.POST.get("over") or request.POST.get("stamp", "")


def _minutes() -> int:
    return int(UNDO_TIME.total_seconds() // 60)


def _page(
    request: HttpRequest,
    form: VaultSettingsForm,
    *,
    refusal: str = "",
    estimate: CuttingEstimate | None = None,
    conflict: Conflict | None = None,
    status: int = 200,
) -> HttpResponse:
    found = form.instance
    if form.is_bound:
        found.refresh_from_db()  # The form wrote into it what was typed.
    trial = trial_of(found, form.sizes) if estimate else None
    context = {
        "estimate": estimate,
        "conflict": conflict,
        "stamp": _stamp(request) or stamp_of(form, found),
        "trial": trial,
        "is_open": bool(estimate or _tried(request))
        or any(form[n].errors for n in HOW_NOTES_ARE_CUT),
        "cost": money(estimate.cost) if estimate else "",
        "vault": found,
        "form": form,
        "cutting": [form[name] for name in HOW_NOTES_ARE_CUT],
        "loss": loss_of(found),
        "minutes": _minutes(),
        "refusal": refusal,
        "typed": request.POST.get("name", "") if refusal else "",
    }
    return render(request, "vault/settings.html", context, status=status)
