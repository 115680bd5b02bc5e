"""REST of organising, sharing and files: the twins of the pages."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from chat.models import Conversation, Folder, Message, ShareLink
from tests.cast import Cast
from tests.chat.pages import add_answer, add_turn, browser, make_conversation, make_note

CHAT = "/api/chat"
LIST = f"{CHAT}/conversations"


@pytest.fixture
def owner(cast: Cast) -> Client:
    return browser(cast.owner)


def send(client: Client, method: str, url: str, body: object = None) -> Any:
    return client.generic(method, url, json.dumps(body), content_type="application/json")


def titles(client: Client, query: str = "") -> list[str]:
    return [row["title"] for row in client.get(f"{LIST}{query}").json()["results"]]


def test_a_conversation_is_filed_pinned_and_archived(cast: Cast, owner: Client) -> None:
    conversation = make_conversation(cast.owner)
    was = conversation.updated
    folder = send(owner, "POST", f"{CHAT}/folders", {"name": "Pumps"}).json()
    address = f"{LIST}/{conversation.pk}"
    changed = send(owner, "PATCH", address, {"folder": folder["id"], "pinned": True}).json()
    assert (changed["folder"], changed["pinned"]) == (folder["id"], True)
    conversation.refresh_from_db()
    assert conversation.updated == was, "only a question makes it newer"
    assert titles(owner, f"?folder={folder['id']}") == ["About the pump"]
    assert titles(owner, "?pinned=true") == ["About the pump"]
    send(owner, "PATCH", address, {"archived": True})
    assert titles(owner) == []
    assert titles(owner, "?archived=true") == ["About the pump"]
    send(owner, "PATCH", address, {"folder": None})
    conversation.refresh_from_db()
    assert conversation.folder is None


def test_folders_of_others_are_as_if_they_were_not(cast: Cast, owner: Client) -> None:
    foreign = Folder.objects.create(owner=cast.mate, name="Mine")
    conversation = make_conversation(cast.owner)
    refused = send(owner, "PATCH", f"{LIST}/{conversation.pk}", {"folder": foreign.pk})
    assert refused.status_code == 400
    assert owner.get(f"{LIST}?folder={foreign.pk}").status_code == 404
    for method in ("PATCH", "DELETE"):
        reply = send(owner, method, f"{CHAT}/folders/{foreign.pk}", {"name": "x"})
        assert reply.status_code == 404
    assert owner.get(f"{CHAT}/folders").json() == {"results": []}


def test_folders_are_renamed_and_deleted(cast: Cast, owner: Client) -> None:
    made = send(owner, "POST", f"{CHAT}/folders", {"name": "Pumps"}).json()
    address = f"{CHAT}/folders/{made['id']}"
    assert send(owner, "PATCH", address, {"name": "Valves"}).json()["name"] == "Valves"
    assert send(owner, "PATCH", address, {"name": ""}).status_code == 400
    assert send(owner, "PATCH", address, ["name"]).status_code == 400
    assert send(owner, "DELETE", address).status_code == 204
    assert owner.get(f"{CHAT}/folders").json() == {"results": []}


def test_a_temporary_conversation_is_in_no_list_until_it_is_kept(owner: Client) -> None:
    made = send(owner, "POST", LIST, {"title": "Plan", "temporary": True}).json()
    assert made["temporary"]
    assert titles(owner) == []
    kept = send(owner, "PATCH", f"{LIST}/{made['id']}", {"temporary": False}).json()
    assert not kept["temporary"]
    assert titles(owner) == ["Plan"]
    again = send(owner, "PATCH", f"{LIST}/{made['id']}", {"temporary": True})
    assert again.status_code == 400
    assert "cannot be made temporary" in again.json()["detail"]


def test_branches_are_chosen_and_others_deleted(cast: Cast, owner: Client) -> None:
    conversation = make_conversation(cast.owner)
    first = add_turn(conversation, "Why?", "The first version")
    assert first.parent is not None
    add_answer(first.parent, "The second version")
    address = f"{LIST}/{conversation.pk}"
    assert send(owner, "PATCH", address, {"leaf": str(first.pk)}).json()["leaf"] == str(first.pk)
    active = [m["text"] for m in owner.get(address).json()["messages"] if m["active"]]
    assert active == ["Why?", "The first version"]
    wrong = {"leaf": str(conversation.pk)}
    assert send(owner, "PATCH", address, wrong).status_code == 404
    assert send(owner, "POST", f"{address}/keep").json() == {"deleted": 1}
    assert Message.objects.count() == 2


def test_what_was_deleted_is_restored(cast: Cast, owner: Client) -> None:
    address = f"{LIST}/{make_conversation(cast.owner).pk}"
    assert owner.delete(address).status_code == 204
    assert owner.get(address).status_code == 404
    assert titles(owner) == []
    assert send(browser(cast.mate), "POST", f"{address}/restore").status_code == 404
    assert send(owner, "POST", f"{address}/restore").json()["title"] == "About the pump"
    assert owner.get(address).status_code == 200


def test_messages_are_searched(cast: Cast, owner: Client) -> None:
    conversation = make_conversation(cast.owner)
    answer = add_turn(conversation, "When?", "The wemrick failed.")
    hit = owner.get(f"{CHAT}/search", {"q": "wemrick"}).json()["results"][0]
    assert (hit["conversation"], hit["message"]) == (str(conversation.pk), str(answer.pk))
    assert {"text": "wemrick", "found": True} in hit["excerpt"]
    assert browser(cast.mate).get(f"{CHAT}/search", {"q": "wemrick"}).json() == {"results": []}


def test_a_link_is_made_read_continued_and_taken_back(cast: Cast, owner: Client) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "When?", "In March. [1]", note=make_note(cast.vault))
    wish = {"audience": "named", "names": ["mate@example.com"], "days": 7}
    made = send(owner, "POST", f"{LIST}/{conversation.pk}/shares", wish).json()
    token = made["url"].rsplit("/", 1)[1]
    assert made["state"] == ""
    mate, outsider = browser(cast.mate), browser(cast.outsider)
    shared = mate.get(f"{CHAT}/shared/{token}").json()
    assert shared["messages"][1]["text"] == "In March. [1]"
    assert shared["shared_by"] == "owner@example.com"
    assert outsider.get(f"{CHAT}/shared/{token}").status_code == 404
    copied = send(mate, "POST", f"{CHAT}/shared/{token}/continue")
    assert copied.status_code == 201
    assert Conversation.objects.get(pk=copied.json()["id"]).owner == cast.mate
    assert [row["id"] for row in owner.get(f"{CHAT}/shares").json()["results"]] == [made["id"]]
    assert mate.get(f"{CHAT}/shares").json() == {"results": []}
    assert mate.delete(f"{CHAT}/shares/{made['id']}").status_code == 404
    assert owner.delete(f"{CHAT}/shares/{made['id']}").status_code == 204
    assert mate.get(f"{CHAT}/shared/{token}").status_code == 404
    assert send(owner, "POST", f"{CHAT}/shares/{made['id']}/restore").status_code == 204
    assert mate.get(f"{CHAT}/shared/{token}").status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"audience": "world"},
        {"days": 0},
        {"audiance": "readers"},
        {"expires": "2026-12-01"},
        ["x"],
        "x",
    ],
)
def test_a_wish_that_cannot_be_granted_says_why(cast: Cast, owner: Client, body: object) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "When?", "In March.")
    refused = send(owner, "POST", f"{LIST}/{conversation.pk}/shares", body)
    assert refused.status_code == 400
    assert refused.json()["detail"]
    assert not ShareLink.objects.exists()


def test_what_is_exported_is_imported(cast: Cast, owner: Client) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "When?", "In March. [1]", note=make_note(cast.vault))
    one = owner.get(f"{LIST}/{conversation.pk}/export", {"as": "json"})
    assert one.headers["Content-Disposition"] == 'attachment; filename="About the pump.json"'
    markdown = owner.get(f"{LIST}/{conversation.pk}/export").content.decode()
    assert "In March. [^1-1]" in markdown
    everything = owner.get(f"{CHAT}/export").getvalue()
    assert zipfile.ZipFile(io.BytesIO(everything)).namelist() == [
        "markdown/0001 About the pump.md",
        "conversations.json",
    ]
    mate = browser(cast.mate)
    for content, added in ((one.content, 1), (everything, 0)):
        sent = {"file": SimpleUploadedFile("conversations", content)}
        reply = mate.post(f"{CHAT}/import", sent).json()
        assert (reply["added"], reply["known"]) == (added, 1 - added)
    assert mate.post(f"{CHAT}/import", {}).status_code == 400
    bad = {"file": SimpleUploadedFile("x.json", b"{}")}
    assert "no file of conversations" in mate.post(f"{CHAT}/import", bad).json()["detail"]


@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "2026-01-01", "soon"]
)
def test_a_list_before_no_possible_moment_says_what_it_takes(
    cast: Cast, owner: Client, moment: str
) -> None:
    """The page, whose address may be a stranger's, shows its list as if none were named."""
    make_conversation(cast.owner)
    refused = owner.get(LIST, {"before": moment})
    assert refused.status_code == 400
    assert "as in “updated”" in refused.json()["fields"]["before"][0]
    assert owner.get("/", {"before": moment}).status_code == 200
