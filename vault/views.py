"""Pages of vaults and notes."""

from __future__ import annotations

import unicodedata
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from vault import access, presenters
from vault.forms import (
    FoldersForm,
    MemberForm,
    RoleForm,
    read_number,
    read_span,
)
from vault.members import MemberRefused, add_member, change_role, remove_member, set_folders
from vault.models import Vault, VaultMember
from vault.note_page import note_page
from vault.pictures import read_picture
from vault.report_views import report_of
from vault.status import counts_in, vault_status
from vault.sync import answer_pause
from vault.tasks import request_sync

# A picture can do nothing but be looked at, even when somebody opens it alone.
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


@login_required
@require_safe
def vaults(request: HttpRequest) -> HttpResponse:
    """Every vault the reader may open."""
    context = {
        "rows": presenters.vault_rows(request.user),
        "deleted": presenters.deleted_rows(request.user),
        "may_add": access.may_upload(request.user),
    }
    return render(request, "vault/vaults.html", context)


@login_required
@require_safe
@never_cache
def vault(request: HttpRequest, slug: str) -> HttpResponse:
    """A vault: how far it is, what is wrong with it, what is in it, who may read it."""
    return _vault_page(request, access.readable_vault(request.user, slug), MemberForm())


@login_required
@require_safe
@never_cache
def vault_state(request: HttpRequest, slug: str) -> HttpResponse:
    """The part of the page that moves while a job runs."""
    found = access.readable_vault(request.user, slug)
    context = _state(request, found)
    response = render(request, "vault/state.html", context)
    if not context["status"].jobs:
        # The work is over: what the page says of problems and runs is out of date.
        response["HX-Trigger"] = "settled"
    return response


@login_required
@require_safe
@never_cache
def vault_tree(request: HttpRequest, slug: str) -> HttpResponse:
    """The tree of the page, alone, narrowed to what somebody types."""
    found = access.readable_vault(request.user, slug)
    contains, current = _typed(request, "filter"), _typed(request, "current")
    notes = access.notes_of(request.user, found)
    tree = presenters.tree_of(notes, contains=contains, current=current)
    context = {"vault": found, "tree": tree, "filter": contains, "current": current}
    return render(request, "vault/tree.html", context)


@login_required
@require_POST
def vault_sync(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for a sync."""
    found = access.editable_vault(request.user, slug)
    request_sync(found.pk)
    return _done(request, found, _("The vault will be read again."))


@login_required
@require_POST
def vault_answer(request: HttpRequest, slug: str) -> HttpResponse:
    """An owner's answer to the question of a paused vault."""
    found = access.owned_vault(request.user, slug)
    answer = request.POST.get("answer", "")
    if found.state != Vault.State.PAUSED or answer not in {"delete", "look"}:
        return _done(request, found, _("The question was already answered."))
    answer_pause(found.pk, delete=answer == "delete")
    request_sync(found.pk)
    return _done(request, found, _("Thank you. The vault will be read again."))


@login_required
@require_POST
def vault_members(request: HttpRequest, slug: str) -> HttpResponse:
    """Let somebody in."""
    found = access.owned_vault(request.user, slug)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            member = add_member(found, **form.cleaned_data)
        except MemberRefused as refused:
            form.add_error("name", str(refused))
        else:
            text = _("%(name)s is a member now.") % {"name": presenters.name_of(member)}
            return _done(request, found, text)
    return _vault_page(request, found, form, status=400)


@login_required
@require_POST
def vault_member(request: HttpRequest, slug: str, member_id: int) -> HttpResponse:
    """Change a member's role or folders, or remove the member."""
    found = access.owned_vault(request.user, slug)
    try:
        member, text = _changed_member(request, found, member_id)
    except MemberRefused as refused:
        messages.error(request, str(refused))
        return redirect("vault", found.slug)
    return _done(request, found, text % {"name": presenters.name_of(member)})


def _changed_member(request: HttpRequest, found: Vault, member_id: int) -> tuple[VaultMember, str]:
    """Do what the form asks; the member, and what to say. Raises MemberRefused."""
    if "remove" in request.POST:
        return remove_member(found, member_id), _("%(name)s is no longer a member.")
    if "folders" in request.POST:
        folders = FoldersForm(request.POST)
        if not folders.is_valid():
            said = [str(text) for errors in folders.errors.values() for text in errors]
            raise MemberRefused(" ".join(said))
        member = set_folders(found, member_id, **folders.cleaned_data)
        return member, _("The folders of %(name)s were changed.")
    role = RoleForm(request.POST)
    if not role.is_valid():
        raise MemberRefused(_("Choose one of the roles."))
    member = change_role(found, member_id, role=role.cleaned_data["role"])
    return member, _("The role of %(name)s was changed.")


@login_required
@require_safe
@never_cache
def note(request: HttpRequest, slug: str, path: str) -> HttpResponse:
    """A note, opened at a span of its text."""
    try:
        found = access.readable_note(request.user, slug, _normal(path))
    except Http404:
        return _where_it_is_now(request, slug, _normal(path))
    notes = access.notes_of(request.user, found.vault)
    page = note_page(
        request.user,
        found,
        addresses=presenters.PageAddresses(),
        span=read_span(request.GET.get("span", "")),
        source_id=read_number(request.GET.get("source", "")),
    )
    context = {
        "page": page,
        "note": found,
        "vault": found.vault,
        "crumbs": presenters.crumbs_of(found),
        "tags": [(tag, presenters.PageAddresses().tag(slug, tag)) for tag in found.tags],
        "tree": presenters.tree_of(notes, current=found.path),
        "current": found.path,
        "ask_url": presenters.ask_url(found),
        "status": _counts(request.user, found.vault),
    }
    return render(request, "vault/note.html", context)


@login_required
@require_safe
def vault_file(request: HttpRequest, slug: str, path: str) -> HttpResponse:
    """A picture that lies in a vault."""
    found = access.readable_vault(request.user, slug)
    # Files are asked for as the disk spells them, folders of rules are in one Unicode form.
    is_open = access.scope_for(request.user, [slug]).opens(found.pk, _normal(path))
    picture = read_picture(found, path) if is_open else None
    if picture is None:
        raise Http404("No such picture.")
    data, media_type = picture
    response = HttpResponse(data, content_type=media_type)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = PICTURE_POLICY
    response["Cache-Control"] = "private, max-age=300"
    return response


def _typed(request: HttpRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\0", "").strip()[:1000]


def _where_it_is_now(request: HttpRequest, slug: str, path: str) -> HttpResponse:
    """The way to a note that was moved; 404 when there is none this reader may open."""
    moved = access.moved_note(request.user, slug, path)
    if moved is None:
        raise Http404("No such note.")
    asked = request.META.get("QUERY_STRING", "")
    address = presenters.PageAddresses().note(slug, moved.path)
    return redirect(f"{address}?{asked}" if asked else address, permanent=True)


def _normal(path: str) -> str:
    if "\0" in path:
        raise Http404("No such note.")
    return unicodedata.normalize("NFC", path)


def _done(request: HttpRequest, found: Vault, text: str) -> HttpResponse:
    """Say what was done, on the vault's page, or on the list when that is out of reach now."""
    messages.success(request, text)
    is_readable = access.visible_to(request.user).filter(pk=found.pk).exists()
    return redirect("vault", found.slug) if is_readable else redirect("vaults")


def _vault_page(
    request: HttpRequest, found: Vault, form: MemberForm, *, status: int = 200
) -> HttpResponse:
    notes = access.notes_of(request.user, found)
    contains, folder = _typed(request, "filter"), _typed(request, "folder")
    context = _state(request, found) | report_of(request, found)
    context |= {
        "members": presenters.member_rows(found),
        "roles": VaultMember.Role.choices,
        "form": form,
        "tree": presenters.tree_of(notes, contains=contains, current=folder),
        "filter": contains,
        "current": folder,
    }
    return render(request, "vault/vault.html", context, status=status)


def _state(request: HttpRequest, found: Vault) -> dict[str, Any]:
    scope = access.scope_for(request.user, [found.slug])
    status = vault_status(found, scope=scope, with_problems=False)
    return {
        "vault": found,
        "status": status,
        "jobs": [(job, presenters.job_words(job)) for job in status.jobs],
        "is_editor": access.editable_by(request.user).filter(pk=found.pk).exists(),
        "is_owner": access.owned_by(request.user).filter(pk=found.pk).exists(),
    }


def _counts(user: access.User, found: Vault) -> dict[str, int]:
    row = counts_in(access.scope_for(user, [found.slug])).get(found.pk, (0, 0))
    return {"notes": row[0], "searchable": row[1]}
