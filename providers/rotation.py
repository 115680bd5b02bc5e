"""Stored secrets under a new encryption key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.apps import apps
from django.conf import settings
from django.db import models, transaction
from django.db.models.functions import Cast

from providers.fields import EncryptedTextField, UnreadableSecret


@dataclass(slots=True)
class Rotation:
    """How many secrets were encrypted anew, how many already were; which no key opens."""

    rotated: int = 0
    current: int = 0
    unreadable: list[str] = field(default_factory=list)


@transaction.atomic
def rotate_keys() -> Rotation:
    """Encrypt every stored secret with the first of ENCRYPTION_KEYS.

    Running it again changes nothing. What no key opens is left as it is and named, so that
    the old key can still be put back. Afterwards the other keys are needed no more.
    """
    rotation = Rotation()
    newest = Fernet(settings.ENCRYPTION_KEYS[0])
    for table, name in _encrypted_columns():
        rows = table._base_manager.select_for_update().exclude(**{name: ""})
        for row in rows.annotate(_ciphertext=Cast(name, models.TextField())):
            _rotate(row, name, newest, rotation)
    return rotation


def _rotate(row: Any, name: str, newest: Fernet, rotation: Rotation) -> None:
    secret = getattr(row, name)
    if isinstance(secret, UnreadableSecret):
        rotation.unreadable.append(f"{row._meta.verbose_name} {row}")
    elif _opens(newest, row._ciphertext):
        rotation.current += 1
    else:
        type(row)._base_manager.filter(pk=row.pk).update(**{name: secret})
        rotation.rotated += 1


def _encrypted_columns() -> Iterator[tuple[Any, str]]:
    for table in apps.get_models():
        for column in table._meta.concrete_fields:
            if isinstance(column, EncryptedTextField):
                yield table, column.name


def _opens(key: Fernet, ciphertext: str) -> bool:
    try:
        key.decrypt(ciphertext.encode())
    except InvalidToken:
        return False
    return True
