"""Conversations out into files and back in."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from chat import importing
from chat.core.importing import BadFile
from chat.exporting import as_json, export_all, export_conversation
from chat.importing import WITHHELD_IN_FILE, _load, import_file
from chat.models import Conversation, Folder, Message, Source, Step
from chat.organising import make_folder
from chat.threads import thread
from tests.cast import Cast
from tests.chat.pages import BODY, add_answer, add_turn, browser, make_conversation, make_note
from vault.access import scope_for
from vault.models import Note, VaultMember

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def talk(cast: Cast) -> Conversation:
    """Two versions of an answer with a source, then a turn that was told the first."""
    folder = make_folder(cast.owner, "Pumps")
    conversation = Conversation.objects.create(
        owner=cast.owner, title="About the pump", folder=folder, pinned=True, vaults=["team"]
    )
    note = make_note(cast.vault)
    first = add_turn(conversation, "When?", "The pump failed in March. [1]", note=note)
    assert first.parent is not None
    Step.objects.create(
        message=first, number=1, tool="search", what=f"the seal {KEY}", state="done", found=[1]
    )
    add_answer(first.parent, "Another version.")
    asked = Message.objects.create(
        conversation=conversation, parent=first, role="user", text="And then?"
    )
    last = add_answer(asked, "It was repaired.", told=[str(first.pk)])
    Conversation.objects.filter(pk=conversation.pk).update(leaf=last.pk)
    conversation.refresh_from_db()
    return conversation


def exported(user: User, conversation: Conversation) -> bytes:
    return as_json([export_conversation(user, conversation)]).encode()


def seen(user: User, conversation: Conversation) -> list[tuple[Any, ...]]:
    return [
        (m["role"], m["text"], m["active"], len(m.get("sources", ())))
        for m in thread(conversation, user)
    ]


def copy_of(user: User) -> Conversation:
    return Conversation.objects.get(owner=user, origin__isnull=False)


def test_what_comes_back_is_what_went_out(cast: Cast, talk: Conversation) -> None:
    report = import_file(cast.mate, exported(cast.owner, talk))
    assert (report.added, report.known, report.withheld) == (1, 0, 0)
    copy = copy_of(cast.mate)
    assert seen(cast.mate, copy) == seen(cast.owner, talk)
    assert (copy.title, copy.pinned, copy.vaults) == ("About the pump", True, ["team"])
    assert copy.updated == talk.updated
    assert copy.folder == Folder.objects.get(owner=cast.mate, name="Pumps")
    source = Source.objects.get(message__conversation=copy)
    assert source.note == Note.objects.get()
    assert BODY[source.start : source.end] == source.text
    step = Step.objects.get(message__conversation=copy)
    assert (step.tool, step.state, step.found) == ("search", "done", [1])
    assert step.what.startswith("the seal ")
    assert KEY not in step.what
    told = [m.told for m in copy.messages.all() if m.told]
    assert told == [[str(copy.messages.get(text__startswith="The pump").pk)]]


def test_the_same_file_again_adds_nothing(cast: Cast, talk: Conversation) -> None:
    content = exported(cast.owner, talk)
    assert import_file(cast.owner, content).known == 1, "it is here already"
    import_file(cast.mate, content)
    again = import_file(cast.mate, content)
    assert (again.added, again.known) == (0, 1)
    assert Conversation.objects.filter(owner=cast.mate).count() == 1
    assert import_file(cast.mate, exported(cast.mate, copy_of(cast.mate))).known == 1


def test_a_file_gives_no_right_to_read_a_vault(cast: Cast, talk: Conversation) -> None:
    content = exported(cast.owner, talk)
    report = import_file(cast.outsider, content)
    assert (report.added, report.withheld) == (1, 1)
    copy = copy_of(cast.outsider)
    told = json.dumps(thread(copy, cast.outsider))
    for secret in ("March", "Pump.md", "repaired"):
        assert secret not in told
    kept = json.dumps(list(Source.objects.filter(message__conversation=copy).values()), default=str)
    assert "March" not in kept
    assert (copy.vaults, scope_for(cast.outsider, copy.vaults).vault_ids) == (["team"], ())
    VaultMember.objects.create(vault=cast.vault, user=cast.outsider, role=VaultMember.Role.READER)
    assert import_file(cast.outsider, content).restored == 1
    assert seen(cast.outsider, copy) == seen(cast.owner, talk)


def test_a_withheld_answer_stays_withheld_in_the_file(cast: Cast) -> None:
    conversation = make_conversation(cast.mate)
    add_turn(conversation, "When?", "In March. [1]", note=make_note(cast.vault))
    cast.vault.members.filter(user=cast.mate).delete()
    content = exported(cast.mate, conversation)
    assert b"March" not in content
    assert b"Pump.md" not in content
    VaultMember.objects.create(vault=cast.vault, user=cast.mate, role=VaultMember.Role.READER)
    Conversation.objects.all().delete()
    import_file(cast.mate, content)
    answer = thread(copy_of(cast.mate), cast.mate)[1]
    assert (answer["text"], answer["error"]["text"]) == ("", WITHHELD_IN_FILE)


def test_secrets_leave_in_no_file_and_enter_by_none(cast: Cast) -> None:
    conversation = make_conversation(cast.owner, title=f"Why {KEY}")
    add_turn(conversation, f"Why is {KEY} refused?", f"{KEY} is old.")
    content = exported(cast.owner, conversation)
    assert KEY.encode() not in content
    data = json.loads(content)
    data["conversations"][0]["messages"][0]["text"] = f"My key: {KEY}"
    data["conversations"][0]["title"] = f"Key {KEY}"
    import_file(cast.mate, json.dumps(data).encode())
    kept = json.dumps(list(copy_of(cast.mate).messages.values()), default=str)
    assert KEY not in kept
    assert KEY not in copy_of(cast.mate).title


def test_a_passage_is_found_where_it_stands_now(cast: Cast, talk: Conversation) -> None:
    content = exported(cast.owner, talk)
    Note.objects.update(body="New beginning.\n\n" + BODY)
    import_file(cast.mate, content)
    source = Source.objects.get(message__conversation=copy_of(cast.mate))
    assert Note.objects.get().body[source.start : source.end] == source.text


def test_everything_goes_into_one_zip_and_comes_back(cast: Cast, talk: Conversation) -> None:
    add_turn(make_conversation(cast.owner, title="Second/one"), "Why?", "So.")
    Conversation.objects.create(owner=cast.owner, title="Temporary", temporary=True)
    with export_all(cast.owner) as made:
        archive = made.read()
    names = zipfile.ZipFile(io.BytesIO(archive)).namelist()
    assert names == [
        "markdown/0001 About the pump.md",
        "markdown/0002 Second one.md",
        "conversations.json",
    ]
    assert import_file(cast.mate, archive).added == 2
    with export_all(cast.outsider) as nothing:
        assert import_file(cast.mate, nothing.read()).added == 0


def zip_with(name: str, content: bytes, *, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as files:
        files.writestr(name, content)
    return made.getvalue()


def damaged(method: int) -> bytes:
    """A zip whose table of contents is good and whose data is not."""
    packed = bytearray(zip_with("conversations.json", b"quorvex " * 90, method=method))
    at = packed.index(b"conversations.json") + len("conversations.json")
    packed[at + 4 : at + 14] = b"\xff" * 10
    return bytes(packed)


def encrypted() -> bytes:
    """A zip that says a password is needed."""
    packed = bytearray(zip_with("conversations.json", b"{}"))
    packed[packed.index(b"PK\x01\x02") + 8] |= 1
    return bytes(packed)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"PK\x03\x04 broken", "no readable"),
        (zip_with("other.json", b"{}"), "no readable"),
        (damaged(zipfile.ZIP_DEFLATED), "broken, encrypted"),
        (damaged(zipfile.ZIP_BZIP2), "broken, encrypted"),
        (damaged(zipfile.ZIP_LZMA), "broken, encrypted"),
        (encrypted(), "broken, encrypted"),
        (zip_with("conversations.json", b"nonsense"), "not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_says_why(cast: Cast, content: bytes, reason: str) -> None:
    with pytest.raises(BadFile, match=reason):
        import_file(cast.owner, content)


def test_a_zip_that_names_too_many_files_is_not_opened(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zip_with("conversations.json", b'{"conversations": []}')
    monkeypatch.setattr(importing, "MOST_ENTRIES", 0)
    with pytest.raises(BadFile, match="not exported here"):
        import_file(cast.owner, content)


def test_nothing_is_kept_of_a_file_with_a_fault(cast: Cast, talk: Conversation) -> None:
    data = json.loads(exported(cast.owner, talk))
    data["conversations"].append({"id": "x"})
    sent = {"file": SimpleUploadedFile("c.json", json.dumps(data).encode())}
    response = browser(cast.mate).post(reverse("conversation_files"), sent)
    assert response.status_code == 422
    assert "conversations[1], “id”: must be a UUID" in response.content.decode()
    assert not Conversation.objects.filter(owner=cast.mate).exists()


def test_the_page_exports_and_imports(cast: Cast, talk: Conversation) -> None:
    client = browser(cast.owner)
    assert "Your 1 conversation " in client.get(reverse("conversation_files")).content.decode()
    archive = client.get(reverse("export_conversations"))
    content = archive.getvalue()
    sent = {"file": SimpleUploadedFile("c.zip", content)}
    page = browser(cast.mate).post(reverse("conversation_files"), sent).content.decode()
    assert "1 conversation was added." in page
    empty = browser(cast.mate).post(reverse("conversation_files"), {})
    assert "Choose a file" in empty.content.decode()
    address = reverse("export_conversation", args=[talk.pk])
    assert client.get(address, {"as": "json"}).headers["Content-Type"] == "application/json"
    for door in (address, f"/api/chat/conversations/{talk.pk}/export"):
        refused = client.get(door, {"as": "pdf"})
        assert refused.status_code == 400
        assert "must be one of markdown, json" in refused.content.decode()
    assert "[^1-1]: Pump" in client.get(address).content.decode()


def test_a_source_in_a_closed_folder_is_withheld_until_the_folder_is_opened(cast: Cast) -> None:
    talk = make_conversation(cast.owner, title="Pay")
    note = make_note(cast.vault, path="HR/Pay.md", title="Pay", body="Ann earns 4,711 a month.")
    add_turn(talk, "How much?", "Ann earns 4,711. [1]", note=note)
    file = exported(cast.owner, talk)
    member = cast.vault.members.filter(user=cast.mate)
    member.update(hidden_folders=["HR"])
    assert import_file(cast.mate, file).withheld == 1
    mine = Conversation.objects.get(owner=cast.mate)
    source = Source.objects.get(message__conversation=mine)
    assert (source.vault, source.note, source.text, source.path) == (None, None, "", "")
    assert "4,711" not in str(thread(mine, cast.mate))

    member.update(hidden_folders=[])
    assert import_file(cast.mate, file).restored == 1
    assert "4,711" in str(thread(mine, cast.mate))
    member.update(hidden_folders=["HR"])
    assert "4,711" not in str(thread(mine, cast.mate)), "rights hold at the moment of use"


def test_a_narrowed_conversation_is_never_imported_as_a_wide_one(
    cast: Cast, talk: Conversation
) -> None:
    """Its vault is not here, or not for who imports: then it searches nothing, not all."""
    for slugs in (["nowhere"], ["team", "nowhere"], []):
        data = json.loads(exported(cast.owner, talk))
        data["conversations"][0]["id"] = str(uuid4())
        data["conversations"][0]["vaults"] = slugs
        import_file(cast.mate, json.dumps(data).encode())
        copy = Conversation.objects.filter(owner=cast.mate).latest("created")
        assert copy.vaults == slugs
        readable = scope_for(cast.mate, copy.vaults).vault_ids
        assert readable == ((cast.vault.pk,) if "team" in slugs else ())


@given(st.integers(0, 400), st.integers(0, 255))
def test_any_damage_to_a_zip_is_read_past_or_named(place: int, byte: int) -> None:
    packed = bytearray(zip_with("conversations.json", b'{"format": "quorvex"}' * 9))
    packed[place % len(packed)] = byte
    try:
        _load(bytes(packed))
    except BadFile as refused:
        assert str(refused)
