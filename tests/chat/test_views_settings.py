"""The reader's own chat settings: kept, explained when wrong, reset."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from django.urls import reverse

from chat.core.prompt import BASE_PROMPT
from chat.models import ChatSettings, Persona
from providers.models import ChatModel, RerankModel
from tests.cast import Cast
from tests.chat.pages import browser
from tests.chat.world import make_model

FRAGMENT = {"HX-Request": "true"}


@pytest.fixture
def model(db: None) -> ChatModel:
    return make_model("cite", label="Sonnet of the tests")


def save(client: Client, *, as_fragment: bool = True, **data: str) -> object:
    return client.post(
        reverse("chat_settings"),
        {"system_prompt": BASE_PROMPT, **data},
        headers=FRAGMENT if as_fragment else {},
    )


def test_what_is_chosen_is_kept_for_this_reader_alone(cast: Cast, model: ChatModel) -> None:
    persona = Persona.objects.create(name="Reviewer", prompt="Look for holes.")
    save(
        browser(cast.mate),
        model=str(model.pk),
        persona=str(persona.pk),
        mode="notes_only",
        passages="5",
        alternates="false",
    )
    kept = ChatSettings.objects.get(user=cast.mate)
    assert (kept.model, kept.persona, kept.mode) == (model, persona, "notes_only")
    assert (kept.passages, kept.alternates) == (5, False)
    assert not ChatSettings.objects.exclude(user=cast.mate).exists()


def test_empty_fields_follow_the_site(cast: Cast, model: ChatModel) -> None:
    client = browser(cast.mate)
    save(client, model=str(model.pk), mode="no_notes", passages="5", alternates="true")
    save(client)
    kept = ChatSettings.objects.get(user=cast.mate)
    assert (kept.model, kept.mode, kept.passages, kept.alternates) == (None, "", None, None)


@pytest.mark.parametrize("passages", ["0", "31", "-1", "many"])
def test_a_number_out_of_range_is_explained_beside_its_field(
    cast: Cast, model: ChatModel, passages: str
) -> None:
    response = browser(cast.mate).post(
        reverse("chat_settings"), {"passages": passages}, headers=FRAGMENT
    )
    shown = response.content.decode()
    assert 'id="chat-passages_error"' in shown
    assert f'value="{passages}"' in shown
    assert "HX-Trigger" not in response
    assert not ChatSettings.objects.exists()


def test_without_scripts_a_wrong_form_is_a_page_of_its_own(cast: Cast, model: ChatModel) -> None:
    client = browser(cast.mate)
    response = client.post(reverse("chat_settings"), {"passages": "99"})
    assert response.status_code == 422
    assert "<html" in response.content.decode()
    opened = client.get(reverse("chat_settings"), follow=True).content.decode()
    assert "data-settings open" in opened, "its address, opened again, is the settings"


def test_without_scripts_saving_leads_back_and_says_so(cast: Cast, model: ChatModel) -> None:
    response = browser(cast.mate).post(reverse("chat_settings"), {"passages": "3"}, follow=True)
    assert "Settings saved." in response.content.decode()


def test_scripts_hear_what_holds_now(cast: Cast, model: ChatModel) -> None:
    response = browser(cast.mate).post(
        reverse("chat_settings"), {"model": str(model.pk), "mode": "no_notes"}, headers=FRAGMENT
    )
    told = json.loads(response["HX-Trigger"])["settings-saved"]
    assert told == {"model": model.pk, "persona": 0, "mode": "no_notes", "tool_use": "never"}


def test_a_model_that_cannot_be_used_cannot_be_chosen(cast: Cast, model: ChatModel) -> None:
    model.enabled = False
    model.save()
    other = make_model("say:x", label="Usable")
    shown = (
        browser(cast.mate)
        .post(reverse("chat_settings"), {"model": str(model.pk)}, headers=FRAGMENT)
        .content.decode()
    )
    assert 'id="chat-model_error"' in shown
    assert other.label in shown
    assert not ChatSettings.objects.exists()


def test_the_base_prompt_is_shown_and_not_stored_when_left_alone(
    cast: Cast, model: ChatModel
) -> None:
    client = browser(cast.mate)
    assert BASE_PROMPT.splitlines()[0] in client.get(reverse("home")).content.decode()
    client.post(reverse("chat_settings"), {"system_prompt": BASE_PROMPT.replace("\n", "\r\n")})
    assert ChatSettings.objects.get(user=cast.mate).system_prompt == ""


def test_an_own_prompt_is_kept_until_it_is_reset(cast: Cast, model: ChatModel) -> None:
    client = browser(cast.mate)
    client.post(reverse("chat_settings"), {"system_prompt": "Answer in rhymes."})
    assert ChatSettings.objects.get(user=cast.mate).system_prompt == "Answer in rhymes."
    assert "Answer in rhymes." in client.get(reverse("home")).content.decode()
    client.post(
        reverse("chat_settings"), {"system_prompt": "Answer in rhymes.", "reset_prompt": "1"}
    )
    assert ChatSettings.objects.get(user=cast.mate).system_prompt == ""


def test_reranking_is_offered_only_where_a_model_exists(cast: Cast, model: ChatModel) -> None:
    client = browser(cast.mate)
    RerankModel.objects.all().delete()
    assert 'name="rerank"' not in client.get(reverse("home")).content.decode()
    RerankModel.objects.create(provider=model.provider, name="overlap")
    assert 'name="rerank"' in client.get(reverse("home")).content.decode()
    client.post(reverse("chat_settings"), {"rerank": "true"})
    assert ChatSettings.objects.get(user=cast.mate).rerank is True


def test_settings_open_at_once_when_the_address_says_so(cast: Cast, model: ChatModel) -> None:
    client = browser(cast.mate)
    assert "data-open-now" in client.get(reverse("home") + "?settings=1").content.decode()
    assert "data-open-now" not in client.get(reverse("home")).content.decode()


def test_only_enabled_personas_are_offered(cast: Cast, model: ChatModel) -> None:
    Persona.objects.create(name="Reviewer", prompt="x")
    Persona.objects.create(name="Retired", prompt="x", enabled=False)
    shown = browser(cast.mate).get(reverse("home")).content.decode()
    assert "Reviewer" in shown
    assert "Retired" not in shown


def test_without_scripts_the_settings_are_a_link_away(cast: Cast, model: ChatModel) -> None:
    client = browser(cast.mate)
    link = f'href="{reverse("home")}?settings=1"'
    assert link in client.get(reverse("home")).content.decode()
    opened = client.get(f"{reverse('home')}?settings=1").content.decode()
    assert "data-settings open data-open-now" in opened
    assert "data-open-now" not in client.get(reverse("home")).content.decode()
