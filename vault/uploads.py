"""Vaults that people upload as a zip archive: unpacked here, then read like any folder."""

from __future__ import annotations

import os
import secrets
import shutil
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

import structlog
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from providers.registry import default_embedding_model
from vault.adding import free_slug
from vault.archive_directory import MOST_ENTRIES, refuse_long_directory
from vault.core.archives import (
    UNREADABLE_ZIP,
    ArchivePlan,
    ArchiveRefused,
    Entry,
    Limits,
    plan_archive,
)
from vault.core.file_kinds import DEFAULT_CODE_SUFFIXES, read_suffixes, suffixes_to_read
from vault.locks import Busy, Work, only_one, wait_in_line
from vault.models import Vault, VaultMember

log = structlog.get_logger(__name__)

LIMITS = Limits(files=50_000, size=1_000_000_000)
LARGEST_ARCHIVE = 300_000_000
_PIECE = 1 << 20
_UTF8_FLAG = 0x800
_ENCRYPTED_FLAG = 0x1
# A folder that no vault names may be one that is being unpacked right now.
ABANDONED_AFTER = 24 * 3600.0
SECONDS_TO_WAIT = 20.0


def upload_vault(archive: IO[bytes], *, name: str, owner: User) -> tuple[Vault, ArchivePlan]:
    """A new vault of the notes in a zip archive, owned by `owner`. Raises ArchiveRefused.

    Nothing is read yet: sync it. When it is refused nothing is left behind.
    """
    with (
        _unpacked(archive, _suffixes(DEFAULT_CODE_SUFFIXES)) as (place, plan),
        transaction.atomic(),
    ):
        wait_in_line(Work.NAMING)
        vault = Vault.objects.create(
            slug=free_slug(name),
            name=name,
            source_kind=Vault.SourceKind.UPLOAD,
            place=str(place),
            embedding_model=default_embedding_model(),
        )
        VaultMember.objects.create(vault=vault, user=owner, role=VaultMember.Role.OWNER)
    _sweep()
    return vault, plan


def replace_upload(vault: Vault, archive: IO[bytes]) -> ArchivePlan:
    """Put another archive in the place of an uploaded vault's. Raises ArchiveRefused.

    Notes that are in both keep their identity; the next sync sees what changed.
    """
    if vault.source_kind != Vault.SourceKind.UPLOAD:
        raise ArchiveRefused("This vault was not uploaded: change its files where they are.")
    with _unpacked(archive, _suffixes(vault.code_suffixes)) as (place, plan):
        try:
            with only_one(Work.SYNC, vault.pk, wait=SECONDS_TO_WAIT):
                Vault.objects.filter(pk=vault.pk).update(place=str(place))
        except Busy as error:
            raise ArchiveRefused(
                "The vault is being read just now. Try again when that is done."
            ) from error
    discard_upload(vault.place)
    _sweep()
    return plan


def discard_upload(place: str) -> None:
    """Remove what was unpacked there; never a folder that is somebody's own."""
    if Path(place).parent == _root():
        shutil.rmtree(place, ignore_errors=True)


def _suffixes(code: str) -> tuple[str, ...]:
    return suffixes_to_read(read_suffixes(code))


def _root() -> Path:
    return Path(settings.DATA_DIR) / "uploads"


@contextmanager
def _unpacked(archive: IO[bytes], suffixes: tuple[str, ...]) -> Iterator[tuple[Path, ArchivePlan]]:
    """The archive in a folder of its own, which goes again when what follows fails."""
    place = _root() / secrets.token_hex(12)
    is_kept = False
    try:
        yield place, _unpack(archive, place, suffixes)
        is_kept = True
    finally:
        if not is_kept:
            shutil.rmtree(place, ignore_errors=True)


def _unpack(archive: IO[bytes], place: Path, suffixes: tuple[str, ...]) -> ArchivePlan:
    try:
        refuse_long_directory(archive, most_entries=MOST_ENTRIES)
        with zipfile.ZipFile(archive) as opened:
            entries = {_name(info): info for info in opened.infolist()}
            listed = [_entry(info) for info in opened.infolist()]
            plan = plan_archive(listed, suffixes=suffixes, limits=LIMITS)
            place.mkdir(parents=True, mode=0o700)
            left = LIMITS.size
            for name, path in plan.files:
                left -= _write(opened, entries[name], place / path, left)
    except UNREADABLE_ZIP as error:
        raise _unreadable(error) from error
    except OSError as error:
        if error.errno is None:  # what bz2 raises of broken data
            raise _unreadable(error) from error
        raise ArchiveRefused(f"The server could not store it: {error.strerror}.") from error
    return plan


def _unreadable(error: Exception) -> ArchiveRefused:
    return ArchiveRefused(
        f"It is no zip archive that can be read ({error}). Pack the folder again, as .zip."
    )


def _write(opened: zipfile.ZipFile, info: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Unpack one file; its true size counts, not the one in the table of contents."""
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    with opened.open(info) as source, target.open("xb") as file:
        while piece := source.read(_PIECE):
            written += len(piece)
            if written > left or written > info.file_size:
                raise ArchiveRefused(f"“{_name(info)}” unpacks to more than it says.")
            file.write(piece)
    os.utime(target, (moment := _moment(info), moment))
    return written


def _moment(info: zipfile.ZipInfo) -> float:
    """The time of the file in the archive, with a fraction that differs between uploads.

    So the next sync looks into every file, whatever its size and second.
    """
    fraction = time.time() % 1
    try:
        told = datetime(*info.date_time, tzinfo=UTC).timestamp()
    except ValueError:
        told = time.time() - 3600
    return min(told, time.time() - 3600) + fraction


def _entry(info: zipfile.ZipInfo) -> Entry:
    return Entry(
        _name(info),
        info.file_size,
        info.compress_size,
        info.external_attr >> 16,
        bool(info.flag_bits & _ENCRYPTED_FLAG),
    )


def _name(info: zipfile.ZipInfo) -> str:
    """The name as it was meant: many programs write UTF-8 without saying so."""
    if info.flag_bits & _UTF8_FLAG:
        return info.filename
    try:
        return info.filename.encode("cp437").decode()
    except UnicodeError:
        return info.filename


def _sweep() -> None:
    """Remove folders of vaults that are gone."""
    used = set(
        Vault.objects.filter(source_kind=Vault.SourceKind.UPLOAD).values_list("place", flat=True)
    )
    for folder in _root().iterdir():
        is_old = time.time() - folder.stat().st_mtime > ABANDONED_AFTER
        if is_old and str(folder) not in used:
            log.info("upload_removed", folder=folder.name)
            shutil.rmtree(folder, ignore_errors=True)
