"""Health, and the first page when chat is switched off."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect

from secondbrain.readiness import readiness


def healthz(request: HttpRequest) -> HttpResponse:
    """This process answers."""
    return HttpResponse("ok", content_type="text/plain")


def readyz(request: HttpRequest) -> JsonResponse:
    """Everything an answer needs is there: 200, else 503 with what is missing."""
    state = readiness()
    return JsonResponse(state, status=200 if state["ready"] else 503)


def home_without_chat(request: HttpRequest) -> HttpResponse:
    """Search is the first page where there is no chat."""
    return redirect("search")
