"""Pages that change a conversation: its name, its place, the branch shown, its end."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from chat import organising
from chat.core.asking import BadAsk, Refused
from chat.models import Conversation, Folder
from chat.organising import (
    LONGEST_FOLDER,
    LONGEST_TITLE,
    MARKS,
    OPPOSITES,
    choose_branch,
    count_other_branches,
    keep_only_branch,
)
from chat.tasks import request_sweep
from chat.views.reading import dialog, done, is_fragment, own_conversation, reader

NEW_FOLDER = "new"


@login_required
@require_http_methods(["GET", "POST"])
def organise(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Everything that can be done with a conversation; keeps its title and its folder."""
    found = own_conversation(request, conversation_id)
    error = ""
    if request.method == "POST":
        try:
            title = _save(request, found)
        except Refused as refused:
            error = str(refused)
        else:
            page = reverse("conversation", args=[found.pk])
            return done(request, _("Saved."), to=page, conversation=str(found.pk), title=title)
    context = {
        "conversation": found,
        "title": request.POST.get("title", str(found)),
        "folder": request.POST.get("folder", str(found.folder_id or "")),
        "new_folder": request.POST.get("new_folder", ""),
        "folders": Folder.objects.owned_by(reader(request)),
        "other": count_other_branches(found),
        "longest_title": LONGEST_TITLE,
        "longest_folder": LONGEST_FOLDER,
        "error": error,
    }
    status = 422 if error and not is_fragment(request) else 200
    return dialog(request, "chat/organise.html", context, status=status)


@login_required
@require_POST
def mark(request: HttpRequest, conversation_id: UUID, name: str) -> HttpResponse:
    """Pin it, archive it, keep it, or the opposite."""
    found = own_conversation(request, conversation_id)
    if name not in MARKS:
        raise Http404("No such mark.")
    organising.mark(found, name)
    said = {
        "pin": _("Pinned to the top of the list."),
        "unpin": _("No longer pinned."),
        "archive": _("Archived. It stays in searches."),
        "unarchive": _("Back in the list."),
        "keep": _("Kept: it is in your list from now on."),
    }
    undo = OPPOSITES.get(name)
    address = reverse("mark_conversation", args=[found.pk, undo]) if undo else ""
    page = reverse("conversation", args=[found.pk])
    return done(request, said[name], to=page, undo=address)


@login_required
@require_POST
def delete(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Delete it; for a day it can be brought back."""
    found = own_conversation(request, conversation_id)
    organising.put_away(found)
    request_sweep()
    undo = "" if found.temporary else reverse("restore_conversation", args=[found.pk])
    said = _("“%(title)s” was deleted.") % {"title": found}
    return done(request, said, to=reverse("home"), undo=undo, gone=str(found.pk))


@login_required
@require_POST
def restore(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Take a deletion back."""
    try:
        found = organising.restore(reader(request), conversation_id)
    except Refused as refused:
        raise Http404(str(refused)) from refused
    page = reverse("conversation", args=[found.pk])
    return done(request, _("“%(title)s” is back.") % {"title": found}, to=page, open=page)


@login_required
@require_http_methods(["GET", "POST"])
def folder(request: HttpRequest, folder_id: int) -> HttpResponse:
    """Rename a folder, or delete it: its conversations stay."""
    try:
        found = organising.own_folder(reader(request), folder_id)
    except Refused as refused:
        raise Http404(str(refused)) from refused
    home, error = reverse("home"), ""
    if request.method == "POST" and "delete" in request.POST:
        organising.delete_folder(found)
        said = _("The folder was deleted; its conversations are in the list.")
        return done(request, said, to=home, list=reverse("conversations"))
    if request.method == "POST":
        try:
            organising.rename_folder(found, request.POST.get("name", ""))
        except BadAsk as wrong:
            error = str(wrong)
        else:
            return done(request, _("Renamed."), to=f"{home}?folder={found.pk}")
    context = {
        "folder": found,
        "name": request.POST.get("name", found.name),
        "longest_folder": LONGEST_FOLDER,
        "error": error,
    }
    status = 422 if error and not is_fragment(request) else 200
    return dialog(request, "chat/folder.html", context, status=status)


def _save(request: HttpRequest, found: Conversation) -> str:
    """Title and folder as they were sent; the title that is shown. Raises Refused."""
    user, sent = reader(request), request.POST
    chosen, title = sent.get("folder", ""), sent.get("title", "")
    # Who typed a name wants that folder, whatever the list above it says.
    if chosen == NEW_FOLDER or sent.get("new_folder", "").strip():
        organising.move(found, organising.make_folder(user, sent.get("new_folder", "")))
    else:
        organising.move(found, organising.own_folder(user, chosen) if chosen else None)
    # A title that was only looked at is still one that a model may make better.
    return title if title == str(found) else organising.rename(found, title)


@login_required
@require_POST
def choose(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Show the branch of the message that was sent, from now on."""
    found = own_conversation(request, conversation_id)
    try:
        message = choose_branch(found, request.POST.get("message", ""))
    except Refused as refused:
        raise Http404(str(refused)) from refused
    if is_fragment(request):
        return HttpResponse(status=204)
    return redirect(f"{reverse('conversation', args=[found.pk])}#m-{message}")


@login_required
@require_http_methods(["GET", "POST"])
def keep_branch(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Say which other branches would be lost; delete them when that was confirmed."""
    found = own_conversation(request, conversation_id)
    page = reverse("conversation", args=[found.pk])
    error = ""
    if request.method == "POST":
        try:
            lost = keep_only_branch(reader(request), found.pk)
        except Refused as refused:
            error = str(refused)
        else:
            said = ngettext(
                "%(count)d message of other branches was deleted.",
                "%(count)d messages of other branches were deleted.",
                lost,
            )
            return done(request, said % {"count": lost}, to=page, reload=True)
    context = {"conversation": found, "lost": count_other_branches(found), "error": error}
    status = 409 if error and not is_fragment(request) else 200
    return dialog(request, "chat/keep_branch.html", context, status=status)
