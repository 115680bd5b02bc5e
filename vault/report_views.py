"""Pages of what is wrong in a vault, and of how its readings went."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from vault import access, presenters
from vault.core.file_kinds import MOST_KINDS
from vault.core.rendering import anchor_id
from vault.forms import read_number
from vault.models import SyncRun, Vault
from vault.problem_kinds import Kind, Looked
from vault.problems import list_problems, problem_counts, wrong_in_all
from vault.reindexing import reindex_failed, reindex_notes
from vault.tasks import request_embed, request_sync

PAGE_ROWS = 50
FIRST_ROWS = 10
FIRST_RUNS = 5
# Kinds of files that are not read which the vault's page names; the page of a run names all.
KINDS_SHOWN = 5
# Of the handbook's page "writing-notes".
KINDS_HEADING = "Which files are read"
LARGEST_PAGE = 10_000


@login_required
@require_safe
@never_cache
def vault_report(request: HttpRequest, slug: str) -> HttpResponse:
    """The problems and runs of the vault's page, alone."""
    found = access.readable_vault(request.user, slug)
    return render(request, "vault/report.html", report_of(request, found))


@login_required
@require_safe
@never_cache
def vault_problems(request: HttpRequest, slug: str) -> HttpResponse:
    """What is wrong, of one kind or of all, page by page."""
    found = access.readable_vault(request.user, slug)
    asked = _asked(request.GET.get("kind", ""), request.GET.get("page", ""))
    context = _problems(request, found, asked, most=PAGE_ROWS)
    return render(request, "vault/problems.html", context)


@login_required
@require_POST
def vault_reindex(request: HttpRequest, slug: str) -> HttpResponse:
    """Have one note read again, or everything that failed."""
    found = access.editable_vault(request.user, slug)
    if "failed" in request.POST:
        count = reindex_failed(found.pk)
    else:
        note_id = read_number(request.POST.get("note", "")) or 0
        count = reindex_notes(access.notes_of(request.user, found).filter(pk=note_id))
    if count:
        request_sync(found.pk)
        request_embed(found.pk)
        said = ngettext("%d note will be read again.", "%d notes will be read again.", count)
        messages.success(request, said % count)
    else:
        messages.info(request, _("There is nothing to read again."))
    if "kind" not in request.POST:
        return redirect("vault", found.slug)
    asked = _asked(request.POST["kind"], request.POST.get("page", ""))
    return redirect(_address(found, asked.kind, asked.page))


@login_required
@require_safe
@never_cache
def vault_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """Every reading of the vault, newest first."""
    found = _whole_vault(request, slug)
    page = _asked("", request.GET.get("page", "")).page
    start = (page - 1) * PAGE_ROWS
    every = SyncRun.objects.filter(vault=found).defer("warnings")
    runs = list(every[start : start + PAGE_ROWS + 1])
    context = {
        "vault": found,
        "runs": [(run, presenters.run_words(run.counts)) for run in runs[:PAGE_ROWS]],
        "page": page,
        "has_more": len(runs) > PAGE_ROWS,
    }
    return render(request, "vault/runs.html", context)


@login_required
@require_safe
@never_cache
def vault_run(request: HttpRequest, slug: str, run_id: int) -> HttpResponse:
    """One reading: what it changed, how long it took, and what was wrong with which file."""
    found = _whole_vault(request, slug)
    run = SyncRun.objects.filter(vault=found, pk=run_id).first() if run_id < 2**63 else None
    if run is None:
        raise Http404("No such reading.")
    context = {
        "vault": found,
        "run": run,
        "words": presenters.run_words(run.counts),
        "facts": presenters.run_facts(run),
        **_not_read(request, run, most=MOST_KINDS),
        "left_out": max(0, run.counts.get("warnings", 0) - len(run.warnings)),
    }
    return render(request, "vault/run.html", context)


def report_of(request: HttpRequest, found: Vault) -> dict[str, Any]:
    """The first problems and the last runs, for the vault's page."""
    context = _problems(request, found, Asked(None, 1), most=FIRST_ROWS)
    scope = access.scope_for(request.user, [found.slug])
    every = SyncRun.objects.filter(vault=found).defer("warnings")
    runs = every[: FIRST_RUNS + 1] if not scope.rules else ()
    rows = [(run, presenters.run_words(run.counts)) for run in runs]
    scanned = next((run for run, _words in rows if "not_read" in run.counts), None)
    return context | {
        **(_not_read(request, scanned, most=KINDS_SHOWN) if scanned else {}),
        "runs": rows[:FIRST_RUNS],
        "has_more_runs": len(rows) > FIRST_RUNS,
        "is_whole": not scope.rules,
    }


def _not_read(request: HttpRequest, run: SyncRun, *, most: int) -> dict[str, str]:
    """What the run left out by its kind, and where the handbook says which kinds are read:
    of use to those only who have the handbook as a vault."""
    words = presenters.not_read_words(run, most=most)
    if not words:
        return {}
    place = str(settings.BASE_DIR / "docs")
    handbook = access.visible_to(request.user).filter(place=place).first()
    if handbook is None:
        return {"not_read": words}
    address = presenters.PageAddresses().note(handbook.slug, "writing-notes.md")
    return {"not_read": words, "kinds_page": f"{address}#{anchor_id(KINDS_HEADING)}"}


@dataclass(frozen=True, slots=True)
class Asked:
    """Which problems: of a kind (None: all that is wrong), and which page, from 1."""

    kind: Kind | None
    page: int


def _asked(kind: str, page: str) -> Asked:
    number = read_number(page) or 1
    known = Kind(kind) if kind in set(Kind) else None
    return Asked(known, min(max(number, 1), LARGEST_PAGE))


def _problems(request: HttpRequest, found: Vault, asked: Asked, *, most: int) -> dict[str, Any]:
    looked = Looked((found,), access.scope_for(request.user, [found.slug]))
    counts = problem_counts(looked)
    start = (asked.page - 1) * most
    rows = list_problems(looked, kind=asked.kind, start=start, most=most + 1, counts=counts)
    total = counts[asked.kind] if asked.kind else wrong_in_all(counts)
    return {
        "vault": found,
        "problems": None if rows is None else rows[:most],
        "has_more": rows is not None and len(rows) > most,
        "total": total,
        "kinds": presenters.kind_chips(counts, asked.kind, lambda kind: _address(found, kind, 1)),
        "kind": asked.kind,
        "page": asked.page,
        "first_row": start + 1,
        "last_row": start + len(rows[:most]) if rows else start,
        "failed": (counts[Kind.FAILED] or 0) + (counts[Kind.REFUSED] or 0),
        "secrets": counts[Kind.SECRETS],
        "all_problems": _address(found, None, 1),
        "before": _address(found, asked.kind, asked.page - 1) if asked.page > 1 else "",
        "after": _address(found, asked.kind, asked.page + 1),
        "is_editor": access.editable_by(request.user).filter(pk=found.pk).exists(),
    }


def _address(found: Vault, kind: Kind | None, page: int) -> str:
    asked = ({"kind": kind.value} if kind else {}) | ({"page": page} if page > 1 else {})
    address = reverse("vault-problems", args=[found.slug])
    return f"{address}?{urlencode(asked)}" if asked else address


def _whole_vault(request: HttpRequest, slug: str) -> Vault:
    """The vault, for those who may read all of it: what a run changed tells of all folders."""
    found = access.readable_vault(request.user, slug)
    if access.scope_for(request.user, [slug]).rules:
        raise Http404("No such page.")
    return found
