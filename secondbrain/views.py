"""Health, figures, and the first page when chat is switched off."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

from secondbrain.readiness import readiness


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
