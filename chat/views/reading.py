"""What every page of the chat begins with: who reads, what is theirs, how it is answered."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render

from chat.models import Conversation


def reader(request: HttpRequest) -> User:
    """The signed-in reader: login_required stands before every use."""
    assert isinstance(request.user, User)  # noqa: S101 -- narrows the type
    return request.user


def own_conversation(request: HttpRequest, conversation_id: UUID) -> Conversation:
    """The reader's conversation; 404 alike for missing and foreign ones."""
    owned = Conversation.objects.owned_by(request.user).select_related("folder")
    return get_object_or_404(owned, pk=conversation_id)


def is_fragment(request: HttpRequest) -> bool:
    """Whether a script asks, which shows the answer on the page that is open."""
    return bool(request.headers.get("HX-Request"))


def dialog(
    request: HttpRequest, template: str, context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """As a dialog over the page when scripts ask for it, else as a page of its own."""
    context["base"] = "chat/dialog.html" if is_fragment(request) else "plain.html"
    return render(request, template, context, status=status)


def done(request: HttpRequest, said: str, *, to: str, undo: str = "", **more: Any) -> HttpResponse:
    """It was done: scripts are told in JSON, others are sent on to a page that says so.

    `undo` is the address that takes it back by POST.
    """
    if is_fragment(request):
        return JsonResponse({"said": said, "undo": undo, **more})
    messages.success(request, said, extra_tags=undo)
    return redirect(to)
