"""Search in the admin: settings are one valid row, runs are read only."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.urls import reverse

from retrieval.core.comparing import compare
from retrieval.core.metrics import score
from retrieval.core.types import Fusion, Knobs
from retrieval.models import EvalRun, RetrievalRun, RetrievalSettings
from retrieval.options import site_knobs
from tests.cast import Cast, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> Client:
    client = Client()
    client.force_login(make_user("admin", is_superuser=True))
    return client


def form(**changes: object) -> dict[str, object]:
    return {
        "fusion": "convex", "passages": 8, "depth": 50, "overfetch": 3, "rrf_k": 60,
        "chunks_per_note": 3, "token_budget": 3000, "neighbours": 1, "alternates": "on", **changes,
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


def test_worse_settings_are_asked_about_before_they_are_saved(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Knobs, Knobs]] = []
    good, bad = score(["a"], {"a": 1}), score(["b", "a"], {"a": 1})

    def find_worse(before: Knobs, after: Knobs) -> object:
        asked.append((before, after))
        return compare({"1": good, "2": good}, {"1": bad, "2": good})

    monkeypatch.setattr("retrieval.admin.would_be_worse", find_worse)
    add = reverse("admin:retrieval_retrievalsettings_add")
    answer = admin.post(add, form(fusion="rrf"))
    content = answer.content.decode()
    assert answer.status_code == 200
    assert "Nothing was saved yet." in content
    assert "Worse: nDCG@10 −0.185 over 2 questions." in content
    assert '<input type="hidden" name="fusion" value="rrf">' in content
    assert not RetrievalSettings.objects.exists()
    assert [after.fusion for _before, after in asked] == [Fusion.RRF]
    confirmed = admin.post(add, form(fusion="rrf", _saved_although_worse="1"))
    assert confirmed.status_code == 302
    assert site_knobs().fusion == Fusion.RRF


def test_settings_that_are_no_worse_are_saved_at_once(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    same = score(["a"], {"a": 1})
    monkeypatch.setattr(
        "retrieval.admin.would_be_worse", lambda before, after: compare({"1": same}, {"1": same})
    )
    add = reverse("admin:retrieval_retrievalsettings_add")
    assert admin.post(add, form(fusion="rrf")).status_code == 302


def test_settings_that_cannot_be_saved_are_not_measured(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "retrieval.admin.would_be_worse", lambda before, after: pytest.fail("was measured")
    )
    answer = admin.post(reverse("admin:retrieval_retrievalsettings_add"), form(depth=1))
    assert answer.status_code == 200
    assert "greater than or equal to 10" in answer.content.decode()


def test_evaluations_are_read_only_figures_without_questions(admin: Client, cast: Cast) -> None:
    run = EvalRun.objects.create(
        vault=cast.vault,
        state="done",
        metrics={"all": {"ndcg_10": 0.5, "recall_20": 0.75, "mrr_10": 0.25}},
        results=[{"text": "Who is Ottokar?"}],
    )
    listed = admin.get(reverse("admin:retrieval_evalrun_changelist")).content.decode()
    assert "0.500" in listed
    assert "0.750" in listed
    page = admin.get(reverse("admin:retrieval_evalrun_change", args=[run.pk]))
    assert page.status_code == 200
    assert "Ottokar" not in page.content.decode()
    assert admin.get(reverse("admin:retrieval_evalrun_add")).status_code == 403
