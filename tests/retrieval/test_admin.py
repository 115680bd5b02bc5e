"""Search in the admin: settings are one valid row, runs are read only."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from retrieval.core.types import Fusion, Knobs
from retrieval.models import RetrievalRun, RetrievalSettings
from retrieval.options import site_knobs
from tests.cast import make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(make_user("admin", is_superuser=True))
    return client


def form(**changes: object) -> dict[str, object]:
    return {
        "fusion": "convex", "passages": 8, "depth": 50, "rrf_k": 60, "chunks_per_note": 3,
        "token_budget": 3000, "neighbours": 1, "alternates": "on", **changes,
    }  # fmt: skip


def test_without_a_row_the_defaults_hold() -> None:
    assert site_knobs() == Knobs()


def test_settings_are_saved_as_the_one_row(admin: Client) -> None:
    add = reverse("admin:retrieval_retrievalsettings_add")
    assert admin.post(add, form(passages=5, fusion="rrf")).status_code == 302
    assert (site_knobs().passages, site_knobs().fusion) == (5, Fusion.RRF)
    assert admin.get(add).status_code == 403
    change = reverse("admin:retrieval_retrievalsettings_change", args=[1])
    assert admin.post(change, form(passages=12)).status_code == 302
    assert site_knobs().passages == 12
    assert RetrievalSettings.objects.count() == 1
    assert (
        admin.post(reverse("admin:retrieval_retrievalsettings_delete", args=[1])).status_code == 403
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("passages", 0), ("passages", 31), ("depth", 9), ("depth", 501), ("rrf_k", 0),
        ("chunks_per_note", 0), ("token_budget", 50), ("neighbours", 6), ("fusion", "sum"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        RetrievalSettings(**{"pk": 1, name: value}).full_clean()
    assert name in refused.value.message_dict


def test_runs_show_how_and_neither_who_nor_what(admin: Client) -> None:
    asker = make_user("asker")
    run = RetrievalRun.objects.create(
        question="Where is the pump?", queries=["pump"], mode="hybrid", user=asker
    )
    listing = admin.get(reverse("admin:retrieval_retrievalrun_changelist"))
    url = reverse("admin:retrieval_retrievalrun_change", args=[run.pk])
    page = admin.get(url)
    assert (listing.status_code, page.status_code) == (200, 200)
    for content in (listing.content.decode(), page.content.decode()):
        assert "hybrid" in content
        assert "pump" not in content
        assert asker.email not in content
    assert admin.post(url, {"question": "x"}).status_code == 403
    assert admin.get(reverse("admin:retrieval_retrievalrun_add")).status_code == 403
