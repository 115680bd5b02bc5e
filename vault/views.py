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
from vault.forms import MemberForm, RoleForm, new_vault_forms, read_number, read_span
from vault.members import MemberRefused, add_member, change_role, remove_member
from vault.models import ScrubFinding, SyncRun, Vault, VaultMember
from vault.note_page import note_page
from vault.pictures import read_picture
from vault.refusals import retry_failed
from vault.status import vault_status
from vault.sync import answer_pause
from vault.tasks import request_embed, request_sync

MOST_RUNS = 20
MOST_PROBLEMS = 200
# A picture can do nothing but be looked at, even when somebody opens it alone.
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


@login_required
@require_safe
def vaults(request: HttpRequest) -> HttpResponse:
    """Every vault the reader may open."""
    context = {
        "rows": presenters.vault_rows(request.user),
        **new_vault_forms(request.user),
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
    context = _state(request, found, with_problems=False)
    response = render(request, "vault/state.html", context)
    if not context["status"].jobs:
        # The work is over: what the page says of problems and runs is out of date.
        response["HX-Trigger"] = "settled"
    return response


@login_required
@require_safe
@never_cache
def vault_report(request: HttpRequest, slug: str) -> HttpResponse:
    """The problems and runs of the page, alone."""
    found = access.readable_vault(request.user, slug)
    return render(request, "vault/report.html", _state(request, found) | _report(found))


@login_required
@require_safe
@never_cache
def vault_tree(request: HttpRequest, slug: str) -> HttpResponse:
    """The tree of the page, alone, narrowed to what somebody types."""
    found = access.readable_vault(request.user, slug)
    contains, current = _typed(request, "filter"), _typed(request, "current")
    tree = presenters.tree_of(found, contains=contains, current=current)
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
def vault_retry(request: HttpRequest, slug: str) -> HttpResponse:
    """Try again to make failed chunks searchable by meaning."""
    found = access.editable_vault(request.user, slug)
    count = retry_failed(found.pk)
    request_embed(found.pk)
    return _done(request, found, _("%(count)d chunks will be tried again.") % {"count": count})


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
    """Change a member's role, or remove the member."""
    found = access.owned_vault(request.user, slug)
    form = RoleForm(request.POST)
    try:
        if "remove" in request.POST:
            member = remove_member(found, member_id)
            text = _("%(name)s is no longer a member.")
        elif form.is_valid():
            member = change_role(found, member_id, role=form.cleaned_data["role"])
            text = _("The role of %(name)s was changed.")
        else:
            raise MemberRefused(_("Choose one of the roles."))
    except MemberRefused as refused:
        messages.error(request, str(refused))
        return redirect("vault", found.slug)
    return _done(request, found, text % {"name": presenters.name_of(member)})


@login_required
@require_safe
@never_cache
def note(request: HttpRequest, slug: str, path: str) -> HttpResponse:
    """A note, opened at a span of its text."""
    found = access.readable_note(request.user, slug, _normal(path))
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
        "properties": presenters.properties_of(found),
        "tags": [(tag, presenters.PageAddresses().tag(slug, tag)) for tag in found.tags],
        "tree": presenters.tree_of(found.vault, current=found.path),
        "current": found.path,
        "ask_url": presenters.ask_url(found),
        "status": _counts(found.vault),
    }
    return render(request, "vault/note.html", context)


@login_required
@require_safe
def vault_file(request: HttpRequest, slug: str, path: str) -> HttpResponse:
    """A picture that lies in a vault."""
    found = access.readable_vault(request.user, slug)
    picture = read_picture(found, path)
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
    contains, folder = _typed(request, "filter"), _typed(request, "folder")
    context = _state(request, found) | _report(found)
    context |= {
        "members": [(row, presenters.name_of(row)) for row in presenters.members_of(found)],
        "roles": VaultMember.Role.choices,
        "form": form,
        "tree": presenters.tree_of(found, contains=contains, current=folder),
        "filter": contains,
        "current": folder,
    }
    return render(request, "vault/vault.html", context, status=status)


def _state(request: HttpRequest, found: Vault, *, with_problems: bool = True) -> dict[str, Any]:
    status = vault_status(found, with_problems=with_problems)
    part = status.covered if status.embedding_model else status.searchable
    return {
        "vault": found,
        "status": status,
        "part": part,
        "problems": len(status.problems) + len(status.suspicious),
        "percent": part * 100 // status.notes if status.notes else 0,
        "jobs": [(job, presenters.job_words(job)) for job in status.jobs],
        "is_editor": access.editable_by(request.user).filter(pk=found.pk).exists(),
        "is_owner": access.owned_by(request.user).filter(pk=found.pk).exists(),
    }


def _report(found: Vault) -> dict[str, Any]:
    runs = SyncRun.objects.filter(vault=found)[:MOST_RUNS]
    findings = ScrubFinding.objects.filter(vault=found).defer("note__body")
    return {
        "runs": [(run, presenters.run_words(run.counts)) for run in runs],
        "findings": findings.count(),
        "found": findings.select_related("note").order_by("note__path", "line")[:MOST_PROBLEMS],
        "most_problems": MOST_PROBLEMS,
    }


def _counts(found: Vault) -> dict[str, int]:
    row = next(iter(presenters.counts_of([found.pk]).values()), (0, 0))
    return {"notes": row[0], "searchable": row[1]}
