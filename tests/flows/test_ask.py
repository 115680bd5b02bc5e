"""The whole road of a question, with nothing of it faked: folder, search, quotes, note page."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.db import connections
from django.test import Client

from chat.core.asking import Ask
from chat.core.events import Event
from chat.models import Message
from chat.providing import site_providing
from chat.runs import Runs
from providers.presets import load_presets
from retrieval.models import RetrievalRun
from tests.cast import Cast, make_cast
from tests.chat.world import QUICK, caller, signed_in
from vault.models import Note
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
    events = await ask(runs, people, "Why did zelmira fail?", vaults=("foreign",))
    assert events[0].data["passages"] == []
    assert "zelmira failed" not in str([event.data for event in events])
