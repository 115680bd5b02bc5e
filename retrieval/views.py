"""Pages of search."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


@login_required
def search(request: HttpRequest) -> HttpResponse:
    return render(request, "retrieval/search.html")
