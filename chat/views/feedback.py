"""Thumbs, what to ask next, and the questions that a vault had no answer to."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from chat.core.asking import Refused
from chat.feedback import Thumb, give_feedback, make_golden, withdraw_feedback
from chat.follow_ups import asked_follow_ups
from chat.models import UnansweredQuestion
from chat.presenters.after import after_answers, unanswered_rows
from chat.providing import site_providing
from chat.unanswered import close, reopen, unanswered_in
from chat.views.reading import is_fragment, reader
from vault.access import editable_vault

ROWS = 50


@login_required
@require_POST
def feedback(request: HttpRequest, conversation_id: UUID, message_id: UUID) -> HttpResponse:
    """Keep a thumb: `verdict` is up, down or none."""
    user, sent = reader(request), request.POST
    verdict = sent.get("verdict", "")
    try:
        if verdict == "none":
            withdraw_feedback(user, conversation_id, message_id)
        else:
            thumb = Thumb(
                is_helpful=verdict == "up",
                reason=sent.get("reason", ""),
                comment=sent.get("comment", ""),
                shares_question="shares_question" in sent,
            )
            give_feedback(user, conversation_id, message_id, thumb)
    except Refused as refused:
        return _refused(request, conversation_id, refused)
    return _below(
        request, conversation_id, message_id, said=_("Thank you.") if sent.get("sent") else ""
    )


@login_required
@require_POST
def golden(request: HttpRequest, conversation_id: UUID, message_id: UUID) -> HttpResponse:
    """Make the question a golden one of the vaults it was answered from."""
    try:
        made = make_golden(reader(request), conversation_id, message_id)
    except Refused as refused:
        return _refused(request, conversation_id, refused)
    said = ngettext(
        "Kept as a golden question of %(names)s.",
        "Kept as a golden question of %(names)s.",
        len(made),
    ) % {"names": ", ".join(question.vault.name for question in made)}
    return _below(request, conversation_id, message_id, said=said)


@login_required
@require_GET
def follow_ups(request: HttpRequest, conversation_id: UUID, message_id: UUID) -> HttpResponse:
    """What to ask next, made by the model when the reader wants that."""
    try:
        found = asked_follow_ups(reader(request), conversation_id, message_id, site_providing())
    except Refused as refused:
        raise Http404(str(refused)) from refused
    context = {"questions": found, "conversation_id": conversation_id}
    return render(request, "chat/follow_ups.html", context)


@login_required
@require_GET
def unanswered(request: HttpRequest, slug: str) -> HttpResponse:
    """What readers asked and the notes of a vault do not say, for those who may write it."""
    user = reader(request)
    vault = editable_vault(user, slug)
    state = request.GET.get("state", "open")
    state = state if state in UnansweredQuestion.State.values else "open"
    found = unanswered_in(user, vault).filter(state=state)
    page = Paginator(found, ROWS).get_page(request.GET.get("page"))
    context = {
        "vault": vault,
        "rows": unanswered_rows(user, list(page.object_list)),
        "page": page,
        "state": state,
        "states": UnansweredQuestion.State.choices,
    }
    return render(request, "chat/unanswered.html", context)


@login_required
@require_POST
def end_unanswered(request: HttpRequest, slug: str, question_id: int) -> HttpResponse:
    """Close a question, after asking it once more; or take the closing back."""
    user = reader(request)
    vault = editable_vault(user, slug)
    if "reopen" in request.POST:
        found = reopen(user, vault, question_id)
        said = _("It is open again.")
    else:
        found = close(user, vault, question_id, site_providing())
        is_answered = found is not None and found.state == UnansweredQuestion.State.ANSWERED
        said = (
            _("The notes answer it now.")
            if is_answered
            else _("Asked again: the notes still do not say. It is closed.")
        )
    if found is None:
        raise Http404("No such question.")
    messages.success(request, said)
    return redirect(f"{reverse('unanswered', args=[slug])}?state={found.state}")


def _below(
    request: HttpRequest, conversation_id: UUID, message_id: UUID, *, said: str
) -> HttpResponse:
    if not is_fragment(request):
        if said:
            messages.success(request, said)
        return redirect(f"{reverse('conversation', args=[conversation_id])}#m-{message_id}")
    after = after_answers(reader(request), [str(message_id)])[str(message_id)]
    answer = {"id": message_id, "conversation_id": conversation_id, "after": after}
    return render(request, "chat/feedback.html", {"answer": answer, "said": said})


def _refused(request: HttpRequest, conversation_id: UUID, refused: Refused) -> HttpResponse:
    if refused.status == 404:
        raise Http404(str(refused))
    if is_fragment(request):
        return render(request, "chat/feedback_refused.html", {"said": str(refused)})
    messages.error(request, str(refused))
    return redirect("conversation", conversation_id)
