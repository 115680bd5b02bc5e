"""A vault's own settings files: read on sync, kept scrubbed, never a note."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from providers.models import ChatModel, Origin, Provider
from tests.vault.folders import Folder, make_folder
from vault.models import SettingsFile, SyncRun
from vault.problem_kinds import Problem
from vault.settings_files import own_settings
from vault.status import vault_status

pytestmark = pytest.mark.django_db
AGENT = ".claude/agents/gardener.md"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    provider = Provider.objects.create(slug="openai", name="OpenAI", kind="openai")
    ChatModel.objects.create(
        provider=provider,
        name="gpt-x",
        label="X",
        context_window=16000,
        input_price=2,
        output_price=8,
    )
    return make_folder(tmp_path / "notes")


def settle(folder: Folder, **chat: Any) -> SyncRun:
    folder.write("secondbrain.json", json.dumps({"chat": chat}))
    return folder.sync()


def models(*entries: Any, provider: str = "openai") -> dict[str, Any]:
    return {provider: {"models": list(entries)}}


def problems(folder: Folder) -> list[Problem]:
    return [it for it in vault_status(folder.vault).problems if it.severity == "setting"]


def texts(folder: Folder) -> dict[str, str]:
    return dict(SettingsFile.objects.filter(vault=folder.vault).values_list("path", "text"))


def vault_rows() -> list[ChatModel]:
    return list(ChatModel.objects.filter(origin=Origin.VAULT, enabled=True).order_by("name"))


def test_settings_files_are_kept_and_are_no_notes(folder: Folder) -> None:
    folder.vault.code_suffixes = ".json"
    folder.vault.save()
    folder.write("note.md", "# Note")
    folder.write("secondbrain.json", "{}")
    folder.write(AGENT, "---\nname: Gardener\n---\nSpeak of plants.")
    folder.write(".claude/settings.md", "# Not for us")
    folder.write(".claude/agents/deep/x.md", "# Nor this")
    folder.write("sub/secondbrain.json", "{}")
    run = folder.sync()
    assert run.state == SyncRun.State.DONE
    assert folder.paths() == ["note.md", "sub/secondbrain.json"]
    assert texts(folder) == {
        "secondbrain.json": "{}",
        AGENT: "---\nname: Gardener\n---\nSpeak of plants.",
    }
    folder.delete("secondbrain.json")
    folder.write(AGENT, "Anew.")
    folder.sync()
    assert texts(folder) == {AGENT: "Anew."}


def test_settings_that_are_links_or_folders_are_not_followed(
    folder: Folder, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.json"
    outside.write_text('{"chat": {"model": "gpt-x"}}')
    (folder.root / "secondbrain.json").symlink_to(outside)
    (folder.root / ".claude").symlink_to(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "x.md").write_text("Outside.")
    folder.sync()
    assert texts(folder) == {}


def test_a_vault_adds_and_overrides_models_of_the_sites_providers(folder: Folder) -> None:
    settle(folder, providers=models("gpt-new", {"name": "gpt-x", "context_window": 4000}))
    new, over = vault_rows()
    assert (new.name, new.context_window, new.of_vault) == ("gpt-new", 8192, folder.vault.pk)
    assert (over.name, over.label, over.context_window) == ("gpt-x", "X", 4000)
    assert ChatModel.objects.get(name="gpt-x", of_vault=None).context_window == 16000
    # Unknown prices count as the provider's highest: a limit in money must not be passed.
    assert (int(new.input_price), int(new.output_price)) == (2, 8)
    assert problems(folder) == []


def test_a_model_that_is_not_named_any_more_is_switched_off_and_comes_back(folder: Folder) -> None:
    settle(folder, providers=models("gpt-new"))
    row = ChatModel.objects.get(name="gpt-new")
    settle(folder, providers={})
    row.refresh_from_db()
    assert not row.enabled
    assert row.missing_since
    settle(folder, providers=models("gpt-new"))
    row.refresh_from_db()
    assert row.enabled
    assert row.missing_since is None
    folder.delete("secondbrain.json")
    folder.sync()
    assert vault_rows() == []


def test_a_provider_that_the_site_lacks_is_a_problem_until_it_is_there(folder: Folder) -> None:
    settle(folder, providers=models("m", provider="elsewhere"))
    [problem] = problems(folder)
    assert (problem.path, problem.line) == ("secondbrain.json", 1)
    assert "“elsewhere” is no provider of this site" in problem.reason
    assert "openai" in problem.mend
    Provider.objects.create(slug="elsewhere", name="Elsewhere", kind="openai")
    folder.sync()
    assert problems(folder) == []
    assert [row.name for row in vault_rows()] == ["m"]


@pytest.mark.parametrize("kind", ["extractive", "rerank", "local_e5"])
def test_a_provider_without_chat_models_takes_none(folder: Folder, kind: str) -> None:
    Provider.objects.create(slug="other", name="Other", kind=kind, needs_key=False)
    settle(folder, providers=models("m", provider="other"))
    assert len(problems(folder)) == 1
    assert vault_rows() == []


def test_an_admin_may_keep_vaults_from_adding_models(folder: Folder) -> None:
    settle(folder, providers=models("gpt-new"))
    Provider.objects.update(vaults_may_add_models=False)
    folder.sync()
    [problem] = problems(folder)
    assert "let no vault add models to “openai”" in problem.reason
    assert vault_rows() == []


def test_an_address_in_the_file_is_refused_and_never_used(folder: Folder) -> None:
    before = list(Provider.objects.values())
    section = {"base_url": "https://elsewhere.example/v1", "models": ["gpt-new"]}
    settle(folder, providers={"openai": section})
    assert "cannot say where questions are sent" in problems(folder)[0].reason
    assert list(Provider.objects.values()) == before


def test_a_broken_file_leaves_what_was_settled_before(folder: Folder) -> None:
    settle(folder, model="gpt-x", providers=models("gpt-new"))
    folder.write("secondbrain.json", '{"chat": {\n"model": ,}')
    folder.sync()
    [problem] = problems(folder)
    assert problem.line == 2
    assert "the settings that were read before hold" in problem.mend
    assert own_settings([folder.vault])[0].chat.model == "gpt-x"
    assert [row.name for row in vault_rows()] == ["gpt-new"]
    settle(folder, model="gpt-y")
    assert problems(folder) == []
    assert own_settings([folder.vault])[0].chat.model == "gpt-y"


def test_a_key_in_a_settings_file_is_neither_kept_nor_unsaid(folder: Folder) -> None:
    key = "sk-proj-" + "Ab3" * 16
    settle(folder, system_prompt=f"Use {key} for all.")
    folder.write(AGENT, f"The key is {key}.")
    folder.sync()
    assert key not in str(list(SettingsFile.objects.values()))
    assert {problem.path for problem in problems(folder)} == {AGENT, "secondbrain.json"}


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n" + bytes(40), b"{}" + b" " * 64_000])
def test_what_is_no_text_or_too_long_is_a_problem(folder: Folder, data: bytes) -> None:
    folder.write("secondbrain.json", data)
    folder.write("note.md", "# Note")
    folder.sync()
    assert len(problems(folder)) == 1
    assert folder.paths() == ["note.md"]


def test_vaults_that_are_gone_leave_no_models(folder: Folder, tmp_path: Path) -> None:
    settle(folder, providers=models("gpt-new"))
    folder.vault.delete()
    make_folder(tmp_path / "other").sync()
    assert not ChatModel.objects.filter(origin=Origin.VAULT).exists()


def test_settings_that_settle_nothing_are_left_out(folder: Folder) -> None:
    settle(folder)
    assert own_settings([folder.vault]) == []
