"""A text column that is encrypted at rest."""

from __future__ import annotations

from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models


class UndecryptableSecret(ValueError):
    """A stored secret that none of the configured keys can read."""


def cipher() -> MultiFernet:
    """The cipher of ENCRYPTION_KEYS: the first key writes, every key reads."""
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])


class EncryptedTextField(models.TextField[str, str]):
    """Text that is ciphertext in the table and plain text in Python.

    Raises UndecryptableSecret on read when no key fits, never the ciphertext.
    """

    def get_prep_value(self, value: Any) -> Any:
        text = super().get_prep_value(value)
        return cipher().encrypt(text.encode()).decode() if text else text

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        if not value:
            return value
        try:
            return cipher().decrypt(value.encode()).decode()
        except InvalidToken as error:
            raise UndecryptableSecret(
                "A stored key cannot be read with ENCRYPTION_KEYS. Restore the old "
                "encryption key, or enter the provider's key again."
            ) from error
