"""Health, figures, and the first page when chat is switched off."""

from __future__ import annotations

import sys

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.views import defaults

from secondbrain.readiness import readiness
from secondbrain.script_errors import is_for_scripts, script_error

# Seconds until a browser or a script should look whether the database is back.
LOOK_AGAIN = 5
# What PostgreSQL says when a connection was lost, it stops, or it starts (appendix A of its
# manual). No state at all: it was not reached.
_AWAY = ("08", "57P01", "57P02", "57P03")
# Something of that name is there, or what it is about is gone: looked for and not (or still)
# found a moment before, so somebody did it in between.
_OVERTAKEN = ("23505", "23503")


def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok", content_type="text/plain")


def readyz(request: HttpRequest) -> JsonResponse:
    """Everything an answer needs is there: 200, else 503 with what is missing."""
    state = readiness()
    return JsonResponse(state, status=200 if state["ready"] else 503)


def metrics(request: HttpRequest) -> HttpResponse:
    """Figures for a monitoring system; for everybody else there is no such page."""
    # Their library is imported by whoever asks: most installs are never asked.
    from secondbrain.metrics import may_read_metrics, metrics_text

    if not may_read_metrics(request):
        raise Http404("No such page.")
    return HttpResponse(metrics_text(), content_type="text/plain; version=0.0.4; charset=utf-8")


def home_without_chat(request: HttpRequest) -> HttpResponse:
    """Search is the first page where there is no chat."""
    return redirect("search")


def missing(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What answers where there is no such address, or nothing for this reader to see."""
    if is_for_scripts(request):
        return script_error(request, 404, "not_found", _("There is no such address."))
    return defaults.page_not_found(request, exception)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What answers where a view refuses its reader."""
    if is_for_scripts(request):
        said = str(exception) or _("You may not do this.")
        return script_error(request, 403, "permission_denied", said)
    return defaults.permission_denied(request, exception)


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What answers a request that cannot be read at all."""
    if not is_for_scripts(request):
        return defaults.bad_request(request, exception)
    if isinstance(exception, RequestDataTooBig):
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        said = _("Send at most %(most)s bytes.") % {"most": f"{most:,}"}
        return script_error(request, 413, "too_large", said)
    return script_error(request, 400, "bad_request", _("The request cannot be read."))


def broken(request: HttpRequest) -> HttpResponse:
    """What answers when a view failed: 503 while the database is away, 409 when somebody else
    was a moment quicker, else 500."""
    error = sys.exc_info()[1]
    if _is_overtaken(error):
        return _overtaken(request)
    is_away = _is_database_away(error)
    status = 503 if is_away else 500
    headers = {"Retry-After": str(LOOK_AGAIN)} if is_away else {}
    if is_for_scripts(request):
        said = (
            ("database_away", _("The database does not answer. Try again soon."))
            if is_away
            else ("broken", _("Something broke. It is in the server's log."))
        )
        reply = script_error(request, status, *said)
        for name, value in headers.items():
            reply[name] = value
        return reply
    # Nothing here may ask the database: no request, so that no account is looked up.
    again = LOOK_AGAIN if request.method == "GET" else None
    words = {
        "again": again,
        "path": request.get_full_path(),
        "LANGUAGE_CODE": settings.LANGUAGE_CODE,
    }
    page = render_to_string(f"{status}.html", words)
    return HttpResponse(page, status=status, headers=headers)


def _overtaken(request: HttpRequest) -> HttpResponse:
    if is_for_scripts(request):
        said = _("Somebody else saved or deleted the same just now. Look, and try again.")
        return script_error(request, 409, "conflict", said)
    return HttpResponse(render_to_string("409.html", {}, request), status=409)


def _is_overtaken(error: BaseException | None) -> bool:
    state = getattr(error.__cause__, "sqlstate", "") if isinstance(error, IntegrityError) else ""
    return state in _OVERTAKEN


def _is_database_away(error: BaseException | None) -> bool:
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(_AWAY)
