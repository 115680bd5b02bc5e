"""Figures for a monitoring system: what /metrics says, in Prometheus' text form.

All but the requests is read from the tables at the moment of asking, so it is the same
whichever process is asked, and survives a restart. Labels hold numbers of vaults, slugs of
providers and names of models; never a note, a question, a person.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterable, Iterator

from django.apps import apps
from django.conf import settings
from django.db.models import Count, Sum
from django.http import HttpRequest
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    SummaryMetricFamily,
)
from prometheus_client.metrics_core import Metric

from providers.circuits import circuit_of
from providers.models import Provider, UsageRecord
from providers.registry import availability
from secondbrain.requests import RequestCounts, request_counts
from vault import heartbeat
from vault.models import Job, Vault
from vault.status import vault_status


def may_read_metrics(request: HttpRequest) -> bool:
    """Staff by their session, or who shows METRICS_TOKEN as a bearer token."""
    token = request.headers.get("Authorization", "").removeprefix("Bearer ").strip()
    wanted = settings.METRICS_TOKEN
    if wanted and hmac.compare_digest(token.encode(), wanted.encode()):
        return True
    return bool(request.user.is_active and getattr(request.user, "is_staff", False))


def metrics_text(counts: RequestCounts = request_counts) -> bytes:
    """Every figure, in Prometheus' text form."""
    registry = CollectorRegistry()
    registry.register(_Collector(counts))
    return generate_latest(registry)


class _Collector:
    def __init__(self, counts: RequestCounts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        yield _requests(self._counts)
        sources: Iterable[Callable[[], Iterator[Metric]]] = (
            _calls,
            _providers,
            _answers,
            _jobs,
            _index,
        )
        for source in sources:
            yield from source()

    def describe(self) -> list[Metric]:
        """Nothing ahead: the tables may not be there when the registry is made."""
        return []


def _requests(counts: RequestCounts) -> Metric:
    family = HistogramMetricFamily(
        "secondbrain_http_request_seconds",
        "Requests this web process answered; of a stream until its first byte",
        labels=["method", "route", "status"],
    )
    for key, (buckets, seconds) in sorted(counts.read().items()):
        family.add_metric(key, buckets=buckets, sum_value=seconds)
    return family


def _calls() -> Iterator[Metric]:
    labels = ["provider", "model", "purpose", "outcome"]
    calls = SummaryMetricFamily(
        "secondbrain_model_call_seconds", "Calls to models and how long they took", labels=labels
    )
    tokens = CounterMetricFamily(
        "secondbrain_model_tokens", "Tokens used", labels=["provider", "model", "direction"]
    )
    cost = CounterMetricFamily(
        "secondbrain_model_cost_usd", "Cost at the prices of the models' rows", labels=labels[:2]
    )
    rows = UsageRecord.objects.values_list("provider", "model", "purpose", "failed_with").annotate(
        n=Count("pk"), ms=Sum("milliseconds")
    )
    for provider, model, purpose, failed_with, n, ms in rows.order_by():
        calls.add_metric(
            [provider, model, purpose, failed_with or "ok"], count_value=n, sum_value=ms / 1000
        )
    spent = UsageRecord.objects.values_list("provider", "model").annotate(
        tokens_in=Sum("input_tokens"), tokens_out=Sum("output_tokens"), usd=Sum("cost")
    )
    for provider, model, tokens_in, tokens_out, usd in spent.order_by():
        tokens.add_metric([provider, model, "in"], tokens_in)
        tokens.add_metric([provider, model, "out"], tokens_out)
        cost.add_metric([provider, model], float(usd))
    yield from (calls, tokens, cost)


def _providers() -> Iterator[Metric]:
    circuits = GaugeMetricFamily(
        "secondbrain_provider_circuit_open",
        "1: left alone after failures; 0.5: one call may try; 0: in use",
        labels=["provider"],
    )
    available = GaugeMetricFamily(
        "secondbrain_provider_available", "1: has what a call needs", labels=["provider"]
    )
    now = time.time()
    for provider in Provider.objects.filter(enabled=True):
        circuit = circuit_of(provider)
        state = 1.0 if circuit.is_open(now) else 0.5 if circuit.is_half_open(now) else 0.0
        circuits.add_metric([provider.slug], state)
        available.add_metric([provider.slug], float(availability(provider).is_available))
    yield from (circuits, available)


def _answers() -> Iterator[Metric]:
    if not apps.is_installed("chat"):
        return
    from chat.models import Message

    family = GaugeMetricFamily(
        "secondbrain_answers",
        "Answers that are kept, by how they ended; running: being written now",
        labels=["status", "error"],
    )
    written = Message.objects.filter(role=Message.Role.ASSISTANT)
    rows = written.values_list("status", "error_code").annotate(n=Count("pk")).order_by()
    for status, error, n in rows:
        family.add_metric([status, error], n)
    yield family


def _jobs() -> Iterator[Metric]:
    depth = GaugeMetricFamily(
        "secondbrain_jobs", "Jobs by kind and state", labels=["kind", "state"]
    )
    for kind, state, n in (
        Job.objects.values_list("kind", "state").annotate(n=Count("pk")).order_by()
    ):
        depth.add_metric([kind, state], n)
    yield depth
    oldest = Job.objects.filter(state=Job.State.QUEUED).order_by("created").first()
    waits = (timezone.now() - oldest.created).total_seconds() if oldest else 0.0
    yield GaugeMetricFamily(
        "secondbrain_oldest_job_seconds", "How long the oldest queued job waits", value=waits
    )
    yield GaugeMetricFamily(
        "secondbrain_worker_up", "1: the worker answers", value=float(heartbeat.is_beating())
    )


def _index() -> Iterator[Metric]:
    notes = GaugeMetricFamily(
        "secondbrain_notes",
        "Notes of a vault: all, searchable by words, covered by meaning too, failed",
        labels=["vault", "part"],
    )
    passages = GaugeMetricFamily(
        "secondbrain_passages",
        "Passages of a vault: all, embedded, pending, failed",
        labels=["vault", "part"],
    )
    for vault in Vault.objects.present().select_related("embedding_model", "next_embedding_model"):
        status, number = vault_status(vault, with_problems=False), str(vault.pk)
        parts = {
            "all": status.notes,
            "searchable": status.searchable,
            "covered": status.covered,
            "failed": status.failed_notes,
        }
        _add_known(notes, number, parts)
        of_passages = {
            "all": status.chunks,
            "embedded": status.embedded,
            "pending": status.pending,
            "failed": status.failed,
        }
        _add_known(passages, number, of_passages)
    yield from (notes, passages)


def _add_known(family: GaugeMetricFamily, number: str, parts: dict[str, int | None]) -> None:
    """What could be counted; a sample that is left out is no zero."""
    for part, value in parts.items():
        if value is not None:
            family.add_metric([number, part], value)
