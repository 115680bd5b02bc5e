"""Following a git repository as a vault."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from vault import access, presenters
from vault.adding import CannotAdd, add_vault, free_slug, repository_at
from vault.forms import RepositoryForm, new_vault_forms
from vault.tasks import request_sync


@login_required
@require_POST
def connect(request: HttpRequest) -> HttpResponse:
    """A new vault from a repository; on a refusal the list again, with the reason."""
    user = request.user
    if not user.is_authenticated or not access.may_upload(user):
        raise PermissionDenied(_("Only people who edit a vault may add a new one."))
    form = RepositoryForm(request.POST, auto_id="repository_%s", may_name_token=user.is_staff)
    if form.is_valid():
        wanted = form.cleaned_data
        try:
            place = repository_at(
                wanted["address"],
                branch=wanted["branch"],
                token_variable=wanted.get("token_variable", ""),
            )
            name = wanted["name"] or place.name
            found, _new = add_vault(place, slug=free_slug(name), name=name, owner=user)
        except CannotAdd as refused:
            form.add_error("address", str(refused))
        else:
            request_sync(found.pk)
            messages.success(request, _("The repository is being fetched and read."))
            return redirect("vault", found.slug)
    context = {
        "rows": presenters.vault_rows(user),
        **new_vault_forms(user),
        "repository": form,
    }
    return render(request, "vault/vaults.html", context, status=400)
