"""Pages of chat: the conversation, its list, its settings, and asking without scripts."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat.choosable import Choosable
from chat.core.asking import Ask, Refused, parse_ask, parse_uuid
from chat.forms import ChatSettingsForm
from chat.history import own_message_run
from chat.ledger import want_stop
from chat.models import Conversation
from chat.organising import own_folder
from chat.presenters.answers import turns_of
from chat.presenters.conversations import ConversationList, Place, conversation_list
from chat.presenters.page import ChatPage, choices_of, conversation_page, home_page
from chat.rights import caller_of_session
from chat.runs import SignedOut, runs_here
from chat.tasks import request_sweep
from chat.views.reading import own_conversation, reader
from providers.limits import limit_ahead

# How long a browser without scripts waits for the whole answer before it is shown the page
# of an answer that is still being written, which then loads itself anew.
WAIT_FOR_ANSWER = 20.0


@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """A new question. `q` searches the list, `text` is put into the field, `vault` chosen."""
    is_temporary = "temporary" in request.GET
    if is_temporary:
        request_sweep()
    page = home_page(
        reader(request),
        listed=_listed(request),
        draft=request.GET.get("text", ""),
        chosen=request.GET.getlist("vault"),
        is_temporary=is_temporary,
        opens_settings="settings" in request.GET,
    )
    return _chat(request, page)


@login_required
@require_GET
def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """A conversation, rendered whole. `at` names a message whose branch is to be shown."""
    found = own_conversation(request, conversation_id)
    return _chat(request, conversation_page(reader(request), found, at=_named(request, "at")))


@login_required
@require_GET
def turn(request: HttpRequest, conversation_id: UUID, message_id: UUID) -> HttpResponse:
    """One turn and its passages, to take the place of a turn that was being written."""
    found = own_conversation(request, conversation_id)
    for each in turns_of(found, reader(request), at=message_id):
        if each.answer and each.answer.id == str(message_id):
            context = {"turn": each, "limit": limit_ahead(reader(request).pk)}
            return render(request, "chat/turn_with_sources.html", context)
    raise Http404("No such answer.")


@login_required
@require_GET
def conversations(request: HttpRequest) -> HttpResponse:
    """The list alone: of a place, searched by `q`, or going on after `before`."""
    context = {
        "list": _listed(request),
        "current": request.GET.get("current", ""),
    }
    return render(request, "chat/conversations.html", context)


@require_POST
async def ask(request: HttpRequest) -> HttpResponse:
    """Ask by a plain form, wait for the answer, show the conversation."""
    caller = caller_of_session(request.session, await request.auser())
    if caller is None:
        return redirect("account_login")
    try:
        question = _ask_of(request)
        runs = runs_here()
        started = await runs.start(question, caller=caller)
    except SignedOut:
        return redirect("account_login")
    except Refused as refused:
        return await _refused(request, refused)
    try:
        async with asyncio.timeout(WAIT_FOR_ANSWER), aclosing(runs.follow(started.ids.run)) as said:
            async for _event in said:
                pass
    except TimeoutError:
        pass  # the page of the conversation goes on from here
    return redirect("conversation", started.ids.conversation)


@login_required
@require_POST
def stop_answer(request: HttpRequest, conversation_id: UUID, message_id: UUID) -> HttpResponse:
    """Stop an answer by a plain form, and show what was written of it."""
    try:
        ids = own_message_run(reader(request), conversation_id, message_id)
    except Refused as refused:
        raise Http404(str(refused)) from refused
    want_stop(ids.run)
    return redirect("conversation", conversation_id)


@login_required
@require_http_methods(["GET", "POST"])
def chat_settings(request: HttpRequest) -> HttpResponse:
    """Keep the reader's settings; an error comes back beside its field.

    Who opens the address, as after an error, finds the settings as they are.
    """
    if request.method == "GET":
        return redirect(f"{reverse('home')}?settings=1")
    form = ChatSettingsForm.of(Choosable(reader(request)), request.POST)
    is_fragment = bool(request.headers.get("HX-Request"))
    if not form.is_valid():
        template = "chat/settings_form.html" if is_fragment else "chat/settings_page.html"
        return render(request, template, {"form": form}, status=200 if is_fragment else 422)
    form.save()
    if not is_fragment:
        messages.success(request, _("Settings saved."))
        return redirect("home")
    known = Choosable(reader(request))
    fresh = choices_of(known)
    form = ChatSettingsForm.of(known)
    response = render(request, "chat/settings_form.html", {"form": form})
    chosen = {"model": fresh.model_id, "persona": fresh.persona_id or 0, "mode": fresh.mode}
    chosen["tool_use"] = fresh.tool_use
    response["HX-Trigger"] = json.dumps({"settings-saved": chosen})
    return response


def _chat(request: HttpRequest, page: ChatPage) -> HttpResponse:
    template = "chat/panel.html" if "panel" in request.GET else "chat/page.html"
    context = {
        "page": page,
        "list": page.listed,
        "current": page.conversation_id,
        "site_counts": page.site_counts,
    }
    return render(request, template, context)


def _listed(request: HttpRequest) -> ConversationList:
    """The list that the address describes; a folder that is not there is none."""
    user, asked = reader(request), request.GET
    folder = None
    if "folder" in asked:
        try:
            folder = own_folder(user, asked["folder"])
        except Refused as refused:
            raise Http404(str(refused)) from refused
    place = Place(folder=folder, is_archive="archive" in asked)
    contains, before = asked.get("q", ""), asked.get("before", "")
    return conversation_list(user, place=place, contains=contains, before=before)


def _ask_of(request: HttpRequest) -> Ask:
    """The question in a posted form. All vaults ticked, or none: every readable one."""
    data: dict[str, Any] = dict(request.POST.items())
    data["vaults"] = request.POST.getlist("vaults") or None
    return parse_ask(data)


async def _refused(request: HttpRequest, refused: Refused) -> HttpResponse:
    """Back to where it was asked, with the reason and what was typed."""
    return await sync_to_async(_refused_page)(request, refused)


def _refused_page(request: HttpRequest, refused: Refused) -> HttpResponse:
    messages.error(request, str(refused))
    user, draft = reader(request), request.POST.get("text", "")
    found = _asked_in(user, request.POST.get("conversation", ""))
    page = conversation_page(user, found, draft=draft) if found else home_page(user, draft=draft)
    response = _chat(request, page)
    response.status_code = refused.status
    return response


def _asked_in(user: User, conversation_id: str) -> Conversation | None:
    """The reader's conversation that a form names; None when it names none of theirs."""
    try:
        wanted = parse_uuid(conversation_id, name="conversation")
    except Refused:
        return None
    if wanted is None:
        return None
    return Conversation.objects.owned_by(user).filter(pk=wanted).first()


def _named(request: HttpRequest, name: str) -> UUID | None:
    """The message that the address names, None for none or nonsense."""
    try:
        return UUID(request.GET.get(name, ""))
    except ValueError:
        return None
