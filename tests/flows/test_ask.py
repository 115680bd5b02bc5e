"""The whole road of a question, with nothing of it faked: folder, search, quotes, note page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import Client
from pytest_django import Settings

from chat.core.asking import Ask, BadAsk
from chat.core.events import Event
from chat.ledger import ids_of
from chat.models import Message
from chat.providing import site_providing
from chat.runs import Runs
from providers.core.types import TextDelta, Usage
from providers.presets import load_presets
from providers.testing import FakeChat
from retrieval.models import RetrievalRun
from tests.cast import Cast, make_cast
from tests.chat.world import QUICK, caller, make_model, signed_in
from tests.contracts.server import json_reply, serving
from tests.providers.rows import make_embedding_model, make_provider
from vault.models import Chunk, ChunkVector, Note, Vault
from vault.staleness import fingerprint
from vault.sync import sync_vault

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

NOTES = {
    "Machines/Pump.md": (
        "---\ntags: [machine]\n---\n# Pump\n\n## Failure\n\nIt stands in hall four.\n"
        "The coolant pump zelmira failed on 3 March because its seal was worn.\n\n"
        "## Repair\n\nAnn replaced the seal within three hours.\n"
    ),
    "Machines/Press.md": "# Press\n\nThe press runs without trouble since May.\n",
}


@pytest.fixture
def people(transactional_db: None, tmp_path: Path) -> Cast:
    """The cast; the team's vault is a folder that was read."""
    cast = make_cast()
    for path, text in NOTES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    cast.vault.place = str(tmp_path)
    cast.vault.save()
    load_presets()
    sync_vault(cast.vault.pk)
    assert Note.objects.filter(vault=cast.vault).count() == len(NOTES)
    return cast


@pytest_asyncio.fixture
async def runs(people: Cast) -> AsyncIterator[Runs]:
    runs = Runs(site_providing(), pace=QUICK)
    yield runs
    await runs.drain(0)
    await sync_to_async(connections.close_all)()


async def ask(runs: Runs, people: Cast, question: str, **fields: object) -> list[Event]:
    me = await sync_to_async(caller)(people.mate)
    turn = await runs.start(Ask(text=question, **fields), caller=me)  # type: ignore[arg-type]
    return [event async for event in runs.follow(turn.ids.run)]


async def test_a_fact_of_one_note_is_answered_with_the_sentence_it_stands_in(
    runs: Runs, people: Cast
) -> None:
    events = await ask(runs, people, "Why did zelmira fail?")
    sources, done = events[0], events[-1]
    assert (sources.type, done.type) == ("sources", "done"), done.data
    assert sources.data["passages"][0]["path"] == "Machines/Pump.md"
    assert sources.data["searched"] == ["team"]
    citation = done.data["citations"][0]
    assert "zelmira failed on 3 March because its seal was worn." in citation["quote"]
    assert not citation["weak"]
    client: Client = await sync_to_async(signed_in)(people.mate)
    page = await sync_to_async(client.get)(citation["url"])
    assert page.status_code == 200
    assert f'class="cited">{citation["quote"]}</mark>' in page.content.decode()
    stranger = await sync_to_async(signed_in)(people.outsider)
    assert (await sync_to_async(stranger.get)(citation["url"])).status_code == 404
    message = await Message.objects.select_related("retrieval_run").aget(role="assistant")
    assert message.retrieval_run == await RetrievalRun.objects.aget()


async def test_what_no_note_says_is_said_to_be_missing(runs: Runs, people: Cast) -> None:
    events = await ask(runs, people, "quorvex brumalith?", mode="notes_only", vaults=("team",))
    said = "".join(event.data["text"] for event in events if event.type == "delta")
    assert events[-1].type == "done"
    assert events[0].data["passages"] == []
    assert "The notes hold nothing about this" in said
    assert "Searched: Team." in said


async def test_vaults_of_others_are_not_searched(runs: Runs, people: Cast) -> None:
    with pytest.raises(BadAsk, match="No vault “foreign”"):
        await ask(runs, people, "Why did zelmira fail?", vaults=("foreign",))
    events = await ask(runs, people, "Why did zelmira fail?")
    assert "foreign" not in {passage["vault"] for passage in events[0].data["passages"]}


async def test_a_turn_takes_no_more_calls_than_it_must(
    runs: Runs, people: Cast, settings: Settings
) -> None:
    """A first question that says what it means: its vector, and the answer. One that goes on
    with it: also what it means by itself."""
    vector = [1.0, *[0.0] * 63]
    reply = json_reply({"data": [{"index": 0, "embedding": vector}], "model": "vec"})
    model = await sync_to_async(make_model)("say:unused")
    FakeChat.reset()
    async with serving(reply) as server:
        settings.ALLOWED_PRIVATE_ENDPOINTS = [f"127.0.0.1:{server.port}"]
        await sync_to_async(serve_vectors)(people.vault, f"{server.url}/v1", vector)
        FakeChat.play(TextDelta("Its seal was worn [1]."), Usage(30, 6))
        FakeChat.play(TextDelta("Worn seal"), Usage(9, 2))
        await ask(runs, people, "Why did Zelmira fail?", model=model.pk)
        first = await Message.objects.select_related("run").aget(role="assistant")
        assert await runs.title_after(ids_of(first.run)) == "Worn seal"
        assert [call["purpose"] for call in first.calls] == ["embed_query", "answer"]
        assert len(server.received) == 1
        FakeChat.play(
            TextDelta('{"query": "Who repaired zelmira?", "alternates": []}'), Usage(9, 9)
        )
        FakeChat.play(TextDelta("Ann did [1]."), Usage(30, 6))
        events = await ask(
            runs, people, "Who repaired it?", conversation=first.conversation_id, model=model.pk
        )
        assert events[0].data["queries"] == ["Who repaired zelmira?"]
        second = await Message.objects.aget(role="assistant", told__contains=[str(first.pk)])
        purposes = [call["purpose"] for call in second.calls]
        assert purposes == ["condense", "embed_query", "answer"]
        assert len(server.received) == 2


def serve_vectors(vault: Vault, address: str, vector: list[float]) -> None:
    """Let a model at `address` serve the vault, each of whose chunks has the same vector."""
    provider = make_provider("vectors", base_url=address, needs_key=False)
    model = make_embedding_model(provider)
    ChunkVector.objects.bulk_create(
        ChunkVector(
            vault=vault,
            chunk=chunk,
            embedding_model=model,
            embed_hash=chunk.embed_hash,
            fingerprint=fingerprint(model),
            vector=np.asarray(vector, dtype=np.float32),
        )
        for chunk in Chunk.objects.filter(vault=vault)
    )
    vault.embedding_model = model
    vault.save(update_fields=["embedding_model"])
