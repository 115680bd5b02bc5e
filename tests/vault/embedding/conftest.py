"""A vault with a model of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from providers.models import EmbeddingModel
from tests.vault.embedder import Scripted, make_model
from tests.vault.folders import Folder, make_folder


@pytest.fixture
def model() -> EmbeddingModel:
    return make_model()


@pytest.fixture
def folder(tmp_path: Path, model: EmbeddingModel) -> Folder:
    return make_folder(tmp_path / "notes", embedding_model=model)


@pytest.fixture
def backend() -> Scripted:
    return Scripted()
