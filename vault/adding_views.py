"""Adding a vault: an archive, a git repository, or a folder of this server."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from vault import access, presenters
from vault.adding import CannotAdd, add_another_vault, doubts_about, folder_at, repository_at
from vault.core.archives import ArchiveRefused
from vault.forms import FolderForm, RepositoryForm, UploadForm, new_vault_forms
from vault.models import Vault
from vault.tasks import request_sync
from vault.uploads import upload_vault

View = Callable[[HttpRequest, User], HttpResponse]


def for_who_may_add(view: View) -> Callable[[HttpRequest], HttpResponse]:
    """Staff, and whoever edits a vault already."""

    @wraps(view)
    @login_required
    def checked(request: HttpRequest) -> HttpResponse:
        user = request.user
        if not isinstance(user, User) or not access.may_upload(user):
            raise PermissionDenied(_("Only people who edit a vault may add a new one."))
        return view(request, user)

    return checked


@require_safe
@for_who_may_add
def new_vault(request: HttpRequest, user: User) -> HttpResponse:
    """The ways in which notes become a vault."""
    return render(request, "vault/new.html", new_vault_forms(user))


@require_POST
@for_who_may_add
def upload(request: HttpRequest, user: User) -> HttpResponse:
    """A new vault from an archive; on a refusal the page again, with the reason."""
    form = UploadForm(request.POST, request.FILES, auto_id="upload_%s")
    if form.is_valid():
        name, archive = form.cleaned_data["name"], form.cleaned_data["archive"]
        try:
            found, plan = upload_vault(archive.file, name=name, owner=user)
        except ArchiveRefused as refused:
            form.add_error("archive", str(refused))
        else:
            return _added(request, found, presenters.archive_words(plan))
    return _again(request, user, "upload", form)


@require_POST
@for_who_may_add
def connect(request: HttpRequest, user: User) -> HttpResponse:
    """A new vault from a repository; on a refusal the page again, with the reason."""
    form = RepositoryForm(request.POST, auto_id="repository_%s", may_name_token=user.is_staff)
    if form.is_valid():
        wanted = form.cleaned_data
        token_variable = wanted.get("token_variable", "")
        try:
            place = repository_at(
                wanted["address"], branch=wanted["branch"], token_variable=token_variable
            )
            found = add_another_vault(place, name=wanted["name"], owner=user)
        except CannotAdd as refused:
            form.add_error(refused.field if refused.field in form.fields else None, str(refused))
        else:
            return _added(request, found, _("The repository is being fetched and read."))
    return _again(request, user, "repository", form)


@require_POST
@for_who_may_add
def read_folder(request: HttpRequest, user: User) -> HttpResponse:
    """A new vault from a folder of this server, for staff: they could read it anyway."""
    if not user.is_staff:
        raise PermissionDenied(_("Only administrators may name a folder of the server."))
    form = FolderForm(request.POST, auto_id="folder_%s")
    if form.is_valid():
        wanted = form.cleaned_data
        try:
            place = folder_at(wanted["folder"])
            found = add_another_vault(place, name=wanted["name"], owner=user)
        except CannotAdd as refused:
            form.add_error("folder", str(refused))
        else:
            for doubt in doubts_about(found):
                messages.warning(request, doubt)
            return _added(request, found, _("The folder is being read."))
    return _again(request, user, "folder", form)


def _added(request: HttpRequest, found: Vault, text: str) -> HttpResponse:
    request_sync(found.pk)
    messages.success(request, text)
    return redirect("vault", found.slug)


def _again(request: HttpRequest, user: User, way: str, form: forms.Form) -> HttpResponse:
    context = {**new_vault_forms(user), way: form}
    return render(request, "vault/new.html", context, status=400)
