"""The lab: one question, every candidate, two settings side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import structlog
from asgiref.sync import async_to_sync
from django.contrib.auth.decorators import login_required
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from retrieval.core.query import LONGEST_TYPED, clean
from retrieval.core.types import Knobs
from retrieval.evaluation.questions import find_notes
from retrieval.knob_form import ASSEMBLY, RANKING, KnobForm, describe, knob_form, knob_query
from retrieval.lab import (
    DEFAULT_TOP,
    MOST_TOP,
    effects_of,
    examine,
    moves_between,
    own_run,
    path_taken,
    side_of,
    stored_knobs,
)
from retrieval.options import site_knobs
from retrieval.presenters.lab import column
from vault.access import evaluated_by, notes_in, scope_for
from vault.core.types import Scope
from vault.models import Vault
from vault.related import related_notes

log = structlog.get_logger(__name__)

KNOBS = (*RANKING, *ASSEMBLY)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What the address asks for."""

    question: str
    scope: Scope
    slugs: tuple[str, ...]
    top: int
    first: KnobForm
    second: KnobForm
    compares: bool

    @property
    def is_valid(self) -> bool:
        return self.first.is_valid and (not self.compares or self.second.is_valid)


@login_required
@require_safe
@never_cache
def lab(request: HttpRequest) -> HttpResponse:
    """A question under the microscope; also a kept search, and notes like a note.

    A search that was kept is shown to whoever asked it, whatever they own.
    """
    vaults = list(evaluated_by(request.user))
    if not vaults and not request.GET.get("run"):
        raise Http404("Nothing to look at.")
    base = _base()
    wanted = _read(request, vaults, base)
    context = _context(wanted, vaults)
    status = 200
    try:
        if request.GET.get("run"):
            context |= _kept(request, vaults, base)
        elif wanted.question and wanted.is_valid and vaults:
            context |= _searched(request, wanted)
        if request.GET.get("like") and vaults:
            context |= _similar(request, vaults)
    except OperationalError:
        log.exception("lab_failed")
        context["error"], status = _("The search took too long and was given up."), 503
    if not wanted.is_valid:
        status = 400
    return render(request, "retrieval/lab.html", context, status=status)


def _read(request: HttpRequest, vaults: list[Vault], base: Knobs) -> _Wanted:
    given = request.GET.dict()
    may = {vault.slug for vault in vaults}
    slugs = tuple(slug for slug in request.GET.getlist("vault") if slug in may)
    first = knob_form(given, base, names=KNOBS)
    return _Wanted(
        question=clean(given.get("q", ""), most=LONGEST_TYPED),
        scope=scope_for(request.user, slugs or sorted(may)),
        slugs=slugs,
        top=_top(given.get("top", "")),
        first=first,
        second=knob_form(given, first.knobs, prefix="b_", names=KNOBS),
        compares=given.get("compare") == "1",
    )


def _base() -> Knobs:
    """As the site is set, but for what asks a model: in the lab it is switched on by hand."""
    return replace(site_knobs(), alternates=False)


def _top(given: str) -> int:
    if given.isascii() and given.isdigit() and len(given) < 4:
        return min(MOST_TOP, max(1, int(given)))
    return DEFAULT_TOP


def _context(wanted: _Wanted, vaults: list[Vault]) -> dict[str, Any]:
    return {
        "question": wanted.question,
        "vaults": vaults,
        "chosen": wanted.slugs,
        "top": wanted.top,
        "first": wanted.first,
        "second": wanted.second,
        "compares": wanted.compares,
    }


def _searched(request: HttpRequest, wanted: _Wanted) -> dict[str, Any]:
    base = _base()
    sides = [_examine(request, wanted, wanted.first.knobs)]
    if wanted.compares:
        sides.append(_examine(request, wanted, wanted.second.knobs))
    moved = moves_between(*sides) if wanted.compares else None
    columns = [
        (describe(form.knobs, base), column(side, moved=moved, is_second=number == 1))
        for number, (form, side) in enumerate(
            zip((wanted.first, wanted.second), sides, strict=False)
        )
    ]
    context: dict[str, Any] = {
        "columns": columns,
        "path": async_to_sync(path_taken)(wanted.scope),
        "effects_url": f"?{_address(request)}",
    }
    if request.GET.get("effects"):
        found = async_to_sync(effects_of)(
            wanted.question, scope=wanted.scope, knobs=wanted.first.knobs, top=wanted.top
        )
        context["effects"] = [(each, _compare_url(wanted, base, each.knobs)) for each in found]
    return context


def _examine(request: HttpRequest, wanted: _Wanted, knobs: Knobs) -> Any:
    return async_to_sync(examine)(
        wanted.question,
        scope=wanted.scope,
        knobs=replace(knobs, passages=min(wanted.top, 30)),
        top=wanted.top,
        user_id=request.user.pk,
    )


def _kept(request: HttpRequest, vaults: list[Vault], base: Knobs) -> dict[str, Any]:
    """A search that was kept, such as that of an answer: its own asker may look at it."""
    given = request.GET.get("run", "")
    is_number = given.isascii() and given.isdigit() and len(given) < 19
    run = own_run(request.user.pk or 0, int(given)) if is_number else None
    if run is None:
        raise Http404("No such search.")
    knobs = stored_knobs(run, base)
    side = side_of(run, scope=scope_for(request.user), top=MOST_TOP)
    return {
        "kept": run,
        "question": run.queries[0] if run.queries else run.question,
        "chosen": tuple(vault.slug for vault in vaults if vault.slug in run.vaults),
        "first": knob_form({}, knobs, names=KNOBS),
        "second": knob_form({}, knobs, prefix="b_", names=KNOBS),
        "columns": [(describe(knobs, base), column(side))],
    }


def _similar(request: HttpRequest, vaults: list[Vault]) -> dict[str, Any]:
    name = request.GET.get("like", "").replace("\0", "").strip()
    scope = scope_for(request.user, [vault.slug for vault in vaults])
    for vault in vaults:
        found, _missing = find_notes(vault, [name])
        note = notes_in(scope).filter(pk__in=[each.pk for each in found]).first()
        if note is not None:
            rows = related_notes(note, scope=scope, limit=DEFAULT_TOP)
            return {
                "like": name,
                "like_note": note,
                "similar": [
                    (row, f"{likeness:.3f}", round(likeness * 100)) for row, likeness in rows
                ],
            }
    return {"like": name, "similar": [], "like_note": None}


def _address(request: HttpRequest) -> str:
    given = request.GET.copy()
    given["effects"] = "1"
    return given.urlencode()


def _compare_url(wanted: _Wanted, base: Knobs, other: Knobs) -> str:
    query = {
        "q": wanted.question,
        "vault": list(wanted.slugs),
        "top": wanted.top,
        "compare": "1",
        **knob_query(wanted.first.knobs, base),
        **knob_query(other, wanted.first.knobs, prefix="b_"),
    }
    return f"{reverse('lab')}?{urlencode(query, doseq=True)}"
