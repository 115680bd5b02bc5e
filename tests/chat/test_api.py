"""REST of the chat."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from chat.core.asking import Ask
from chat.core.prompt import BASE_PROMPT
from chat.history import open_turn
from chat.ledger import Close, save_end
from chat.models import ChatSettings, Conversation, Message, Persona, Run
from providers.models import ChatModel
from tests.cast import Cast
from tests.chat.world import make_model, signed_in

LIST = "/api/chat/conversations"


@pytest.fixture
def mate(cast: Cast) -> Client:
    return signed_in(cast.mate)


def send(client: Client, method: str, url: str, body: object = None) -> Any:
    return client.generic(method, url, json.dumps(body), content_type="application/json")


def begin(cast: Cast) -> str:
    return f"{LIST}/{Conversation.objects.create(owner=cast.mate, title='Pump').pk}"


def test_options_name_what_may_be_chosen(cast: Cast, mate: Client) -> None:
    model = make_model("cite")
    Persona.objects.create(name="Ada", role="engineer", prompt="x")
    Persona.objects.create(name="Old", prompt="x", enabled=False)
    options = mate.get("/api/chat/options").json()
    assert options["models"] == [
        {
            "id": model.pk,
            "label": "Fake model",
            "provider": "Fake",
            "vault": None,
            "chosen": True,
            "is_free": False,
        }
    ]
    assert [persona["name"] for persona in options["personas"]] == ["Ada"]
    assert options["vaults"] == [{"slug": "team", "name": "Team"}]
    assert [mode["value"] for mode in options["modes"]] == ["notes_only", "notes_first", "no_notes"]
    assert (options["model"], options["mode"], options["notices"]) == (
        model.pk,
        "notes_first",
        [],
    )


def test_options_say_when_the_chosen_model_is_gone(cast: Cast, mate: Client) -> None:
    kept = make_model("cite")
    gone = make_model("say:x", label="Gone", enabled=False)
    ChatSettings.objects.create(user=cast.mate, model=gone)
    options = mate.get("/api/chat/options").json()
    assert options["model"] == kept.pk
    assert "“Gone” is not available now" in options["notices"][0]
    assert mate.get("/api/chat/settings").json()["model"] == gone.pk, "the choice is kept"


def test_options_without_any_model_still_open(cast: Cast, mate: Client) -> None:
    options = mate.get("/api/chat/options").json()
    assert options["models"] == []
    assert options["model"] is None
    assert "No chat model can be used" in options["notices"][0]


def test_settings_are_kept_and_a_reset_brings_the_base_prompt_back(mate: Client) -> None:
    model = make_model()
    chosen = {"model": model.pk, "system_prompt": "Mine.", "mode": "notes_only", "passages": 5}
    saved = send(mate, "PUT", "/api/chat/settings", chosen)
    assert saved.status_code == 200
    assert saved.json() == mate.get("/api/chat/settings").json()
    assert saved.json() == {
        **chosen,
        "persona": None,
        "alternates": None,
        "rerank": None,
        "adds_sources": None,
        "follow_ups": "",
        "shares_unanswered": None,
        "tool_use": "",
        "tool_steps": None,
        "base_system_prompt": BASE_PROMPT,
        "vaults": [],
    }
    assert send(mate, "PUT", "/api/chat/settings", saved.json()).json() == saved.json()
    reset = send(mate, "PUT", "/api/chat/settings", {}).json()
    assert (reset["system_prompt"], reset["model"], reset["mode"]) == ("", None, "")
    assert ChatSettings.objects.count() == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"passages": 0},
        {"passages": 31},
        {"mode": "all"},
        {"model": 10**9},
        {"persona": "x"},
        {"system_prompt": "x" * 20_001},
    ],
)
def test_bad_settings_are_refused_by_name(bad: dict[str, Any], mate: Client) -> None:
    response = send(mate, "PUT", "/api/chat/settings", bad)
    assert response.status_code == 400
    assert set(response.json()["fields"]) == set(bad)
    assert not ChatSettings.objects.exists()


def test_conversations_are_listed_renamed_and_deleted(cast: Cast, mate: Client) -> None:
    created = send(mate, "POST", LIST, {"title": "  Pump\n repair ", "vaults": ["team"]})
    assert created.status_code == 201
    url = f"{LIST}/{created.json()['id']}"
    assert created.json()["title"] == "Pump repair"
    Conversation.objects.create(owner=cast.owner, title="Foreign")
    listed = mate.get(LIST).json()
    assert [(c["title"], c["running"]) for c in listed["results"]] == [("Pump repair", False)]
    assert listed["next"] is None
    renamed = send(mate, "PATCH", url, {"title": "Seal"}).json()
    assert (renamed["title"], renamed["vaults"]) == ("Seal", ["team"])
    assert Conversation.objects.get(owner=cast.mate).title_is_final
    assert mate.delete(url).status_code == 204
    assert mate.get(url).status_code == 404


def test_a_running_answer_marks_its_conversation(cast: Cast, mate: Client) -> None:
    open_turn(cast.mate, Ask(text="When?"), owner_process="here", lease_seconds=15)
    assert mate.get(LIST).json()["results"][0]["running"]


def test_a_long_list_comes_in_pages(cast: Cast, mate: Client) -> None:
    for number in range(103):
        Conversation.objects.create(owner=cast.mate, title=str(number))
    first = mate.get(LIST).json()
    second = mate.get(LIST, {"before": first["next"]}).json()
    titles = [c["title"] for c in (*first["results"], *second["results"])]
    assert titles == [str(number) for number in reversed(range(103))]
    assert second["next"] is None
    assert mate.get(LIST, {"before": "yesterday"}).status_code == 400
    assert mate.get(LIST, {"before": "2026-99-99T00:00"}).status_code == 400


def test_a_conversation_shows_its_messages(cast: Cast, mate: Client) -> None:
    turn = open_turn(cast.mate, Ask(text="When?"), owner_process="here", lease_seconds=15)
    save_end(turn.ids.run, [], Close(status="done", text="In March."))
    shown = mate.get(f"{LIST}/{turn.ids.conversation}").json()
    assert [message["text"] for message in shown["messages"]] == ["When?", "In March."]


def test_stop_is_noted_for_whoever_writes(cast: Cast, mate: Client) -> None:
    turn = open_turn(cast.mate, Ask(text="When?"), owner_process="elsewhere", lease_seconds=15)
    url = f"{LIST}/{turn.ids.conversation}/messages/{turn.ids.message}/stop"
    assert send(mate, "POST", url).status_code == 202
    assert Run.objects.get().stop_wanted


IDS = ["0", "-1", "9999999999999999999", "1 or 1=1", str(UUID(int=7)), "%00"]


@pytest.mark.parametrize("conversation", IDS)
def test_ids_that_are_none_are_not_found(conversation: str, mate: Client) -> None:
    for method in ("GET", "PATCH", "DELETE"):
        assert send(mate, method, f"{LIST}/{conversation}", {}).status_code == 404


def test_a_conversation_of_somebody_else_looks_missing(cast: Cast) -> None:
    url, missing = begin(cast), f"{LIST}/{uuid4()}"
    for stranger in (cast.owner, cast.outsider):
        client = signed_in(stranger)
        for method in ("GET", "PATCH", "DELETE"):
            foreign = send(client, method, url, {"title": "Mine now"})
            unknown = send(client, method, missing, {"title": "Mine now"})
            assert foreign.status_code == unknown.status_code == 404
            assert foreign.content == unknown.content
    assert Conversation.objects.get().title == "Pump"


def test_the_owner_cannot_be_changed(cast: Cast, mate: Client) -> None:
    url = begin(cast)
    known = send(mate, "PATCH", url, {"id": str(uuid4()), "created": "2020-01-01T00:00:00Z"})
    assert known.json()["id"] in url
    for method, address in (("PATCH", url), ("POST", LIST)):
        refused = send(mate, method, address, {"owner": cast.owner.pk})
        assert refused.status_code == 400
        assert "“owner” is not known here." in refused.content.decode()
    assert set(Conversation.objects.values_list("owner", flat=True)) == {cast.mate.pk}


def test_strangers_are_asked_to_sign_in(cast: Cast) -> None:
    url = begin(cast)
    for place in ("/api/chat/options", "/api/chat/settings", LIST, url):
        assert Client().get(place).status_code == 401
    assert Client().delete(url).status_code == 401


def test_a_suspended_user_sees_nothing(cast: Cast, mate: Client) -> None:
    cast.mate.is_active = False
    cast.mate.save()
    assert mate.get(LIST).status_code == 401


def test_a_model_that_is_deleted_leaves_history_readable(cast: Cast, mate: Client) -> None:
    model = make_model()
    ChatSettings.objects.create(user=cast.mate, model=model)
    turn = open_turn(cast.mate, Ask(text="When?"), owner_process="here", lease_seconds=15)
    save_end(turn.ids.run, [], Close(status="done", text="In March."))
    model.provider.delete()
    assert not ChatModel.objects.exists()
    assert mate.get(f"{LIST}/{turn.ids.conversation}").json()["messages"][1]["text"] == "In March."
    assert mate.get("/api/chat/settings").json()["model"] is None
    assert Message.objects.count() == 2


def test_a_conversation_takes_only_vaults_that_may_be_read(cast: Cast, mate: Client) -> None:
    conversation = begin(cast)
    Conversation.objects.update(owner=cast.mate, vaults=["gone"])
    for slug in ("nope", "foreign"):
        for method, url in (("POST", LIST), ("PATCH", conversation)):
            refused = send(mate, method, url, {"vaults": ["team", slug]})
            assert refused.status_code == 400
            said = [f"No vault “{slug}”. Did you mean team?"]
            assert refused.json()["fields"] == {"vaults": said}
    changed = send(mate, "PATCH", conversation, {"vaults": ["team", "gone"]})
    assert changed.json()["vaults"] == ["team", "gone"]
    assert send(mate, "PATCH", conversation, {"vaults": None}).json()["vaults"] is None


def test_a_slip_in_a_key_is_named_with_what_was_meant(mate: Client) -> None:
    refused = send(mate, "PUT", "/api/chat/settings", {"sytem_prompt": "Mine."})
    assert refused.status_code == 400
    text = refused.json()["detail"]
    assert "“sytem_prompt” is not known here. Did you mean “system_prompt”?" in text
    assert "passages" in text
    assert not ChatSettings.objects.exists()
