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
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from chat.core.asking import Ask, Refused, parse_ask, parse_uuid
from chat.forms import ChatSettingsForm
from chat.models import Conversation
from chat.presenters.answers import turns_of
from chat.presenters.conversations import conversation_groups
from chat.presenters.page import ChatPage, conversation_page, home_page
from chat.rights import caller_of_session
from chat.runs import SignedOut, runs_here
from chat.runs import delete_conversation as delete_with_runs

# How long a browser without scripts waits for the whole answer before it is shown the page
# of an answer that is still being written, which then loads itself anew.
WAIT_FOR_ANSWER = 20.0
LONGEST_TITLE = 200  # characters, as the column has it


@login_required
@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """A new question. `q` filters the list, `text` is put into the field, `vault` chosen."""
    page = home_page(
        _user(request),
        contains=request.GET.get("q", ""),
        draft=request.GET.get("text", ""),
        chosen=request.GET.getlist("vault"),
        opens_settings="settings" in request.GET,
    )
    return _chat(request, page)


@login_required
@require_GET
def conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """A conversation, rendered whole. `answer` names an older version of an answer."""
    found = _own(request, conversation_id)
    chosen = request.GET.get("answer", "")
    return _chat(request, conversation_page(_user(request), found, chosen=chosen))


@login_required
@require_GET
def turn(request: HttpRequest, conversation_id: UUID, message_id: UUID) -> HttpResponse:
    """One turn and its passages, to take the place of a turn that was being written."""
    found = _own(request, conversation_id)
    answer_id = str(message_id)
    for each in turns_of(found, _user(request), chosen=answer_id):
        if each.answer and each.answer.id == answer_id:
            return render(request, "chat/turn_with_sources.html", {"turn": each})
    raise Http404("No such answer.")


@login_required
@require_GET
def conversations(request: HttpRequest) -> HttpResponse:
    """The list alone, filtered by `q`; `current` is the one that is open."""
    contains = request.GET.get("q", "")
    context = {
        "groups": conversation_groups(_user(request), contains=contains),
        "filter": contains,
        "current": request.GET.get("current", ""),
        "id": "panel-chat" if request.GET.get("column") == "panel-chat" else "chat",
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
@require_http_methods(["GET", "POST"])
def rename_conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Ask for a new title, or keep the one that was sent for good."""
    found = _own(request, conversation_id)
    title = " ".join(request.POST.get("title", "").replace("\x00", "").split())
    if request.method == "POST" and title and len(title) <= LONGEST_TITLE:
        Conversation.objects.filter(pk=found.pk).update(title=title, title_is_final=True)
        return redirect("conversation", found.pk)
    context = {
        "conversation": found,
        "title": title if request.method == "POST" else str(found),
        "most": LONGEST_TITLE,
        "is_wrong": request.method == "POST",
    }
    return _dialog(request, "chat/rename.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def delete_conversation(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """Say what would be lost; delete it when that was confirmed."""
    found = _own(request, conversation_id)
    if request.method == "POST":
        title = str(found)
        delete_with_runs(found)
        messages.success(request, _("“%(title)s” was deleted.") % {"title": title})
        return redirect("home")
    questions = found.messages.filter(role="user").count()
    return _dialog(request, "chat/delete.html", {"conversation": found, "questions": questions})


@login_required
@require_POST
def chat_settings(request: HttpRequest) -> HttpResponse:
    """Keep the reader's settings; an error comes back beside its field."""
    form = ChatSettingsForm.of(_user(request), request.POST)
    is_fragment = bool(request.headers.get("HX-Request"))
    if not form.is_valid():
        template = "chat/settings_form.html" if is_fragment else "chat/settings_page.html"
        return render(request, template, {"form": form}, status=200 if is_fragment else 422)
    form.save()
    if not is_fragment:
        messages.success(request, _("Settings saved."))
        return redirect("home")
    fresh = home_page(_user(request)).choices
    response = render(
        request, "chat/settings_form.html", {"form": ChatSettingsForm.of(_user(request))}
    )
    chosen = {"model": fresh.model_id, "persona": fresh.persona_id or 0, "mode": fresh.mode}
    response["HX-Trigger"] = json.dumps({"settings-saved": chosen})
    return response


def _chat(request: HttpRequest, page: ChatPage) -> HttpResponse:
    template = "chat/panel.html" if "panel" in request.GET else "chat/page.html"
    context = {
        "page": page,
        "groups": page.groups,
        "filter": page.filter,
        "current": page.conversation_id,
        "site_counts": page.site_counts,
    }
    return render(request, template, context)


def _dialog(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """As a dialog over the page when scripts ask for it, else as a page of its own."""
    is_fragment = bool(request.headers.get("HX-Request"))
    context["base"] = "chat/dialog.html" if is_fragment else "plain.html"
    return render(request, template, context)


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
    user, draft = _user(request), request.POST.get("text", "")
    found = _named(user, request.POST.get("conversation", ""))
    page = conversation_page(user, found, draft=draft) if found else home_page(user, draft=draft)
    response = _chat(request, page)
    response.status_code = refused.status
    return response


def _named(user: User, conversation_id: str) -> Conversation | None:
    """The reader's conversation that a form names; None when it names none of theirs."""
    try:
        wanted = parse_uuid(conversation_id, name="conversation")
    except Refused:
        return None
    if wanted is None:
        return None
    return Conversation.objects.owned_by(user).filter(pk=wanted).first()


def _own(request: HttpRequest, conversation_id: UUID) -> Conversation:
    """The reader's conversation; 404 alike for missing and foreign ones."""
    return get_object_or_404(Conversation.objects.owned_by(request.user), pk=conversation_id)


def _user(request: HttpRequest) -> User:
    """The signed-in reader: login_required stands before every use."""
    assert isinstance(request.user, User)  # noqa: S101 -- narrows the type
    return request.user
