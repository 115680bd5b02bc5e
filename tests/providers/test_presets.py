"""Loading presets: once or ten times, edited or not."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import get_args

import pytest
from django.core.management import CommandError, call_command

from providers.models import ChatModel, EmbeddingModel, Origin, Provider, RerankModel
from providers.presets import PRESETS_FILE, load_presets
from tests.providers.rows import make_chat_model, make_provider

pytestmark = pytest.mark.django_db


def write(path: Path, *, name: str = "Acme", window: int = 100) -> Path:
    model = {"name": "big", "is_default": True, "context_window": window}
    provider = {"slug": "acme", "name": name, "kind": "openai", "chat": [model]}
    path.write_text(json.dumps({"providers": [provider]}))
    return path


def test_the_shipped_file_gives_every_provider_of_the_product() -> None:
    load_presets()
    assert set(Provider.objects.values_list("slug", flat=True)) >= {
        "anthropic", "openai", "together", "openrouter", "ollama", "extractive", "local",
    }  # fmt: skip
    together = EmbeddingModel.objects.get(provider__slug="together")
    assert (together.name, together.dimensions) == ("intfloat/multilingual-e5-large-instruct", 1024)
    assert together.query_prefix.startswith("Instruct: ")
    assert together.query_prefix.endswith("\nQuery: ")
    assert together.passage_prefix == ""
    assert RerankModel.objects.filter(shape="cohere").count() == 3


def test_the_official_sdks_know_the_models_and_none_is_at_its_end() -> None:
    from anthropic._data import DEPRECATED_MODELS
    from anthropic.types import Model
    from openai.types.shared.chat_model import ChatModel as OpenAIModel

    load_presets()
    known_to = {"anthropic": get_args(get_args(Model)[0]), "openai": get_args(OpenAIModel)}
    for slug, known in known_to.items():
        names = set(ChatModel.objects.filter(provider__slug=slug).values_list("name", flat=True))
        assert names
        assert names <= set(known) - set(DEPRECATED_MODELS)


def test_every_provider_with_models_has_one_default_of_each_use() -> None:
    load_presets()
    for table in (ChatModel, EmbeddingModel, RerankModel):
        for slug in set(table.objects.values_list("provider__slug", flat=True)):
            assert table.objects.filter(provider__slug=slug, is_default=True).count() == 1, slug


def test_loading_again_changes_nothing() -> None:
    first = load_presets()
    second = load_presets()
    assert (first.updated, first.unchanged) == (0, 0)
    assert (second.created, second.updated, second.kept) == (0, 0, 0)
    assert second.unchanged == first.created


def test_a_new_file_updates_rows_nobody_touched(tmp_path: Path) -> None:
    load_presets(write(tmp_path / "old.json"))
    loaded = load_presets(write(tmp_path / "new.json", name="Acme II", window=200))
    assert loaded.updated == 2
    assert ChatModel.objects.get().context_window == 200
    assert Provider.objects.get().origin == Origin.PRESET


def test_an_edited_row_is_left_alone(tmp_path: Path) -> None:
    load_presets(write(tmp_path / "old.json"))
    Provider.objects.update(name="Ours", edited=True)
    loaded = load_presets(write(tmp_path / "new.json", window=200))
    assert Provider.objects.get().name == "Ours"
    assert ChatModel.objects.get().context_window == 200
    assert (loaded.kept, loaded.updated) == (1, 1)


def test_a_row_made_in_the_admin_under_the_same_name_is_kept(tmp_path: Path) -> None:
    make_chat_model(make_provider("acme", name="Mine"), "own", is_default=True)
    load_presets(write(tmp_path / "presets.json"))
    assert Provider.objects.get().name == "Mine"
    assert ChatModel.objects.get(name="big").is_default is False


def test_a_bad_file_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text(PRESETS_FILE.read_text().replace('"dimensions": 384', '"dimensions": "384"'))
    with pytest.raises(CommandError, match=r"dimensions: '384' must be a whole number"):
        call_command("load_presets", file=path)
    assert not Provider.objects.exists()


def test_the_command_says_what_it_did() -> None:
    out = StringIO()
    call_command("load_presets", stdout=out)
    call_command("load_presets", stdout=out)
    first, second = out.getvalue().splitlines()
    tables = (Provider, ChatModel, EmbeddingModel, RerankModel)
    rows = sum(table.objects.count() for table in tables)
    assert first == f"{rows} created, 0 updated, 0 unchanged, 0 edited here and kept"
    assert second == f"0 created, 0 updated, {rows} unchanged, 0 edited here and kept"
