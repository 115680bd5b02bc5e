"""A note of three passages and a model that writes lines of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from providers.models import ChatModel, Provider
from tests.vault.embedder import make_model
from tests.vault.folders import Folder, make_folder
from tests.vault.line_writer import TEXT, LineWriter, embed


@pytest.fixture
def model(db: None) -> ChatModel:
    provider = Provider.objects.create(slug="writer", name="Writer", kind="fake", needs_key=False)
    return ChatModel.objects.create(
        provider=provider, name="lines", input_price=2, output_price=10, context_window=8192
    )


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """A note of three passages, embedded."""
    folder = make_folder(tmp_path / "notes", embedding_model=make_model())
    folder.write("a.md", TEXT)
    folder.sync()
    embed(folder)
    return folder


@pytest.fixture
def writer() -> LineWriter:
    return LineWriter()
