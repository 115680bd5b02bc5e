"""Pages of search."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import structlog
from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from retrieval.core.types import Mode, SearchResult
from retrieval.forms import CHOSEN, DEFAULT_LIMIT, Asked, Given, Unreadable, read_asked
from retrieval.presenters.results import (
    count_copies,
    filter_chips,
    hit_rows,
    is_only_near,
    mended_chips,
)
from retrieval.presenters.words import shown_arms
from retrieval.search import MOST_RESULTS, search_notes
from retrieval.why import why_not_for, why_not_found
from vault.access import evaluated_by, owned_by, readable_vault, scope_for, visible_to

log = structlog.get_logger(__name__)

MODE_LABELS = {
    Mode.KEYWORD: gettext_lazy("Keyword"),
    Mode.SEMANTIC: gettext_lazy("Meaning"),
    Mode.HYBRID: gettext_lazy("Both"),
}
KIND_LABELS = {
    "note": gettext_lazy("Notes"),
    "code": gettext_lazy("Code"),
    "canvas": gettext_lazy("Canvases"),
    "attachment": gettext_lazy("Attachments"),
}
# Filters with a control of their own on the page; the others are chips alone.
ON_PAGE = ("kind", "after", "before")


@login_required
@require_safe
@never_cache
@vary_on_headers("HX-Request")
def search(request: HttpRequest) -> HttpResponse:
    """The page, or its results alone when the page asks for them while somebody types."""
    context: dict[str, Any] = {"query": request.GET.get("q", ""), "mode": Mode.HYBRID}
    status = 200
    try:
        asked = read_asked(request.user, _given(request))
        context |= {"query": asked.query, "mode": asked.mode, "chosen": asked.slugs}
        context |= _found(asked)
    except Unreadable as error:
        context["error"], status = str(error), 400
        pairs = [(name, value) for name, values in request.GET.lists() for value in values]
        context["mended"] = mended_chips(pairs, error)
    except OperationalError:
        log.exception("search_failed")
        context["error"], status = _("The search took too long and was given up."), 503
    context["may_look_closer"] = evaluated_by(request.user).exists()
    if request.headers.get("HX-Request"):
        # htmx shows only successful answers: the error is in the text.
        return render(request, "retrieval/results.html", context)
    context |= {
        "modes": [(mode.value, label) for mode, label in MODE_LABELS.items()],
        "vaults": visible_to(request.user),
        "kinds": [(kind, KIND_LABELS[kind]) for kind in KIND_LABELS],
        "given": {name: request.GET.get(name, "") for name in ON_PAGE},
        "beside": [pair for pair in _chosen(request) if pair[0] not in ON_PAGE],
    }
    return render(request, "retrieval/search.html", context, status=status)


@login_required
@require_safe
@never_cache
def why(request: HttpRequest) -> HttpResponse:
    """Why a query does not find a note of a vault."""
    vault = readable_vault(request.user, request.GET.get("vault", "").replace("\0", ""))
    name, query = (request.GET.get(key, "").replace("\0", "") for key in ("note", "q"))
    who = request.GET.get("who", "").replace("\0", "").strip()[:254]
    is_owner = owned_by(request.user).filter(pk=vault.pk).exists()
    context: dict[str, Any] = {
        "vault": vault, "name": name, "query": query, "who": who, "is_owner": is_owner,
    }  # fmt: skip
    scope = scope_for(request.user, [vault.slug])
    if name and who and is_owner:
        person = User.objects.filter(email__iexact=who).first()
        if person is None:
            context["error"] = _("%(who)s is no member of this vault, or not active.") % {
                "who": who
            }
        else:
            found = async_to_sync(why_not_for)(person, vault, name, query, scope=scope)
            context["why"] = found
    elif name:
        context["why"] = async_to_sync(why_not_found)(vault, name, query, scope=scope)
    return render(request, "retrieval/why.html", context)


def _given(request: HttpRequest) -> Given:
    chosen: dict[str, list[str]] = {}
    for name, value in _chosen(request):
        chosen.setdefault(name, []).append(value)
    return Given(
        query=request.GET.get("q", ""),
        mode=request.GET.get("mode", ""),
        slugs=request.GET.getlist("vault"),
        limit=request.GET.get("limit", ""),
        chosen=chosen,
    )


def _chosen(request: HttpRequest) -> list[tuple[str, str]]:
    """Filters of the address beside the query."""
    return [
        (name, value) for name in CHOSEN for value in request.GET.getlist(name) if value.strip()
    ]


def _lab_query(asked: Asked) -> str:
    """The lab's parameters for the same question."""
    return urlencode(
        {"q": asked.text, "mode": str(asked.mode), "vault": list(asked.slugs)}, doseq=True
    )


def _found(asked: Asked) -> dict[str, Any]:
    if not asked.text:
        return {}
    result: SearchResult = async_to_sync(search_notes)(
        asked.text, scope=asked.scope, mode=asked.mode, limit=asked.limit
    )
    more = len(result.hits) == asked.limit == DEFAULT_LIMIT
    return {
        "result": result,
        "chips": filter_chips(asked),
        "arms": shown_arms(result.arms),
        "lab_query": _lab_query(asked),
        "rows": hit_rows(result),
        "copies": count_copies(result),
        "milliseconds": round(result.timings.get("total", 0)),
        "more": MOST_RESULTS if more else None,
        "only_near": asked.mode == Mode.HYBRID and is_only_near(result),
    }
