"""Uploading notes as a zip archive."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from vault import access, presenters
from vault.core.archives import ArchivePlan, ArchiveRefused
from vault.forms import ArchiveForm, UploadForm, new_vault_forms
from vault.tasks import request_sync
from vault.uploads import replace_upload, upload_vault


@login_required
@require_POST
def upload(request: HttpRequest) -> HttpResponse:
    """A new vault from an archive; on a refusal the list again, with the reason."""
    user = request.user
    if not user.is_authenticated or not access.may_upload(user):
        raise PermissionDenied(_("Only people who edit a vault may upload a new one."))
    form = UploadForm(request.POST, request.FILES, auto_id="upload_%s")
    if form.is_valid():
        name, archive = form.cleaned_data["name"], form.cleaned_data["archive"]
        try:
            found, plan = upload_vault(archive.file, name=name, owner=user)
        except ArchiveRefused as refused:
            form.add_error("archive", str(refused))
        else:
            request_sync(found.pk)
            messages.success(request, _said(plan))
            return redirect("vault", found.slug)
    context = {
        "rows": presenters.vault_rows(user),
        **new_vault_forms(user),
        "upload": form,
    }
    return render(request, "vault/vaults.html", context, status=400)


@login_required
@require_POST
def replace(request: HttpRequest, slug: str) -> HttpResponse:
    """Another archive in the place of an uploaded vault's."""
    found = access.editable_vault(request.user, slug)
    form = ArchiveForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            plan = replace_upload(found, form.cleaned_data["archive"].file)
        except ArchiveRefused as refused:
            messages.error(request, str(refused))
        else:
            request_sync(found.pk)
            messages.success(request, _said(plan))
    else:
        messages.error(
            request,
            form.errors.get("archive", form.non_field_errors()).as_text().removeprefix("* "),
        )
    return redirect("vault", found.slug)


def _said(plan: ArchivePlan) -> str:
    words = _("%(count)d files were unpacked and are being read.") % {"count": len(plan.files)}
    if plan.left_out:
        left_out = _("%(count)d files that hold no text were left out.") % {"count": plan.left_out}
        words = f"{words} {left_out}"
    return words
