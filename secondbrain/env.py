"""Typed readers of the environment: the only place that knows where settings come from."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import environ

BASE_DIR = Path(__file__).resolve().parent.parent

env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env")


def data_dir() -> Path:
    """The folder that holds the embedded database, uploads and generated secrets.

    Made on first use, readable by its owner only.
    """
    folder = Path(env.str("DATA_DIR", default=str(BASE_DIR / "var"))).expanduser().resolve()
    folder.mkdir(mode=0o711, parents=True, exist_ok=True)
    return folder


def secret(name: str, *, file_name: str) -> str:
    """The secret in variable `name`, else the one kept in the data folder.

    A missing file is filled with 50 random bytes, so that a fresh install has a
    key of its own that survives a restart.
    """
    value: str = env.str(name, default="")
    if value:
        return value
    path = data_dir() / file_name
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return _write_once(path, secrets.token_urlsafe(50))


def _write_once(path: Path, value: str) -> str:
    """Keep `value` in `path` unless another process was first; return what is kept."""
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(value)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return path.read_text().strip()
    finally:
        temporary.unlink()
    return value
