"""Context lines: one call a changed note, found in both arms, and never in the way."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from providers.core.errors import CutOff, ProviderError, RateLimited, Unauthorized
from providers.core.types import ChatRequest, StreamPart, TextDelta, Usage
from providers.models import ChatModel, EmbeddingModel, Provider, UsageRecord
from providers.testing import HashEmbedder
from tests.cast import make_user
from tests.contracts.server import ModelServer, Reply, serving_in_a_thread
from tests.vault.embedder import Scripted, make_model
from tests.vault.folders import Folder, make_folder
from tests.vault.test_tasks import do_everything
from vault import tasks
from vault.embedding import embed_pending
from vault.enrich_estimate import enrich_estimate
from vault.enrichment import (
    EnrichProgress,
    clear_contexts,
    due_chunks,
    due_notes,
    enrich_pending,
    enrich_settings,
    failed_notes,
    has_due,
    retry_contexts,
)
from vault.models import Chunk, ContextFailure, Enrichment, Job, Vault

pytestmark = pytest.mark.django_db

SECTION = "Some words of the section that fill it well. " * 12
TEXT = "# Pumps\n\n" + "\n\n".join(f"## Part {n}\n\nPart{n}. {SECTION}" for n in range(3))


class LineWriter:
    """A model that does as it is told: a line for each passage, with a word of its own.

    `rows` may leave some out or spoil them, `error` is raised instead.
    """

    def __init__(self) -> None:
        self.requests: list[ChatRequest] = []
        self.error: ProviderError | None = None
        self.rows: Callable[[list[int]], list[dict[str, Any]]] = lambda numbers: [
            {"n": n, "context": f"Tells of zelmira{n}.", "summary": f"Sum {n}."} for n in numbers
        ]

    async def stream(self, request: ChatRequest) -> AsyncIterator[StreamPart]:
        self.requests.append(request)
        if self.error is not None:
            raise self.error
        asked = request.messages[0].content.rsplit(":", 1)[1]
        numbers = [int(number) for number in re.findall(r"\d+", asked)]
        for entry in await sync_to_async(self.rows)(numbers):
            yield TextDelta(json.dumps(entry) + "\n")
        yield Usage(1000, 200)

    @property
    def asked(self) -> list[str]:
        """What each call asked about: the numbers of passages."""
        return [request.messages[0].content.rsplit(": ", 1)[1] for request in self.requests]


@pytest.fixture
def model(db: None) -> ChatModel:
    provider = Provider.objects.create(slug="writer", name="Writer", kind="fake", needs_key=False)
    return ChatModel.objects.create(
        provider=provider, name="lines", input_price=2, output_price=10, context_window=8192
    )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A note of three passages, embedded."""
    folder = make_folder(tmp_path / "notes", embedding_model=make_model())
    folder.write("a.md", TEXT)
    folder.sync()
    embed(folder)
    return folder


@pytest.fixture
def writer() -> LineWriter:
    return LineWriter()


def switch_on(folder: Folder, model: ChatModel, **fields: object) -> Enrichment:
    values = {"contextualize": True, "context_model": model, **fields}
    return Enrichment.objects.update_or_create(vault=folder.vault, defaults=values)[0]


def embed(folder: Folder) -> list[str]:
    """Embed what waits; returns what was sent."""
    backend = Scripted()
    embed_pending(folder.vault.pk, most_seconds=60, backend_of=lambda model: backend)
    return [text for call in backend.calls for text in call]


def enrich(folder: Folder, writer: LineWriter) -> EnrichProgress:
    return enrich_pending(
        folder.vault.pk, most_seconds=60, provider_of=lambda model, user_id: writer
    )


def contexts() -> list[str]:
    return list(Chunk.objects.order_by("note", "ordinal").values_list("context", flat=True))


def test_nothing_is_asked_while_it_is_off(folder: Folder, writer: LineWriter) -> None:
    assert enrich(folder, writer) == EnrichProgress()
    Enrichment.objects.create(vault=folder.vault)
    assert enrich(folder, writer) == EnrichProgress()
    assert (writer.requests, contexts()) == ([], ["", "", ""])
    assert not has_due(folder.vault.pk)


def test_one_call_writes_the_lines_of_a_note_and_both_arms_see_them(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    progress = enrich(folder, writer)
    assert (progress.notes, progress.lines, progress.failed, progress.left) == (1, 3, 0, 0)
    assert writer.asked == ["1, 2, 3"]
    assert contexts() == ["Tells of zelmira1.", "Tells of zelmira2.", "Tells of zelmira3."]
    assert folder.found("zelmira2") == ["a.md"], "by words"
    sent = embed(folder)
    assert len(sent) == 3
    assert sent[1].startswith("Pumps > Part 1\n\nTells of zelmira2.\n\n"), "by meaning"


def test_lines_are_paid_for_once(folder: Folder, writer: LineWriter, model: ChatModel) -> None:
    switch_on(folder, model)
    enrich(folder, writer)
    folder.sync(full=True)
    assert enrich(folder, writer).notes == 0
    assert len(writer.requests) == 1
    embed(folder)
    folder.sync(full=True)
    assert embed(folder) == []


def test_only_what_changed_is_asked_about_again(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    folder.write("b.md", "# Other\n\nAnother note.")
    folder.sync()
    enrich(folder, writer)
    embed(folder)
    folder.write("a.md", TEXT.replace("Part1.", "Rewritten."))
    folder.sync()
    assert contexts()[:3] == ["Tells of zelmira1.", "", "Tells of zelmira3."]
    enrich(folder, writer)
    assert writer.asked[2:] == ["2"]
    assert len(embed(folder)) == 1


def test_the_whole_note_is_shown_as_data(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    enrich(folder, writer)
    request = writer.requests[0]
    assert "Part0." in request.messages[0].content
    assert "Part2." in request.messages[0].content
    assert '<note title="Pumps">' in request.messages[0].content
    assert "summary" not in request.system


def test_summaries_are_kept_for_display_and_never_embedded(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model, summarize=True)
    enrich(folder, writer)
    assert list(Chunk.objects.order_by("ordinal").values_list("summary", flat=True)) == [
        "Sum 1.",
        "Sum 2.",
        "Sum 3.",
    ]
    assert not any("Sum 1." in text for text in embed(folder))


def test_settings_are_part_of_what_a_line_was_made_under(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    enrich(folder, writer)
    switch_on(folder, model, summarize=True)
    enrich(folder, writer)
    assert len(writer.requests) == 2
    switch_on(folder, model, summarize=False)
    enrich(folder, writer)
    assert len(writer.requests) == 2, "a line that came with a summary is good without one"
    other = ChatModel.objects.create(provider=model.provider, name="other")
    switch_on(folder, other)
    enrich(folder, writer)
    assert len(writer.requests) == 3


def test_a_passage_without_a_good_line_has_none_and_the_note_is_tried_later(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    settings = enrich_settings(switch_on(folder, model).vault_id)
    assert settings is not None
    writer.rows = lambda numbers: [{"n": 1, "context": "One."}, {"n": 3, "text": "?"}, {"n": 9}]
    progress = enrich(folder, writer)
    assert (progress.lines, progress.failed, progress.left) == (1, 1, 0)
    assert contexts() == ["One.", "", ""]
    assert "2 of 3 passages" in failed_notes(settings).get().reason
    assert not due_notes(settings).exists(), "not at once"
    assert due_chunks(settings).count() == 2, "flagged all the same"
    ContextFailure.objects.update(retry_after=timezone.now() - timedelta(seconds=1))
    writer.rows = LineWriter().rows
    enrich(folder, writer)
    assert writer.asked == ["1, 2, 3", "2, 3"]
    assert contexts() == ["One.", "Tells of zelmira2.", "Tells of zelmira3."]
    assert not ContextFailure.objects.exists()


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


def test_a_secret_in_a_line_is_never_stored(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    secret = "ghp_" + "a1B2" * 9
    switch_on(folder, model)
    writer.rows = lambda numbers: [{"n": n, "context": f"The key {secret} opens."} for n in numbers]
    enrich(folder, writer)
    assert not any(secret in line for line in contexts())
    assert all(line.startswith("The key ") for line in contexts())


def test_a_line_is_cut_where_the_passage_would_be_too_long(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    Chunk.objects.filter(ordinal=1).update(tokens=448)
    writer.rows = lambda numbers: [{"n": n, "context": "many words " * 200} for n in numbers]
    enrich(folder, writer)
    count = HashEmbedder().count_tokens
    assert contexts()[1] == ""
    assert 10 < count(contexts()[0]) <= 60
    assert enrich(folder, writer).notes == 0, "made, although there was no room"


def test_an_edit_while_the_model_writes_wins(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)

    def meanwhile(numbers: list[int]) -> list[dict[str, Any]]:
        Chunk.objects.filter(ordinal=0).update(content="Rewritten meanwhile.")
        return LineWriter().rows(numbers)

    writer.rows = meanwhile
    enrich_pending(folder.vault.pk, most_seconds=0.0001, provider_of=lambda *_: writer)
    assert contexts()[0] == ""
    assert contexts()[1] == "Tells of zelmira2."


def test_switched_off_it_leaves_nothing_behind(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    before = sorted(Chunk.objects.values_list("embed_hash", flat=True))
    switch_on(folder, model)
    enrich(folder, writer)
    assert clear_contexts(folder.vault.pk) == 0, "not while it is on"
    Enrichment.objects.update(contextualize=False)
    assert has_due(folder.vault.pk)
    assert clear_contexts(folder.vault.pk) == 3
    assert clear_contexts(folder.vault.pk) == 0
    assert contexts() == ["", "", ""]
    assert folder.found("zelmira1") == []
    assert sorted(Chunk.objects.values_list("embed_hash", flat=True)) == before


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
