"""A vault for each test that asks for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.vault.folders import Folder, make_folder


@pytest.fixture
def folder(db: None, tmp_path: Path) -> Folder:
    """An empty folder and the vault that reads it."""
    return make_folder(tmp_path / "notes")
