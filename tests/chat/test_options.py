"""What holds for a turn, from rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chat.choosable import Choosable
from chat.core.asking import Ask
from chat.core.prompt import BASE_PROMPT
from chat.core.tool_use import NEVER, ToolRules, tokens_for
from chat.core.tools import NAMES
from chat.models import ChatSettings, Persona
from chat.offers import Catalogue, site_catalogue
from chat.options import PERSONA_GONE, TurnOptions, settings_json, turn_options
from providers.core.errors import NotConfigured
from providers.models import ChatModel
from providers.registry import available_chat_models, default_chat_model
from providers.vault_models import available_vault_models
from retrieval.core.types import Knobs
from tests.cast import Cast
from tests.chat.world import make_model

SITE_KNOBS = Knobs(passages=6, alternates=False)
CATALOGUE = Catalogue(
    available_chat_models, default_chat_model, lambda: SITE_KNOBS, available_vault_models
)


@pytest.fixture
def model(cast: Cast) -> ChatModel:
    return make_model()


def options(cast: Cast, **ask: object) -> TurnOptions:
    return turn_options(cast.mate, Ask(text="Why?", **ask), CATALOGUE)  # type: ignore[arg-type]


def test_without_any_choice_the_product_decides(cast: Cast, model: ChatModel) -> None:
    assert options(cast) == TurnOptions(
        model=model,
        mode="notes_first",
        system_prompt=BASE_PROMPT,
        persona_prompt="",
        persona_name="",
        knobs=SITE_KNOBS,
        tools=ToolRules(permission=NEVER, names=NAMES, tokens=tokens_for(model.context_window)),
    )


def test_a_user_stands_over_the_site_and_a_question_over_both(cast: Cast, model: ChatModel) -> None:
    second = make_model("say:x", label="Second")
    ChatSettings.objects.create(mode="no_notes", passages=9, alternates=True, model=second)
    ChatSettings.objects.create(user=cast.mate, mode="notes_only", rerank=True)
    ChatSettings.objects.create(user=cast.owner, mode="notes_first", passages=1)
    found = options(cast)
    assert (found.mode, found.model) == ("notes_only", second)
    assert found.knobs == replace(SITE_KNOBS, passages=9, alternates=True, rerank=True)
    asked = options(cast, mode="notes_first", model=model.pk)
    assert (asked.mode, asked.model, asked.notices) == ("notes_first", model, ())


def test_settings_of_others_count_for_nobody_else(cast: Cast, model: ChatModel) -> None:
    ChatSettings.objects.create(user=cast.owner, system_prompt="Theirs.")
    assert options(cast).system_prompt == BASE_PROMPT
    assert settings_json(Choosable(cast.mate))["system_prompt"] == ""


def test_a_reset_brings_back_the_sites_prompt(cast: Cast, model: ChatModel) -> None:
    ChatSettings.objects.create(system_prompt="Site.")
    assert settings_json(Choosable(cast.mate))["base_system_prompt"] == "Site."
    ChatSettings.objects.create(user=cast.mate, system_prompt="")
    assert options(cast).system_prompt == "Site."


def test_a_persona_that_is_gone_is_named_in_a_notice(cast: Cast, model: ChatModel) -> None:
    persona = Persona.objects.create(name="Ada", prompt="Be exact.", enabled=False)
    found = options(cast, persona=persona.pk)
    assert found.persona_prompt == ""
    assert found.notices == (PERSONA_GONE,)
    assert options(cast, persona=2**62).notices


def test_a_provider_that_lost_its_key_leaves_the_choice_alone(
    cast: Cast, model: ChatModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blank is as good as unset; with the key back the saved choice works again."""
    remote = make_model("gpt-x", label="Remote")
    provider = remote.provider
    provider.pk, provider.slug, provider.kind = None, "alpha", "openai"
    provider.needs_key, provider.key_variable = True, "ALPHA_KEY"
    provider.base_url = "https://alpha.example/v1"
    provider.save()
    remote.provider = provider
    remote.save()
    ChatSettings.objects.create(user=cast.mate, model=remote)
    for value in ("", "   "):
        monkeypatch.setenv("ALPHA_KEY", value)
        found = options(cast)
        assert found.model == model
        assert "“Remote” is not available now, so Fake model answered" in found.notices[0]
    monkeypatch.setenv("ALPHA_KEY", "sk-alpha")
    assert options(cast).model == remote
    assert options(cast).notices == ()


def test_without_any_model_the_reason_is_raised(cast: Cast) -> None:
    with pytest.raises(NotConfigured, match="No chat model can be used"):
        options(cast)


def test_this_install_brings_its_own_catalogue(cast: Cast, model: ChatModel) -> None:
    catalogue = site_catalogue()
    assert list(catalogue.available()) == [model]
    assert catalogue.default() == model
    assert catalogue.knobs().passages >= 1


def test_no_persona_means_none_whatever_the_settings_have(cast: Cast, model: ChatModel) -> None:
    persona = Persona.objects.create(name="Ada", prompt="Be exact.")
    ChatSettings.objects.create(user=cast.mate, persona=persona)
    assert options(cast).persona_name == "Ada"
    none = options(cast, persona=0)
    assert (none.persona_name, none.persona_prompt, none.notices) == ("", "", ())
