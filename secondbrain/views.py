"""Health, figures, and the first page when chat is switched off."""

from __future__ import annotations

import sys

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from secondbrain.readiness import readiness

# Seconds until a browser or a script should look whether the database is back.
LOOK_AGAIN = 5
# What PostgreSQL says when a connection was lost, it stops, or it starts (appendix A of its
# manual). No state at all: it was not reached.
_AWAY = ("08", "57P01", "57P02", "57P03")
_FOR_SCRIPTS = ("/api/", "/v1/")


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


def broken(request: HttpRequest) -> HttpResponse:
    """What answers when a view failed: 503 while the database is away, else 500."""
    is_away = _is_database_away(sys.exc_info()[1])
    status = 503 if is_away else 500
    headers = {"Retry-After": str(LOOK_AGAIN)} if is_away else {}
    if request.path.startswith(_FOR_SCRIPTS):
        said = (
            {"code": "database_away", "detail": _("The database does not answer. Try again soon.")}
            if is_away
            else {"code": "broken", "detail": _("Something broke. It is in the server's log.")}
        )
        return JsonResponse(said, status=status, headers=headers)
    # Nothing here may ask the database: no request, so that no account is looked up.
    again = LOOK_AGAIN if request.method == "GET" else None
    words = {
        "again": again,
        "path": request.get_full_path(),
        "LANGUAGE_CODE": settings.LANGUAGE_CODE,
    }
    page = render_to_string(f"{status}.html", words)
    return HttpResponse(page, status=status, headers=headers)


def _is_database_away(error: BaseException | None) -> bool:
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(_AWAY)
