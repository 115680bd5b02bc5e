"""Figures for a monitoring system: who may read them, what they say, what they never say."""

from __future__ import annotations

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from chat.models import Conversation, Message
from providers.circuits import note_failure
from providers.core.types import Usage
from providers.models import Provider
from providers.usage import record_usage
from secondbrain.metrics import metrics_text
from secondbrain.requests import RequestCounts
from tests.cast import Cast, make_user
from tests.chat.world import make_model, make_passage
from vault.models import Job

pytestmark = pytest.mark.django_db
Labels = frozenset[tuple[str, str]]


def figures(text: str) -> dict[tuple[str, Labels], float]:
    """{(name of the sample, its labels): value}"""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def read(counts: RequestCounts | None = None) -> dict[tuple[str, Labels], float]:
    return figures(metrics_text(counts or RequestCounts()).decode())


def labels(**found: str) -> Labels:
    return frozenset(found.items())


def test_only_staff_and_the_token_open_the_page(client: Client, settings: Settings) -> None:
    assert client.get("/metrics").status_code == 404
    # An unset token must not be what an empty one opens.
    assert client.get("/metrics", headers={"authorization": "Bearer "}).status_code == 404
    settings.METRICS_TOKEN = "a-long-random-token"
    for wrong in ("Bearer a-long-random-toke", "Bearer ", "Basic YQ==", "Bearer ä"):
        assert client.get("/metrics", headers={"authorization": wrong}).status_code == 404
    right = client.get("/metrics", headers={"authorization": "Bearer a-long-random-token"})
    assert right.status_code == 200
    assert right.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    client.force_login(make_user("mate"))
    assert client.get("/metrics").status_code == 404
    staff = make_user("root", is_superuser=True)
    client.force_login(staff)
    assert client.get("/metrics").status_code == 200
    staff.is_active = False
    staff.save()
    assert client.get("/metrics").status_code == 404


def test_calls_are_told_by_provider_purpose_and_outcome(cast: Cast) -> None:
    model = make_model(input_price=100_000)
    for milliseconds, failed_with in ((500, ""), (1500, ""), (3000, "silent")):
        record_usage(
            purpose="answer",
            model=model,
            usage=Usage(input_tokens=3, output_tokens=2),
            user_id=cast.mate.pk,
            milliseconds=milliseconds,
            failed_with=failed_with,
        )
    found = read()
    well = labels(provider="fake", model="cite", purpose="answer", outcome="ok")
    assert found["secondbrain_model_call_seconds_count", well] == 2
    assert found["secondbrain_model_call_seconds_sum", well] == 2.0
    badly = labels(provider="fake", model="cite", purpose="answer", outcome="silent")
    assert found["secondbrain_model_call_seconds_count", badly] == 1
    spent = labels(provider="fake", model="cite", direction="in")
    assert found["secondbrain_model_tokens_total", spent] == 9
    assert found["secondbrain_model_cost_usd_total", labels(provider="fake", model="cite")] == 0.9


def test_a_provider_that_is_left_alone_shows(cast: Cast) -> None:
    make_model()
    provider = Provider.objects.get(slug="fake")
    one = labels(provider="fake")
    assert read()["secondbrain_provider_circuit_open", one] == 0
    for _again in range(5):
        note_failure(provider, reason="gone")
    assert read()["secondbrain_provider_circuit_open", one] == 1
    assert read()["secondbrain_provider_available", one] == 1


def test_answers_jobs_and_the_index_are_told(cast: Cast) -> None:
    make_passage(cast.vault)
    conversation = Conversation.objects.create(owner=cast.mate)
    Message.objects.create(
        conversation=conversation, role="assistant", status="failed", error_code="silent"
    )
    Job.objects.create(key="sync:1", kind="sync", vault=cast.vault)
    found = read()
    assert found["secondbrain_answers", labels(status="failed", error="silent")] == 1
    assert found["secondbrain_jobs", labels(kind="sync", state="queued")] == 1
    assert found["secondbrain_oldest_job_seconds", labels()] >= 0
    assert found["secondbrain_worker_up", labels()] in {0, 1}
    all_notes = labels(vault=str(cast.vault.pk), part="all")
    assert found["secondbrain_notes", all_notes] == 1


def test_requests_are_counted_by_route_and_never_by_address(cast: Cast) -> None:
    passage = make_passage(cast.vault, title="Quorvex")
    client = Client()
    client.force_login(make_user("root", is_superuser=True))
    client.get(f"/vaults/{cast.vault.slug}/notes/{passage.path}")
    client.generic("BREW", "/healthz")
    text = client.get("/metrics").content.decode()
    found = figures(text)
    key = labels(method="unknown", route="healthz", status="2xx")
    assert found["secondbrain_http_request_seconds_count", key] >= 1
    for secret in ("Quorvex", cast.vault.slug, cast.vault.name, "root@example.com"):
        assert secret not in text


def test_times_fall_into_buckets_that_add_up() -> None:
    counts = RequestCounts()
    key = ("GET", "home", "2xx")
    for seconds in (0.001, 0.2, 0.2, 60.0):
        counts.add(key, seconds)
    found = read(counts)
    name = "secondbrain_http_request_seconds"
    common = {"method": "GET", "route": "home", "status": "2xx"}
    assert found[f"{name}_bucket", labels(**common, le="0.01")] == 1
    assert found[f"{name}_bucket", labels(**common, le="0.25")] == 3
    assert found[f"{name}_bucket", labels(**common, le="10.0")] == 3
    assert found[f"{name}_bucket", labels(**common, le="+Inf")] == 4
    assert found[f"{name}_count", labels(**common)] == 4
    assert found[f"{name}_sum", labels(**common)] == pytest.approx(60.401)
