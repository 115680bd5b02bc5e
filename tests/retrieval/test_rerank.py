"""Reranking in chat and search: over HTTP, off by default, and never in the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync

from providers.models import Provider, RerankModel, UsageRecord
from retrieval.core.types import Arm, Candidate, Knobs, Mode, Retrieval
from retrieval.models import RetrievalRun, RetrievalSettings
from retrieval.options import rerank_model, site_knobs
from retrieval.pipeline import retrieve
from retrieval.rerank import Reranked, rerank
from retrieval.search import search_notes
from tests.cast import Cast
from tests.contracts.server import MUTE, ModelServer, Reply, json_reply, serving_in_a_thread
from tests.retrieval.library import write_note
from vault.access import scope_for
from vault.models import Chunk

pytestmark = pytest.mark.django_db

PointAt = Callable[[ModelServer], None]


@pytest.fixture
def library(cast: Cast) -> Cast:
    write_note(cast.vault, "Cellar.md", "The pump, the pump and once more the pump of the cellar.")
    write_note(cast.vault, "Service.md", "A pump is serviced every spring by the caretaker.")
    write_note(cast.vault, "Shed.md", "In the shed there is a ladder, a pump and much else.")
    return cast


@pytest.fixture
def local(db: None) -> RerankModel:
    """Scores by the share of the question's words in a text."""
    provider = Provider.objects.create(slug="fake", name="Fake", kind="fake", needs_key=False)
    return RerankModel.objects.create(provider=provider, name="overlap")


@pytest.fixture
def point_at(monkeypatch: pytest.MonkeyPatch) -> PointAt:
    """Makes a server the site's reranker. Its address comes from the environment, as an
    address inside the own network must."""

    def point(server: ModelServer) -> None:
        monkeypatch.setenv("RANKER_URL", f"{server.url}/v1")
        provider, _ = Provider.objects.get_or_create(
            slug="ranker", name="Ranker", kind="rerank", needs_key=False,
            base_url_variable="RANKER_URL",
        )  # fmt: skip
        choose(RerankModel.objects.get_or_create(provider=provider, name="rank-1")[0])

    return point


def choose(model: RerankModel) -> None:
    RetrievalSettings.objects.update_or_create(pk=1, defaults={"rerank_model": model})


def verdict(*scores: float) -> Reply:
    rows = [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]
    return json_reply({"results": rows})


def ask(cast: Cast, question: str = "pump", *, rerank: bool = True) -> Retrieval:
    knobs = replace(site_knobs(), mode=Mode.KEYWORD, rerank=rerank, neighbours=0)
    return async_to_sync(retrieve)(
        question, history=(), scope=scope_for(cast.owner), knobs=knobs, user_id=cast.owner.pk
    )


def paths(found: Retrieval) -> list[str]:
    return [passage.path for passage in found.passages]


def arm_of(arms: tuple[Arm, ...]) -> Arm | None:
    return next((arm for arm in arms if arm.name == "rerank"), None)


def test_it_is_off_until_an_admin_chooses_a_model(library: Cast, local: RerankModel) -> None:
    assert site_knobs().rerank is False
    found = ask(library, rerank=site_knobs().rerank)
    assert arm_of(found.arms) is None
    assert "rerank" not in found.timings
    choose(local)
    assert site_knobs().rerank is True


def test_the_passages_of_an_answer_are_reranked_over_http(library: Cast, point_at: PointAt) -> None:
    plain = paths(ask(library, rerank=False))
    with serving_in_a_thread(verdict(0.1, 0.2, 0.9)) as server:
        point_at(server)
        found = ask(library)
    assert found.passages[0].arms[-1].startswith("rerank")
    (sent,) = server.received
    assert sent.path == "/v1/rerank"
    assert sent.body["query"] == "pump"
    titles = [text.splitlines()[0] for text in sent.body["documents"]]
    assert [f"{title}.md" for title in titles] == plain
    assert arm_of(found.arms) == Arm("rerank", ran=True, found=3, path="rank-1")
    run = RetrievalRun.objects.get(pk=found.run_id or 0)
    assert run.arms[-1]["name"] == "rerank"
    assert run.candidates[0]["rerank_rank"] is not None
    assert "rerank" in run.timings


def test_half_of_the_score_is_the_rerankers(library: Cast, point_at: PointAt) -> None:
    first, second, third = paths(ask(library, rerank=False))
    with serving_in_a_thread(verdict(0.4, 0.0, 1.0)) as server:
        point_at(server)
        found = ask(library)
    assert paths(found) == [first, third, second]
    assert [passage.arms[-1] for passage in found.passages] == ["rerank 2", "rerank 1", "rerank 3"]


def test_what_was_used_is_recorded(library: Cast, point_at: PointAt) -> None:
    with serving_in_a_thread(verdict(0.1, 0.2, 0.9)) as server:
        point_at(server)
        ask(library)
    record = UsageRecord.objects.get()
    assert (record.purpose, record.provider, record.model) == ("rerank", "ranker", "rank-1")
    assert record.user_id == library.owner.pk
    assert record.input_tokens > 20
    assert record.failed_with == ""


def test_a_broken_reranker_leaves_the_fused_order_and_is_named(
    library: Cast, point_at: PointAt
) -> None:
    plain = paths(ask(library, rerank=False))
    with serving_in_a_thread(json_reply({"results": [{"index": 7}]})) as server:
        point_at(server)
        found = ask(library)
    assert paths(found) == plain
    arm = arm_of(found.arms)
    assert arm is not None
    assert not arm.ran
    assert arm.reason.startswith("Not reranked: rank-1 could not be asked:")
    assert arm.reason in found.notices
    assert UsageRecord.objects.get().failed_with == "protocol_error"


def test_a_slow_reranker_is_left_out(library: Cast, point_at: PointAt) -> None:
    chunks = list(Chunk.objects.order_by("pk"))
    candidates = [
        Candidate(chunk.pk, chunk.note_id, score=1 / place)
        for place, chunk in enumerate(chunks, start=1)
    ]
    with serving_in_a_thread(Reply([], status=MUTE)) as server:
        point_at(server)
        found: Reranked = async_to_sync(rerank)(
            "pump", candidates, scope=scope_for(library.owner), seconds=0.2
        )
    assert list(found.candidates) == candidates
    assert found.arm.reason == "Not reranked: rank-1 did not answer within 0.2 seconds."
    assert UsageRecord.objects.get().failed_with == "silent"


def test_a_switched_off_provider_is_named(library: Cast, local: RerankModel) -> None:
    choose(local)
    Provider.objects.update(enabled=False)
    arm = arm_of(ask(library).arms)
    assert arm is not None
    assert "switched off" in arm.reason


def test_without_any_model_the_switch_says_so(library: Cast) -> None:
    arm = arm_of(ask(library).arms)
    assert arm == Arm("rerank", ran=False, reason="No reranking model can be used here.")


def test_who_switches_it_on_alone_gets_the_first_usable_model(
    library: Cast, local: RerankModel
) -> None:
    better = RerankModel.objects.create(provider=local.provider, name="better", is_default=True)
    assert rerank_model() == better
    arm = arm_of(ask(library).arms)
    assert arm == Arm("rerank", ran=True, found=3, path="better")


def test_a_note_that_was_named_stays_first(library: Cast, local: RerankModel) -> None:
    choose(local)
    write_note(library.vault, "Pump.md", "See elsewhere.")
    assert paths(ask(library, "pump"))[0] == "Pump.md"


def test_one_candidate_is_not_sent_anywhere(library: Cast, local: RerankModel) -> None:
    choose(local)
    arm = arm_of(ask(library, "ladder").arms)
    assert arm == Arm("rerank", ran=False, reason="There was nothing to rerank.")
    assert UsageRecord.objects.count() == 0


def test_the_search_page_reranks_as_well(library: Cast, point_at: PointAt) -> None:
    scope = scope_for(library.owner)
    with serving_in_a_thread(verdict(0.0, 0.0, 1.0)) as server:
        point_at(server)
        found = async_to_sync(search_notes)("pump", scope=scope, mode=Mode.KEYWORD, limit=10)
    assert arm_of(found.arms) == Arm("rerank", ran=True, found=3, path="rank-1")
    assert {label for hit in found.hits for label in hit.arms if label.startswith("rerank")} == {
        "rerank 1", "rerank 2", "rerank 3"
    }  # fmt: skip
    assert "rerank" in found.timings
    with serving_in_a_thread(Reply([], status=401)) as server:
        point_at(server)
        failed = async_to_sync(search_notes)("pump", scope=scope, mode=Mode.KEYWORD, limit=10)
    assert len(failed.hits) == 3
    assert any(notice.startswith("Not reranked") for notice in failed.notices)


def test_text_of_vaults_out_of_the_scope_is_not_sent(library: Cast, local: RerankModel) -> None:
    choose(local)
    secret = write_note(library.foreign_vault, "Secret.md", "The pump of the others.")
    own = Chunk.objects.filter(note__path="Shed.md").get()
    foreign = Chunk.objects.get(note=secret)
    candidates = [
        Candidate(foreign.pk, secret.pk, score=0.5), Candidate(own.pk, own.note_id, score=0.5)
    ]  # fmt: skip
    found = async_to_sync(rerank)("pump others", candidates, scope=scope_for(library.owner))
    assert found.candidates[0].chunk_id == own.pk


def test_the_switch_is_a_knob() -> None:
    assert Knobs().rerank is False
