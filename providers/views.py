"""The page of usage."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from providers.limits import allowances
from providers.presenters import MEASURES, limit_rows, total_row, usage_chart, usage_tables
from providers.reports import usage_report
from providers.usage_form import UsageForm


@login_required
@require_safe
@never_cache
def usage(request: HttpRequest) -> HttpResponse:
    """What the person used; for staff, what everybody used."""
    form = UsageForm(request.GET, user=request.user)
    asked = form.question()
    report = usage_report(asked)
    measure = form.measure()
    context = {
        "form": form,
        "asked": asked,
        "ranges": form.ranges(),
        "measures": form.measures(MEASURES),
        "total": total_row(report.total),
        "has_usage": report.total.calls > 0,
        "chart": usage_chart(report.days, measure=measure),
        "measure": MEASURES[measure],
        "shown": measure,
        "tables": usage_tables(report),
        "limits": limit_rows(allowances(request.user.pk)),
    }
    return render(request, "providers/usage.html", context, status=200 if form.is_valid() else 400)
