"""Secrets come from the environment, else from a file that is made once."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from secondbrain.env import data_dir, secret


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


def test_the_data_folder_is_made_on_first_use(folder: Path) -> None:
    assert data_dir() == folder
    assert folder.is_dir()


def test_the_environment_wins(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setenv("SOME_SECRET", "given")
    assert secret("SOME_SECRET", file_name="some") == "given"
    assert not (folder / "some").exists()


def test_a_generated_secret_survives_a_restart_and_is_private(folder: Path) -> None:
    first = secret("SOME_SECRET", file_name="some")
    assert len(first) >= 50
    assert secret("SOME_SECRET", file_name="some") == first
    assert stat.S_IMODE((folder / "some").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["some"]


def test_two_starts_at_once_agree_on_the_secret() -> None:
    found: list[str] = []
    threads = [
        threading.Thread(target=lambda: found.append(secret("SOME_SECRET", file_name="some")))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
