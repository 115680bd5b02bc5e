"""The calls that write context lines: their trouble, their cost, their jobs, their wire."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from providers.core.errors import CutOff, ProviderError, RateLimited, Unauthorized
from providers.models import ChatModel, EmbeddingModel, Provider, UsageRecord
from tests.cast import make_user
from tests.contracts.server import ModelServer, Reply, serving_in_a_thread
from tests.vault.folders import Folder
from tests.vault.line_writer import TEXT, LineWriter, contexts, embed, enrich, switch_on
from tests.vault.test_tasks import do_everything
from vault import tasks
from vault.enrich_estimate import enrich_estimate
from vault.enrichment import (
    enrich_pending,
    has_due,
    retry_contexts,
)
from vault.models import Chunk, ContextFailure, Enrichment, Job, Vault

pytestmark = pytest.mark.django_db


def test_a_note_that_fails_again_and_again_is_left_until_it_changes_or_somebody_asks(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    writer.error = CutOff("the connection ended")
    for _time in range(5):
        enrich(folder, writer)
        ContextFailure.objects.update(retry_after=timezone.now() - timedelta(seconds=1))
    assert len(writer.requests) == 3
    assert ContextFailure.objects.get().reason == "the connection ended"
    assert len(embed(folder)) == 0, "it was embedded without lines long ago"
    assert retry_contexts(folder.vault.pk) == 1
    enrich(folder, writer)
    assert len(writer.requests) == 4
    folder.write("a.md", TEXT + "\n\nMore.")
    folder.sync()
    enrich(folder, writer)
    assert len(writer.requests) == 5


@pytest.mark.parametrize("error", [RateLimited("slow", retry_after=9), Unauthorized("no key")])
def test_trouble_of_the_provider_is_no_fault_of_the_notes(
    folder: Folder, writer: LineWriter, model: ChatModel, error: ProviderError
) -> None:
    switch_on(folder, model)
    writer.error = error
    with pytest.raises(type(error)):
        enrich(folder, writer)
    assert not ContextFailure.objects.exists()
    writer.error = None
    assert enrich(folder, writer).lines == 3


def test_calls_are_recorded_for_who_switched_it_on_and_for_the_vault(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    person = make_user("chooser")
    switch_on(folder, model, switched_on_by=person)
    enrich(folder, writer)
    record = UsageRecord.objects.get(purpose="context")
    assert (record.user, record.input_tokens, record.output_tokens) == (person, 1000, 200)
    row = Enrichment.objects.get()
    assert (row.calls, row.input_tokens, row.output_tokens) == (1, 1000, 200)
    assert row.cost == record.cost == Decimal("0.004")


def test_what_it_costs_is_told_before_and_is_nothing_afterwards(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    vault = Vault.objects.select_related("embedding_model").get(pk=folder.vault.pk)
    EmbeddingModel.objects.update(price=1)
    vault.refresh_from_db()
    told = enrich_estimate(vault, model, summarize=False)
    assert (told.notes, told.passages, told.calls) == (1, 3, 1)
    tokens = sum(Chunk.objects.values_list("tokens", flat=True))
    assert told.input_tokens > tokens
    assert told.output_tokens == 3 * 55
    assert told.cost == (told.input_tokens * Decimal(2) + told.output_tokens * 10) / 1_000_000
    assert told.embedding_tokens == tokens + 3 * 55
    assert told.embedding_cost > 0
    switch_on(folder, model)
    enrich(folder, writer)
    again = enrich_estimate(vault, model, summarize=False)
    assert (again.notes, again.calls, again.cost) == (0, 0, Decimal(0))


def test_jobs_write_lines_after_notes_are_stored_and_embed_them(
    folder: Folder, model: ChatModel
) -> None:
    model.name = "say:" + json.dumps({"n": 1, "context": "Of quorvex."})
    model.save()
    switch_on(folder, model)
    folder.write("b.md", "# Short\n\nOne passage.")
    tasks.request_sync(folder.vault.pk)
    kinds = do_everything()
    assert kinds.index("sync") < kinds.index("enrich")
    assert "embed" in kinds[kinds.index("enrich") :]
    assert folder.found("quorvex") == ["a.md", "b.md"]
    job = Job.objects.get(kind="enrich")
    assert (job.state, job.progress["done"], job.progress["failed"]) == ("done", 2, 1)


def test_a_provider_that_is_down_leaves_the_notes_searchable_and_is_tried_again(
    folder: Folder, model: ChatModel
) -> None:
    model.name = "fail:overloaded"
    model.save()
    switch_on(folder, model)
    folder.write("b.md", "# Short\n\nOf quorvex.")
    tasks.request_sync(folder.vault.pk)
    do_everything()
    job = Job.objects.get(kind="enrich")
    assert (job.state, job.attempts) == ("failed", 5)
    assert "told to fail with overloaded" in job.last_error
    assert folder.found("quorvex") == ["b.md"]
    assert has_due(folder.vault.pk), "flagged"
    tasks.request_sync(folder.vault.pk)
    assert "enrich" not in do_everything(), "not with every scan"
    Job.objects.filter(kind="enrich").update(finished=timezone.now() - timedelta(hours=2))
    tasks.request_sync(folder.vault.pk)
    assert "enrich" in do_everything()


def openai_reply(text: str) -> Reply:
    """A stream as an OpenAI-compatible server sends it."""
    delta = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}
    end = {
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 321, "completion_tokens": 45, "total_tokens": 366},
    }
    common = {"id": "x", "object": "chat.completion.chunk", "model": "m", "created": 0}
    events = "".join(f"data: {json.dumps(common | part)}\n\n" for part in (delta, end))
    return Reply([f"{events}data: [DONE]\n\n".encode()])


def test_lines_come_over_the_wire_of_a_real_server(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "\n".join(json.dumps({"n": n, "context": f"Wire {n}."}) for n in (1, 2, 3))
    with serving_in_a_thread(openai_reply(rows)) as server:
        assert isinstance(server, ModelServer)
        monkeypatch.setenv("WRITER_URL", f"{server.url}/v1")
        provider = Provider.objects.create(
            slug="wire",
            name="Wire",
            kind="openai",
            needs_key=False,
            base_url_variable="WRITER_URL",
        )
        model = ChatModel.objects.create(provider=provider, name="m")
        switch_on(folder, model)
        enrich_pending(folder.vault.pk, most_seconds=60)
        body = server.received[0].body
    assert contexts() == ["Wire 1.", "Wire 2.", "Wire 3."]
    assert body["model"] == "m"
    assert "Write the lines of these passages: 1, 2, 3" in json.dumps(body)
    record = UsageRecord.objects.get(purpose="context")
    assert (record.input_tokens, record.output_tokens) == (321, 45)
