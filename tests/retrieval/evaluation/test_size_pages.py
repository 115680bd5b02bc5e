"""The pages on which other sizes of passages are tried, and what saving says of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from providers.models import EmbeddingModel, Provider
from tests.cast import Cast
from tests.retrieval.evaluation.golden import write_golden_vault
from tests.retrieval.evaluation.test_sizes import SMALL, WORDS, begin, spoil, work
from tests.retrieval.library import write_markdown
from tests.vault.test_settings_views import change, filled
from vault.core.passage_sizes import PassageSizes
from vault.models import Chunk, Job, SizeTrial, Vault

pytestmark = pytest.mark.django_db

TYPED = {"chunk_tokens": "50", "chunk_overlap": "0", "chunk_minimum": "0"}
SIZES = "/lab/evaluation/team/sizes"


def owner(cast: Cast) -> Client:
    client = Client()
    client.force_login(cast.owner)
    return client


def page_of(reply: Any) -> str:
    return str(reply.content.decode())


def test_a_trial_is_begun_and_followed(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    reply = owner(cast).post(SIZES, TYPED)
    trial = SizeTrial.objects.get()
    assert reply.headers["Location"] == f"{SIZES}/{trial.pk}"
    assert (trial.after, trial.user) == (SMALL, cast.owner)
    assert Job.objects.get(kind="try_sizes").vault == cast.vault
    page = page_of(owner(cast).get(f"{SIZES}/{trial.pk}"))
    assert "Waiting for the worker" in page
    assert 'hx-trigger="every 2s"' in page
    assert "Stop the trial" in page
    assert "are being tried" in page_of(owner(cast).get(SIZES))


def test_how_far_it_is_is_shown_and_why_it_waits(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    trial = begin(cast)
    SizeTrial.objects.update(
        state="running", stage="embed", done=3, total=1200, trouble="The server is away."
    )
    page = page_of(owner(cast).get(f"{SIZES}/{trial.pk}/state"))
    assert "Embedding the passages: 3 of 1,200" in page
    assert "The server is away. It is tried again in a moment." in page
    SizeTrial.objects.update(state="failed", error="The server stays away.")
    assert owner(cast).get(f"{SIZES}/{trial.pk}/state").headers["HX-Refresh"] == "true"
    assert "The server stays away." in page_of(owner(cast).get(f"{SIZES}/{trial.pk}"))


def test_stopping_says_that_nothing_was_saved(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    trial = begin(cast)
    page = page_of(owner(cast).post(f"{SIZES}/{trial.pk}/stop", follow=True))
    assert "The trial was stopped." in page
    assert "nothing was saved" in page
    assert Vault.objects.get(pk=cast.vault.pk).chunk_tokens == 400


def test_without_golden_questions_it_says_how_to_make_some(cast: Cast) -> None:
    write_markdown(cast.vault, "Alone.md", "Nobody asks.")
    page = page_of(owner(cast).get(SIZES))
    assert "there are none yet" in page
    assert "golden-questions.md" in page
    reply = owner(cast).post(SIZES, TYPED)
    assert reply.status_code == 400
    assert not SizeTrial.objects.exists()


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"chunk_tokens": "9"}, "greater than or equal to 50"),
        ({"chunk_overlap": "40"}, "At most half of a passage"),
        ({"chunk_tokens": "400", "chunk_overlap": "60", "chunk_minimum": "60"}, "type others"),
    ],
)
def test_what_cannot_be_tried_is_told_beside_what_was_typed(
    cast: Cast, typed: dict[str, str], said: str
) -> None:
    write_golden_vault(cast.vault)
    reply = owner(cast).post(SIZES, TYPED | typed)
    assert reply.status_code == 400
    assert said in page_of(reply)
    assert not SizeTrial.objects.exists()


def test_a_model_that_is_paid_for_has_its_cost_told_first(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    EmbeddingModel.objects.update(price=Decimal(20000))
    page = page_of(owner(cast).post(SIZES, TYPED))
    assert "Nothing was begun yet" in page
    assert "$" in page
    assert 'value="50"' in page, "what was typed is kept"
    assert not SizeTrial.objects.exists()
    assert owner(cast).post(SIZES, {**TYPED, "confirm": "1"}).status_code == 302


def save(cast: Cast, **more: str) -> Any:
    return change(cast, chunk_tokens=50, chunk_overlap="0", chunk_minimum="0", **more)


def insists_on(cast: Cast, trial: SizeTrial) -> None:
    """Sizes that were found worse are saved only when somebody insists."""
    page = page_of(save(cast))
    for said in (
        "Nothing was saved yet",
        "These sizes find less than now.",
        f"{trial.report['before']['ndcg_10']:.3f} → {trial.report['after']['ndcg_10']:.3f}",
        "Save all the same",
        "Now: passages of 400 tokens, overlap 60, smallest 60.",
        "Leave as it is",
    ):
        assert said in page
    assert Vault.objects.get(pk=cast.vault.pk).chunk_tokens == 400
    assert save(cast, confirm="1").status_code == 302
    assert Vault.objects.get(pk=cast.vault.pk).chunk_tokens == 50


def test_a_finished_trial_shows_both_sides_and_is_heard_of_when_its_sizes_are_saved(
    cast: Cast,
) -> None:
    spoil(cast)
    trial = work(begin(cast, user=cast.owner), knobs=WORDS)
    page = page_of(owner(cast).get(f"{SIZES}/{trial.pk}"))
    for said in (
        "Finds less than now.",
        "made with 9 of 9 notes",
        "nDCG@10",
        "recall@10",
        "MRR@10",
        "Tokens embedded for the trial",
        "Found less well",
        trial.report["examples"][0],
        f"/lab/evaluation/team/runs/{trial.report['run']}",
        "/vaults/team/settings?chunk_tokens=50&amp;chunk_overlap=0&amp;chunk_minimum=0",
    ):
        assert said in page
    beside = page_of(owner(cast).get(f"/lab/evaluation/team/runs/{trial.report['run']}"))
    assert "Worse:" in beside
    listed = page_of(owner(cast).get(SIZES))
    assert "Finds less than now" in listed
    assert "on trial" in page_of(owner(cast).get("/lab/evaluation/team/"))
    insists_on(cast, trial)


def test_sizes_that_were_not_tried_may_be_saved_or_tried_first(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    page = page_of(save(cast))
    assert "These sizes were not tried" in page
    assert f'formaction="{SIZES}"' in page
    begun = owner(cast).post(SIZES, {**filled(cast.vault), **TYPED})
    assert begun.status_code == 302, "the settings form as it was typed"
    assert "These sizes are being tried." in page_of(save(cast))


def test_sizes_that_find_as_much_say_so_when_they_are_saved(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    Chunk.objects.filter(vault=cast.vault).update(context="A context line.")
    work(begin(cast))
    page = page_of(save(cast))
    assert "These sizes were tried and find about the same." in page
    assert "Save and cut again" in page


def test_the_settings_open_with_the_sizes_that_were_tried(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    page = page_of(owner(cast).get("/vaults/team/settings", TYPED))
    assert 'name="chunk_tokens" value="50"' in page
    assert Vault.objects.get(pk=cast.vault.pk).passage_sizes == PassageSizes(400, 60, 60)


def test_a_limit_that_is_used_up_stops_what_is_paid_for(cast: Cast) -> None:
    from providers.models import UsageLimit

    spoil(cast)
    Provider.objects.update(kind="openai")
    UsageLimit.objects.create(period="day", most_tokens=0)
    trial = work(begin(cast, user=cast.owner))
    assert trial.state == "failed"
    assert "limit" in trial.error.lower()
