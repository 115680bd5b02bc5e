"""Personas of the site and of vaults: who may choose them, and what they bring."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import User

from chat.choosable import Choosable
from chat.core.asking import Ask
from chat.core.tools import NAMES
from chat.models import ChatSettings, Persona
from chat.offers import site_catalogue
from chat.options import chat_options, turn_options
from chat.personas import persona_for, personas_for, searched_with
from tests.cast import Cast, make_vault
from tests.catalogue import load_some_presets
from tests.chat.world import make_model
from vault.models import SettingsFile, Vault, VaultMember

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def models() -> None:
    load_some_presets()


def write(vault: Vault, name: str, text: str, *, content_hash: str = "1") -> SettingsFile:
    """As a sync leaves it after it read `.claude/agents/<name>.md`."""
    path = f".claude/agents/{name}.md"
    file, _made = SettingsFile.objects.update_or_create(
        vault=vault, path=path, defaults={"text": text, "content_hash": content_hash}
    )
    return file


def names(user: User) -> list[str]:
    return [persona.name for persona in personas_for(user)]


def test_readers_of_a_vault_may_choose_its_personas_and_others_may_not(cast: Cast) -> None:
    Persona.objects.create(name="Everybody's", prompt="Be kind.")
    write(cast.vault, "archivist", "---\nname: Archivist\nrole: keeps\n---\nGive dates.")
    assert names(cast.mate) == ["Everybody's", "Archivist"]
    assert names(cast.outsider) == ["Everybody's"]
    archivist = personas_for(cast.mate)[1]
    assert (archivist.place, str(archivist)) == ("Team", "Archivist, keeps")
    assert persona_for(cast.outsider, archivist.pk) is None
    assert chat_options(Choosable(cast.mate), site_catalogue())["personas"][1]["vault"] == "team"
    assert len(chat_options(Choosable(cast.outsider), site_catalogue())["personas"]) == 1


def test_an_edited_file_changes_the_persona_and_a_deleted_one_takes_it_away(cast: Cast) -> None:
    file = write(cast.vault, "archivist", "Give dates.")
    number = personas_for(cast.mate)[0].pk
    ChatSettings.objects.create(user=cast.mate, persona_id=number)
    write(cast.vault, "archivist", "Give names.", content_hash="2")
    (persona,) = personas_for(cast.mate)
    assert (persona.pk, persona.prompt) == (number, "Give names.")
    file.delete()
    assert personas_for(cast.mate) == []
    assert ChatSettings.objects.get(user=cast.mate).persona_id is None


def test_a_file_that_lost_its_body_is_no_persona_any_more(cast: Cast) -> None:
    write(cast.vault, "archivist", "Give dates.")
    assert names(cast.mate) == ["archivist"]
    write(cast.vault, "archivist", "---\nname: A\n---\n", content_hash="2")
    assert names(cast.mate) == []


def test_losing_the_vault_takes_its_personas_away_and_the_answer_says_so(cast: Cast) -> None:
    write(cast.vault, "archivist", "Give dates.")
    number = personas_for(cast.mate)[0].pk
    VaultMember.objects.filter(user=cast.mate).delete()
    options = turn_options(cast.mate, Ask(text="When?", persona=number), site_catalogue())
    assert options.persona_prompt == ""
    assert "written without it" in options.notices[0]


def test_a_persona_narrows_to_its_vault_and_never_widens_what_the_question_chose(
    cast: Cast,
) -> None:
    other = make_vault("other", owner=cast.owner)
    write(cast.vault, "archivist", "---\nvaults: other, foreign\n---\nGive dates.")
    (persona,) = personas_for(cast.owner)
    assert searched_with(persona) == ("foreign", "other", "team")
    asked = Ask(text="When?", persona=persona.pk)
    options = turn_options(cast.owner, asked, site_catalogue())
    assert options.vaults == ("foreign", "other", "team")
    narrower = turn_options(cast.owner, asked, site_catalogue(), vaults=[other.slug])
    assert narrower.vaults == ("other",)


def test_a_persona_brings_its_tools_and_its_prompt(cast: Cast) -> None:
    write(cast.vault, "archivist", "---\ntools: [search]\n---\nGive dates.")
    (persona,) = personas_for(cast.owner)
    options = turn_options(cast.owner, Ask(text="When?", persona=persona.pk), site_catalogue())
    assert options.tools.names == ("search",)
    assert options.persona_prompt == "Give dates."
    plain = turn_options(cast.owner, Ask(text="When?"), site_catalogue())
    assert plain.tools.names == NAMES


def test_a_persona_limits_further_searches_and_never_allows_them(cast: Cast) -> None:
    make_model()
    write(cast.vault, "archivist", "---\ntool_use: ask\n---\nGive dates.")
    (persona,) = personas_for(cast.owner)
    asked = Ask(text="When?", persona=persona.pk)
    plain = turn_options(cast.owner, asked, site_catalogue())
    freely = turn_options(cast.owner, replace(asked, tool_use="auto"), site_catalogue())
    assert plain.tools.permission == "never"
    assert freely.tools.permission == "ask"


def test_what_of_a_persona_does_not_hold_is_told_under_the_answer(cast: Cast) -> None:
    """A model or a tool that is gone, and a vault out of reach, which is not named."""
    make_model()
    secret = make_vault("secret", owner=cast.outsider)
    front = f"model: gpt-gone\ntools: [search_notes, fly]\nvaults: [{secret.slug}]"
    write(cast.vault, "archivist", f"---\n{front}\n---\nGive dates.")
    (persona,) = personas_for(cast.mate)
    ask = Ask(text="Why?", persona=persona.pk)
    told = turn_options(cast.mate, ask, site_catalogue()).notices
    assert [("gpt-gone" in each, "fly" in each, "vaults" in each) for each in told] == [
        (False, True, False),
        (True, False, False),
        (False, False, True),
    ]
    assert all("“archivist” is not whole" in each for each in told)
    assert "secret" not in "".join(told)
    VaultMember.objects.create(vault=secret, user=cast.mate, role=VaultMember.Role.READER)
    assert len(turn_options(cast.mate, ask, site_catalogue()).notices) == 2


def test_a_persona_of_the_site_tells_how_many_of_its_vaults_are_out_of_reach(cast: Cast) -> None:
    make_model()
    persona = Persona.objects.create(name="Ada", prompt="Be exact.")
    persona.vaults.add(cast.vault, make_vault("secret", owner=cast.outsider))
    ask = Ask(text="Why?", persona=persona.pk)
    (told,) = turn_options(cast.mate, ask, site_catalogue()).notices
    assert "may not read 1 of its 2 vaults" in told
