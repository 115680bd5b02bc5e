"""What is wrong with a file that makes a persona stands among its vault's problems."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.contrib.auth.models import User

from chat.core.asking import Ask
from chat.offers import site_catalogue
from chat.options import turn_options
from chat.personas import persona_for, personas_for
from providers.models import ChatModel, Provider
from tests.cast import Cast, make_vault
from tests.chat.world import make_model
from tests.vault.folders import Folder, make_folder
from vault.access import scope_for
from vault.models import VaultMember
from vault.problem_kinds import Kind, Looked, Problem
from vault.problems import list_problems

pytestmark = pytest.mark.django_db
PATH = ".claude/agents/archivist.md"


@pytest.fixture
def folder(cast: Cast, tmp_path: Path) -> Folder:
    made = make_folder(tmp_path / "notes")
    VaultMember.objects.create(vault=made.vault, user=cast.mate, role="reader")
    return made


def faults(folder: Folder, text: str, *, reader: User | None = None) -> list[Problem]:
    folder.write(PATH, text)
    folder.sync()
    return listed(folder, reader)


def listed(folder: Folder, reader: User | None = None) -> list[Problem]:
    looked = Looked((folder.vault,), scope_for(reader) if reader else None)
    return list(list_problems(looked, kind=Kind.SETTINGS) or ())


@pytest.mark.parametrize(
    ("text", "reason", "line"),
    [
        ("---\nname: A\nrole: [\n---\nHi.", "properties could not be read", 4),
        ("---\nname: A\n---\n\n", "no text below its properties", None),
        ("", "no text below its properties", None),
        ("---\ntools: [shell, search]\n---\nHi.", "tools that there are none of: shell", 2),
        ("---\ntool_use: always\n---\nHi.", "“tool_use” is “always”", 2),
        ("---\nrole: x\nmodel: nosuch/model\n---\nHi.", "“nosuch/model” is no model", 3),
        ("---\nvaults: [secret]\n---\nHi.", "Number 1 of “vaults” is no vault", 2),
        ("x" * 20_001, "more than 20,000 characters", None),
    ],
)
def test_a_fault_is_named_with_its_place_and_goes_when_it_is_mended(
    folder: Folder, text: str, reason: str, line: int | None
) -> None:
    (fault,) = faults(folder, text)
    assert (fault.path, fault.severity) == (PATH, "setting")
    assert reason in fault.reason
    assert fault.mend
    assert line is None or fault.line == line
    assert faults(folder, "---\nname: A\nmodel: inherit\ntools: search\n---\nHi.") == []


def test_a_vault_that_may_not_be_read_is_told_of_as_one_that_is_not_there(
    cast: Cast, folder: Folder
) -> None:
    text = "---\nvaults: [{}]\n---\nHi."
    missing = faults(folder, text.format("wemricks"), reader=cast.mate)
    closed = faults(folder, text.format("foreign"), reader=cast.mate)
    assert missing == closed
    assert len(closed) == 1
    assert not any(name in str(closed) for name in ("wemricks", "foreign", "Foreign"))
    VaultMember.objects.create(vault=cast.foreign_vault, user=cast.mate, role="reader")
    assert listed(folder, cast.mate) == []


def test_a_model_and_a_vault_that_come_later_are_taken_up(cast: Cast, folder: Folder) -> None:
    text = "---\nmodel: fake/say:late\nvaults: later\n---\nHi."
    assert len(faults(folder, text)) == 2
    (persona,) = personas_for(cast.mate)
    assert persona.model is None
    model = make_model("say:late")
    later = make_vault("later", owner=cast.owner)
    VaultMember.objects.create(vault=later, user=cast.mate, role="reader")
    asked = Ask(text="When?", persona=persona.pk)
    options = turn_options(cast.mate, asked, site_catalogue())
    assert (options.model, options.vaults) == (model, ("later", folder.vault.slug))
    folder.sync()
    assert listed(folder) == []
    Provider.objects.update(enabled=False)
    found = persona_for(cast.mate, persona.pk)
    assert found is not None
    assert found.model is None


def test_a_name_behind_its_provider_is_of_that_provider(cast: Cast, folder: Folder) -> None:
    make_model("say:x")
    other = Provider.objects.create(slug="other", name="Other", kind="fake")
    there = ChatModel.objects.create(provider=other, name="say:x", label="X", context_window=9000)
    assert faults(folder, "---\nmodel: other/say:x\n---\nHi.") == []
    (persona,) = personas_for(cast.mate)
    assert persona.model == there
