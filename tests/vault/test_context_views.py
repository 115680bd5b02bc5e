"""The page of a vault's context lines: the cost before, on, progress, off."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.http import HttpResponse
from django.test import Client

from providers.models import ChatModel, Provider
from tests.vault.folders import Folder, make_folder
from tests.vault.test_tasks import do_everything
from vault.models import Chunk, ContextFailure, Enrichment, VaultMember

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = make_folder(tmp_path / "notes")
    folder.write("a.md", "# Apples\n\nIn a cool cellar.")
    folder.write("b.md", "# Pears\n\n## One\n\n" + "Of pears. " * 90 + "\n\n## Two\n\nOf trees.")
    folder.sync()
    return folder


@pytest.fixture
def owner(folder: Folder) -> Client:
    client = Client()
    member = VaultMember.objects.get(vault=folder.vault)
    assert member.user is not None
    client.force_login(member.user)
    return client


@pytest.fixture
def model(db: None) -> ChatModel:
    """Writes a line of the first passage of whatever it is asked."""
    provider = Provider.objects.create(slug="writer", name="Writer", kind="fake", needs_key=False)
    return ChatModel.objects.create(
        provider=provider,
        name="say:" + json.dumps({"n": 1, "context": "Of zelmira."}),
        label="Writer one",
        input_price=2,
        output_price=10,
    )


def page_of(folder: Folder, part: str = "") -> str:
    return f"/vaults/{folder.vault.slug}/context{part}"


def text_of(response: object) -> str:
    assert isinstance(response, HttpResponse)
    return " ".join(response.content.decode().split())


def change(client: Client, folder: Folder, **data: object) -> str:
    return text_of(client.post(page_of(folder, "/change"), data, follow=True))


def test_it_is_off_and_says_what_it_would_do(
    owner: Client, folder: Folder, model: ChatModel
) -> None:
    text = text_of(owner.get(page_of(folder)))
    assert "<b>Off</b>" in text
    assert "Writer one" in text
    assert "Show what it costs" in text
    assert not Enrichment.objects.exists()


def test_without_a_model_that_writes_there_is_nothing_to_choose(
    owner: Client, folder: Folder
) -> None:
    assert "No chat model that writes can be used now" in text_of(owner.get(page_of(folder)))


def test_the_cost_is_shown_before_anything_is_asked(
    owner: Client, folder: Folder, model: ChatModel
) -> None:
    text = change(owner, folder, model=model.pk)
    assert "is asked 2 times: 2 notes with 3 passages" in text
    assert "About $0.0" in text
    assert not Enrichment.objects.exists()


def test_switched_on_it_writes_and_shows_what_it_did(
    owner: Client, folder: Folder, model: ChatModel
) -> None:
    text = change(owner, folder, model=model.pk, confirm=1)
    assert "0 of 3 passages have a line" in text
    assert "hx-trigger" in text
    do_everything()
    text = text_of(owner.get(page_of(folder)))
    assert "2 of 3 passages have a line" in text
    assert "no context: 1 note" in text
    assert "2 calls so far" in text
    assert "wrote no line that could be used for 1 of 2 passages" in text
    row = Enrichment.objects.get()
    assert row.switched_on_by == VaultMember.objects.get(vault=folder.vault).user
    assert folder.found("zelmira") == ["a.md", "b.md"]


def test_failed_notes_are_tried_again_on_demand(
    owner: Client, folder: Folder, model: ChatModel
) -> None:
    change(owner, folder, model=model.pk, confirm=1)
    do_everything()
    assert "1 note is tried again" in change(owner, folder, action="retry")
    assert do_everything() == ["enrich"]
    assert ContextFailure.objects.get().attempts == 1


def test_switched_off_the_lines_are_removed(
    owner: Client, folder: Folder, model: ChatModel
) -> None:
    change(owner, folder, model=model.pk, confirm=1)
    do_everything()
    text = change(owner, folder, action="off")
    assert "2 lines are still to be removed" in text
    do_everything()
    assert not Chunk.objects.exclude(context="").exists()
    assert "still to be removed" not in text_of(owner.get(page_of(folder)))
    state = owner.get(page_of(folder, "/state"))
    assert state["HX-Refresh"] == "true"


def test_a_model_that_is_gone_is_told(owner: Client, folder: Folder, model: ChatModel) -> None:
    change(owner, folder, model=model.pk, confirm=1)
    do_everything()
    model.delete()
    text = text_of(owner.get(page_of(folder)))
    assert "On, but without a model" in text
    assert Chunk.objects.exclude(context="").count() == 2, "lines stay"


def test_another_model_means_telling_the_cost_again(
    owner: Client, folder: Folder, model: ChatModel
) -> None:
    change(owner, folder, model=model.pk, confirm=1)
    do_everything()
    text = change(owner, folder, model=model.pk, summarize="on")
    assert "is asked 2 times" in text
    assert "Change it" in text


def test_a_choice_that_is_none_is_refused(owner: Client, folder: Folder, model: ChatModel) -> None:
    response = owner.post(page_of(folder, "/change"), {"model": "999"})
    assert response.status_code == 400
    assert "Choose one of the models" in text_of(response)
