"""Pages of sharing: making a link, one's own links, and what is read by one."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat import sharing
from chat.core.asking import Refused
from chat.core.sharing import DAYS, DEFAULT_DAYS, parse_share
from chat.models import ShareLink
from chat.presenters.answers import shared_turns
from chat.presenters.sharing import link_rows
from chat.views.reading import dialog, done, is_fragment, own_conversation, reader


@login_required
@require_http_methods(["GET", "POST"])
def share(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Choose what to share, with whom and for how long; then the link, to be copied."""
    found = own_conversation(request, conversation_id)
    sent = request.POST if request.method == "POST" else request.GET
    error, made = "", None
    if request.method == "POST":
        try:
            made = sharing.make_link(reader(request), found.pk, parse_share(sent.dict()))
        except Refused as refused:
            error = str(refused)
    mine = ShareLink.objects.owned_by(reader(request)).filter(conversation=found)
    context: dict[str, Any] = {
        "conversation": found,
        "message": sent.get("message", ""),
        "only_answer": bool(sent.get("only_answer")),
        "audiences": ShareLink.Audience.choices,
        "audience": sent.get("audience", "signed_in"),
        "names": sent.get("names", ""),
        "days": DAYS,
        "chosen_days": sent.get("days", str(DEFAULT_DAYS)),
        "error": error,
        "made": link_rows([made], request)[0] if made else None,
        "links": mine.in_force().count(),
    }
    status = 422 if error and not is_fragment(request) else 200
    return dialog(request, "chat/share.html", context, status=status)


@login_required
@require_GET
def shares(request: HttpRequest) -> HttpResponse:
    """Everything the reader shares: copy a link, take it back."""
    mine = ShareLink.objects.owned_by(reader(request)).select_related("conversation", "message")
    rows = link_rows(mine.prefetch_related("users", "groups")[: sharing.MOST_LINKS], request)
    return render(request, "chat/shares.html", {"links": rows})


@login_required
@require_POST
def revoke(request: HttpRequest, link_id: UUID) -> HttpResponse:
    """Take a link back; that can be undone."""
    sharing.revoke(_own_link(request, link_id))
    undo = reverse("restore_share", args=[link_id])
    return done(request, _("The link opens nothing any more."), to=reverse("shares"), undo=undo)


@login_required
@require_POST
def restore(request: HttpRequest, link_id: UUID) -> HttpResponse:
    """Let a link that was taken back open again."""
    sharing.restore_link(_own_link(request, link_id))
    return done(request, _("The link opens again."), to=reverse("shares"))


@login_required
@require_GET
def shared(request: HttpRequest, token: str) -> HttpResponse:
    """What the reader may see of what is shared with them; one page for all they may not."""
    try:
        found = sharing.open_link(reader(request), token)
    except Refused as refused:
        return _nothing(request, refused)
    context = {
        "shared": found,
        "token": token,
        "turns": shared_turns(found.link.conversation_id, found.messages),
        "is_own": found.link.owner_id == reader(request).pk,
    }
    response = render(request, "chat/shared.html", context)
    response["X-Robots-Tag"] = "noindex"
    return response


@login_required
@require_POST
def continue_shared(request: HttpRequest, token: str) -> HttpResponse:
    """Copy what the reader may see into a conversation of their own."""
    try:
        copied = sharing.continue_link(reader(request), token)
    except Refused as refused:
        return _nothing(request, refused)
    messages.success(request, _("This is your own copy: what you ask here is yours alone."))
    return redirect("conversation", copied.pk)


def _nothing(request: HttpRequest, refused: Refused) -> HttpResponse:
    return render(request, "chat/no_share.html", {"reason": str(refused)}, status=404)


def _own_link(request: HttpRequest, link_id: UUID) -> ShareLink:
    try:
        return sharing.own_link(reader(request), link_id)
    except Refused as refused:
        raise Http404(str(refused)) from refused
