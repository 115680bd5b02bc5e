"""The reader's word on a further search, by a plain form."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from chat.core.asking import Refused
from chat.history import own_answer
from chat.steps import decide
from chat.views.reading import reader


@login_required
@require_POST
def decide_step(
    request: HttpRequest, conversation_id: UUID, message_id: UUID, number: int
) -> HttpResponse:
    """Allow or refuse it, and show the conversation, which goes on."""
    try:
        answer = own_answer(reader(request), conversation_id, message_id)
        decide(answer, number, request.POST.get("decision"))
    except Refused as refused:
        if refused.status == 404:
            raise Http404(str(refused)) from refused
        messages.error(request, str(refused))
    return redirect("conversation", conversation_id)
