"""Conversations as files: one of them, all of them, and back."""

from __future__ import annotations

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from chat.core.asking import BadAsk
from chat.exporting import export_all, export_conversation
from chat.importing import LARGEST_FILE, ImportReport, import_file
from chat.models import Conversation
from chat.presenters.files import exported_file, zip_of
from chat.views.reading import own_conversation, reader


@login_required
@require_GET
def export(request: HttpRequest, conversation_id: UUID) -> HttpResponse:
    """One conversation as Markdown, or with `as=json` as a file that can be imported."""
    found = own_conversation(request, conversation_id)
    try:
        return exported_file(export_conversation(reader(request), found), request.GET.get("as", ""))
    except BadAsk as refused:
        return HttpResponse(str(refused), status=400, content_type="text/plain; charset=utf-8")


@login_required
@require_GET
def export_everything(request: HttpRequest) -> HttpResponseBase:
    """Everything in a zip."""
    return zip_of(export_all(reader(request)))


@login_required
@require_http_methods(["GET", "POST"])
def files(request: HttpRequest) -> HttpResponse:
    """What there is to export, and a form that takes a file back."""
    report: ImportReport | None = None
    error = ""
    if request.method == "POST":
        sent = request.FILES.get("file")
        try:
            if sent is None:
                raise BadAsk(_("Choose a file that was exported here."))
            if (sent.size or 0) > LARGEST_FILE:
                raise BadAsk(_("The file has more than %d MB.") % (LARGEST_FILE // 10**6))
            report = import_file(reader(request), sent.read())
        except BadAsk as refused:
            error = str(refused)
    count = Conversation.objects.owned_by(reader(request)).listed().count()
    context = {"count": count, "report": report, "error": error}
    return render(request, "chat/files.html", context, status=422 if error else 200)
