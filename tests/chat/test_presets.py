"""Prompt presets: whose they are, and their pages and API."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from chat.models import PromptPreset
from chat.presets import presets_for
from tests.cast import Cast
from tests.chat.pages import browser

pytestmark = pytest.mark.django_db


def make(name: str, *, text: str = "What of {{topic}}?", **fields: Any) -> PromptPreset:
    return PromptPreset.objects.create(name=name, title=name.title(), text=text, **fields)


@pytest.fixture
def none_of_the_product() -> None:
    PromptPreset.objects.all().delete()


@pytest.mark.usefixtures("none_of_the_product")
def test_a_user_may_call_everybodys_their_own_and_their_groups(cast: Cast) -> None:
    keepers = Group.objects.create(name="Keepers")
    cast.mate.groups.add(keepers)
    make("all")
    make("mine", owner=cast.mate)
    make("shared", owner=cast.owner, group=keepers)
    make("private", owner=cast.owner)
    assert [preset.name for preset in presets_for(cast.mate)] == ["all", "mine", "shared"]
    assert [preset.name for preset in presets_for(cast.outsider)] == ["all"]


@pytest.mark.usefixtures("none_of_the_product")
def test_of_one_name_the_own_is_called(cast: Cast) -> None:
    make("plan", text="Everybody's")
    make("plan", owner=cast.mate, text="Mine")
    assert [preset.text for preset in presets_for(cast.mate)] == ["Mine"]
    assert [preset.text for preset in presets_for(cast.owner)] == ["Everybody's"]


def test_a_preset_is_made_changed_and_deleted_on_its_pages(cast: Cast) -> None:
    page = browser(cast.mate)
    sent = {"name": "/Recap", "title": "Recap a topic", "text": "Recap {{topic}}."}
    assert page.post("/presets/new", sent).status_code == 302
    preset = PromptPreset.objects.get(owner=cast.mate)
    assert preset.name == "recap"
    assert "/recap" in page.get("/presets").content.decode()
    page.post(f"/presets/{preset.pk}", {**sent, "title": "Recap"})
    assert PromptPreset.objects.get(pk=preset.pk).title == "Recap"
    assert "gone for good" in page.get(f"/presets/{preset.pk}/delete").content.decode()
    page.post(f"/presets/{preset.pk}/delete")
    assert not PromptPreset.objects.filter(pk=preset.pk).exists()


def test_a_name_is_taken_once_and_the_error_stands_in_the_form(cast: Cast) -> None:
    make("recap", owner=cast.mate)
    sent = {"name": "recap", "title": "Again", "text": "Recap."}
    response = browser(cast.mate).post("/presets/new", sent)
    assert response.status_code == 422
    assert "You have a preset of that name already" in response.content.decode()
    assert "Recap." in response.content.decode()


def test_gaps_are_asked_for_and_the_question_comes_to_the_field(cast: Cast) -> None:
    preset = make("recap", owner=cast.mate, text="Recap {{topic}} on {{date}}: {{selection}}")
    page = browser(cast.mate)
    assert 'name="gap_0"' in page.get(f"/presets/{preset.pk}/fill").content.decode()
    response = page.post(f"/presets/{preset.pk}/fill", {"gap_0": "herons & co"})
    assert response["Location"].startswith("/?text=Recap+herons+%26+co+on+")
    scripts = {"HX-Request": "true"}
    marked = page.get(f"/presets/{preset.pk}/fill?selection=the+marked+words", headers=scripts)
    assert 'name="selection" value="the marked words"' in marked.content.decode()
    data = {"gap_0": "herons", "selection": "the marked words"}
    said = page.post(f"/presets/{preset.pk}/fill", data, headers=scripts).json()["text"]
    assert said.startswith("Recap herons on ")
    assert said.endswith(": the marked words")
    empty = page.post(f"/presets/{preset.pk}/fill", {"gap_0": ""}, headers=scripts)
    assert empty.status_code == 422
    assert "dialog" in empty.content.decode()


def test_a_group_shares_only_with_those_who_are_in_it(cast: Cast) -> None:
    Group.objects.create(name="Keepers")
    sent = {"name": "x", "title": "X", "text": "X?", "group": "Keepers"}
    client = api(cast)
    assert client.post("/api/chat/presets", sent).status_code == 400
    cast.mate.groups.add(Group.objects.get())
    assert client.post("/api/chat/presets", sent).status_code == 201


def test_the_api_lists_makes_changes_and_deletes(cast: Cast) -> None:
    client = api(cast)
    sent = {"name": "recap", "title": "Recap", "text": "Recap {{topic=all}}."}
    made = client.post("/api/chat/presets", sent).json()
    assert made["gaps"] == [{"name": "topic", "default": "all"}]
    assert made["is_own"] is True
    assert client.post("/api/chat/presets", sent).status_code == 400
    url = f"/api/chat/presets/{made['id']}"
    changed = client.patch(url, {"title": "New"}, content_type="application/json")
    assert changed.json()["title"] == "New"
    assert browser(cast.outsider).get(url).status_code == 404
    assert client.delete(url).status_code == 204
    assert client.get(url).status_code == 404


def api(cast: Cast) -> Client:
    return browser(cast.mate)
