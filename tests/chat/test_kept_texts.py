"""What answers keep of notes is cleaned when a secret is found in them later."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from chat.core.asking import Ask
from chat.history import open_turn
from chat.kept_texts import rescrub_kept
from chat.models import Message, Run, RunEvent, Source, Step
from tests.vault.folders import Folder, make_folder
from vault.models import Note
from vault.rescrub import rescrub_vault

pytestmark = pytest.mark.django_db

# Made up here, in the shape of a vendor's token.
SECRET = "ghp_" + "Zq8" * 12
WORD = "Zebra!Quilt77"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A vault whose stored note holds secrets that the rules did not know when it was read."""
    made = make_folder(tmp_path / "notes")
    made.write("a.md", "# Keys\n\nwords")
    made.sync()
    Note.objects.update(body=f"# Keys\n\nkey {SECRET}\n\npassword: {WORD}\n")
    return made


def answered(folder: Folder, text: str) -> Message:
    """An answer of the owner that was written from that note, in two events."""
    owner = folder.vault.members.get().user
    assert owner is not None
    turn = open_turn(owner, Ask(text="Which key?"), owner_process="x", lease_seconds=15)
    Message.objects.filter(pk=turn.ids.message).update(
        text=text, citations=[{"number": 1, "quote": text}]
    )
    Source.objects.create(
        message_id=turn.ids.message, number=1, vault=folder.vault, note=folder.note("a.md"),
        path="a.md", title="Keys", text=f"key {SECRET}", start=8, end=8 + 4 + len(SECRET),
    )  # fmt: skip
    Step.objects.create(
        message_id=turn.ids.message, number=1, tool="search", what=f"door of {SECRET}", why=text
    )
    half = len(text) // 2
    events = [
        {"seq": number, "type": "delta", "data": {"text": part}}
        for number, part in enumerate((text[:half], text[half:]), start=1)
    ]
    run = Run.objects.get(message_id=turn.ids.message)
    RunEvent.objects.create(run=run, first=1, last=2, events=events)
    return Message.objects.get(pk=turn.ids.message)


def kept(message: Message) -> str:
    """Everything that the chat's tables hold about an answer."""
    message.refresh_from_db()
    events = [event for row in RunEvent.objects.order_by("first") for event in row.events]
    sources = list(Source.objects.values_list("text", "title"))
    said = "".join(event["data"].get("text", "") for event in events)
    steps = list(Step.objects.values_list("what", "why"))
    return json.dumps([message.text, message.citations, events, sources, steps, said])


def test_rescrub_reaches_what_answers_keep(folder: Folder) -> None:
    message = answered(folder, f"The key is {SECRET}, and the word {WORD} opens it [1].")
    assert SECRET in kept(message)
    done = rescrub_vault(folder.vault.pk)
    assert (done.changed, done.secrets) == (1, 2)
    assert done.kept == 4
    left = kept(message)
    assert SECRET not in left
    assert WORD not in left
    assert "opens it [1]" in left
    source = Source.objects.get()
    assert source.end - source.start == len(source.text)
    assert rescrub_vault(folder.vault.pk).kept == 0


def test_answers_that_were_told_the_answer_are_cleaned_too(folder: Folder) -> None:
    first = answered(folder, "x")
    other = answered(folder, f"Again: {SECRET}.")
    Source.objects.filter(message=other).delete()
    Message.objects.filter(pk=other.pk).update(told=[str(first.pk)])
    rescrub_vault(folder.vault.pk)
    other.refresh_from_db()
    assert SECRET not in other.text


def test_answers_of_other_vaults_are_left_alone(folder: Folder) -> None:
    message = answered(folder, f"The key is {SECRET} [1].")
    assert rescrub_kept(folder.vault.pk + 1, lambda text: "gone") == 0
    assert SECRET in kept(message)


def test_the_command_says_how_many_kept_texts_changed(folder: Folder) -> None:
    answered(folder, f"The key is {SECRET} [1].")
    out = StringIO()
    call_command("rescrub", "--json", stdout=out)
    assert json.loads(out.getvalue())["kept"] == 4
