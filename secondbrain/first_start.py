"""What a new install needs before it can be used. Every step may run again."""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import CommandError

from providers.presets import load_presets
from vault.adding import CannotAdd, add_another_vault, place_of
from vault.models import Vault
from vault.tasks import request_sync

DEFAULT_ADMIN = "admin@localhost"
HANDBOOK = settings.BASE_DIR / "docs"
HANDBOOK_NAME = "SecondBrain handbook"


@dataclass(frozen=True)
class Admin:
    """The first account. `generated_password` is set only when it was made up just now."""

    email: str
    generated_password: str | None = None


def lock_data_folder() -> IO[str]:
    """Hold the data folder for this process. Raises CommandError when another has it."""
    file = (settings.DATA_DIR / "up.lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        raise CommandError(
            f"SecondBrain already runs on {settings.DATA_DIR} (process {holder}). "
            "Stop it, or choose another folder with DATA_DIR=…"
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def check_port_is_free(port: int) -> None:
    """Raises CommandError when something already listens on `port` of this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise CommandError(f"Port {port} is taken. Choose another: PORT={port + 1} make run")


def prepare_database() -> None:
    """Bring the tables and the shipped presets up to date."""
    call_command("migrate", interactive=False, verbosity=0)
    call_command("createcachetable", verbosity=0)
    load_presets()


def collect_static() -> None:
    """Copy static files under hashed names, when any of them changed since last time."""
    fingerprint = _static_fingerprint()
    marker = settings.DATA_DIR / "static.fingerprint"
    if marker.exists() and marker.read_text() == fingerprint:
        return
    call_command("collectstatic", interactive=False, verbosity=0)
    marker.write_text(fingerprint)


def ensure_admin(*, email: str, password: str) -> Admin:
    """The first administrator: made when there is none, else left as it is."""
    known = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if known is not None:
        return Admin(known.email)
    generated = None if password else secrets.token_urlsafe(12)
    user = User.objects.create_superuser(
        username=email, email=email, password=password or generated
    )
    EmailAddress.objects.create(user=user, email=email, primary=True, verified=True)
    return Admin(email, generated)


def ensure_vault(folder: Path, *, owner: str) -> Vault:
    """The vault that reads `folder`, added for `owner` when there is none.

    A new vault is read by the worker at once. Raises CommandError.
    """
    place = folder.expanduser().resolve()
    known = Vault.objects.present().filter(place=str(place)).first()
    if known is not None:
        return known
    name = HANDBOOK_NAME if place == HANDBOOK else place.name
    try:
        vault = add_another_vault(
            place_of(place), name=name, owner=User.objects.filter(email=owner).first()
        )
    except CannotAdd as error:
        raise CommandError(f"{error} Point VAULT at a folder of Markdown notes.") from error
    request_sync(vault.pk)
    return vault


def _static_fingerprint() -> str:
    digest = hashlib.sha256()
    for finder in get_finders():
        for path, storage in finder.list([]):
            state = Path(storage.path(path)).stat()
            digest.update(f"{path} {state.st_size} {state.st_mtime_ns}\n".encode())
    return digest.hexdigest()
