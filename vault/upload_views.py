"""Uploading another archive of notes for a vault."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from vault import access, presenters
from vault.core.archives import ArchiveRefused
from vault.forms import ArchiveForm
from vault.tasks import request_sync
from vault.uploads import replace_upload


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
            messages.success(request, presenters.archive_words(plan))
    else:
        messages.error(
            request,
            form.errors.get("archive", form.non_field_errors()).as_text().removeprefix("* "),
        )
    return redirect("vault", found.slug)
