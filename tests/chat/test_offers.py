"""Models and choices that vaults bring along: for their readers, in questions to them."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from chat.choosable import Choosable
from chat.core.asking import Ask
from chat.core.prompt import BASE_PROMPT
from chat.models import ChatSettings
from chat.offers import Offers, site_catalogue
from chat.options import TurnOptions, chat_options, settings_json, turn_options
from chat.presenters.page import choices_of
from providers.models import ChatModel
from providers.vault_models import WantedModel, keep_vault_models
from tests.cast import Cast
from tests.chat.world import make_model
from vault.models import SettingsFile, Vault, VaultMember


@pytest.fixture
def model(cast: Cast) -> ChatModel:
    return make_model()


def settle(vault: Vault, *models: WantedModel, **chat: str) -> None:
    SettingsFile.objects.create(
        vault=vault, path="secondbrain.json", text=json.dumps({"chat": chat})
    )
    assert keep_vault_models(vault.pk, models) == []


def options(cast: Cast, *vaults: Vault, **ask: int) -> TurnOptions:
    slugs = [vault.slug for vault in vaults] if vaults else None
    return turn_options(cast.mate, Ask(text="Why?", **ask), site_catalogue(), vaults=slugs)  # type: ignore[arg-type]


def readable(cast: Cast, slug: str) -> Vault:
    vault = Vault.objects.create(slug=slug, name=slug.capitalize(), place=f"/srv/{slug}")
    VaultMember.objects.create(vault=vault, user=cast.mate)
    return vault


def test_a_vaults_choices_hold_in_questions_to_it_only(cast: Cast, model: ChatModel) -> None:
    garden, house = readable(cast, "garden"), readable(cast, "house")
    settle(garden, WantedModel("fake", "say:x", "Gardener"), model="say:x", system_prompt="Plants.")
    found = options(cast, garden)
    assert (str(found.model), found.system_prompt, found.notices) == ("Gardener", "Plants.", ())
    assert options(cast).model == found.model
    elsewhere = options(cast, house)
    assert (elsewhere.model, elsewhere.system_prompt) == (model, BASE_PROMPT)


def test_the_users_own_choice_stands_over_the_vaults_and_that_over_the_sites(
    cast: Cast, model: ChatModel
) -> None:
    garden = readable(cast, "garden")
    other = make_model("say:y", label="Other")
    ChatSettings.objects.create(model=other, system_prompt="Site.")
    settle(garden, model=model.name, system_prompt="Plants.")
    found = options(cast, garden)
    assert (found.model, found.system_prompt) == (model, "Plants.")
    ChatSettings.objects.create(user=cast.mate, model=other, system_prompt="Mine.")
    found = options(cast, garden)
    assert (found.model, found.system_prompt) == (other, "Mine.")


def test_a_vault_overrides_a_model_of_the_site_where_it_is_searched(
    cast: Cast, model: ChatModel
) -> None:
    garden, house = readable(cast, "garden"), readable(cast, "house")
    settle(garden, WantedModel("fake", model.name, context_window=5000))
    assert options(cast, garden, model=model.pk).model.context_window == 5000
    assert options(cast, garden).model.context_window == 5000
    assert options(cast, garden, model=model.pk).notices == ()
    assert options(cast, house, model=model.pk).model == model


def test_who_may_not_read_the_vault_gets_nothing_of_it(cast: Cast, model: ChatModel) -> None:
    garden = readable(cast, "garden")
    settle(garden, WantedModel("fake", "say:x", "Secret"), model="say:x", system_prompt="Secret.")
    brought = ChatModel.objects.get(name="say:x")
    asked = Ask(text="Why?", model=brought.pk)
    found = turn_options(cast.outsider, asked, site_catalogue(), vaults=["garden"])
    assert (found.model, found.system_prompt) == (model, BASE_PROMPT)
    assert found.notices[0].startswith("The chosen model is not available now")
    shown = json.dumps(
        [
            chat_options(Choosable(cast.outsider), site_catalogue()),
            settings_json(Choosable(cast.outsider)),
        ]
    )
    assert "Secret" not in shown
    VaultMember.objects.filter(vault=garden, user=cast.mate).delete()
    assert options(cast, garden, model=brought.pk).model == model


def test_a_vaults_model_asked_elsewhere_says_where_it_belongs(cast: Cast, model: ChatModel) -> None:
    garden, house = readable(cast, "garden"), readable(cast, "house")
    settle(garden, WantedModel("fake", "say:x", "Gardener"))
    brought = ChatModel.objects.get(name="say:x")
    found = options(cast, house, model=brought.pk)
    assert found.model == model
    assert "“Gardener” belongs to the vault “Garden”" in found.notices[0]


def test_a_default_that_cannot_be_used_is_said_unless_somebody_chose(
    cast: Cast, model: ChatModel
) -> None:
    garden = readable(cast, "garden")
    settle(garden, model="gone")
    found = options(cast, garden)
    assert found.model == model
    assert found.notices == ("The vault “Garden” asks for “gone”, which cannot be used here now.",)
    assert options(cast, garden, model=model.pk).notices == ()


def test_what_comes_from_a_vault_is_shown_as_such(cast: Cast, model: ChatModel) -> None:
    garden = readable(cast, "garden")
    settle(garden, WantedModel("fake", "say:x", "Gardener"), model="say:x", system_prompt="Plants.")
    client = Client()
    client.force_login(cast.mate)
    told = client.get("/api/chat/options").json()
    brought = ChatModel.objects.get(name="say:x")
    assert told["model"] == brought.pk
    assert told["model_from_vault"] == "Garden"
    assert [(it["label"], it["vault"]) for it in told["models"]] == [
        ("Fake model", None),
        ("Gardener (from vault Garden)", "garden"),
    ]
    page = client.get("/").content.decode()
    assert f'<option value="{brought.pk}" selected>Gardener (from vault Garden)</option>' in page
    assert "These vaults bring a prompt of their own, unless you write one here: Garden." in page
    assert client.get("/api/chat/settings").json()["vaults"] == [
        {"name": "Garden", "provider": "", "model": "say:x", "system_prompt": "Plants."}
    ]


def test_a_page_offers_what_its_vaults_bring(cast: Cast, model: ChatModel) -> None:
    garden, house = readable(cast, "garden"), readable(cast, "house")
    settle(garden, WantedModel("fake", "say:x", "Gardener"))
    assert [
        len(group) for _name, group in choices_of(Choosable(cast.mate), chosen=["house"]).models
    ] == [1]
    assert [
        len(group) for _name, group in choices_of(Choosable(cast.mate), chosen=["garden"]).models
    ] == [2]
    assert house.pk not in Offers(Choosable(cast.outsider), site_catalogue()).readable


def test_what_only_quotes_stands_last(cast: Cast, model: ChatModel) -> None:
    provider = model.provider
    provider.pk, provider.slug, provider.kind = None, "quotes", "extractive"
    provider.save()
    ChatModel.objects.create(provider=provider, name="quotes", label="Quotes")
    garden = readable(cast, "garden")
    settle(garden, WantedModel("fake", "say:x", "Gardener"))
    names = [str(offer) for offer in Offers(Choosable(cast.mate), site_catalogue()).all]
    assert names == ["Fake model", "Gardener (from vault Garden)", "Quotes"]
