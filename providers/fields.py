"""A text column that is encrypted at rest."""

from __future__ import annotations

from typing import Any, Self

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import models


class UnreadableSecret(str):
    """What a stored secret reads as when no configured key opens it: an empty text.

    It keeps the ciphertext, so that saving the row loses nothing and the secret is back
    once the old encryption key is.
    """

    __slots__ = ("ciphertext",)

    explanation = (
        "its stored key cannot be read with ENCRYPTION_KEYS: restore the old encryption key, "
        "or enter the provider's key again"
    )
    ciphertext: str

    def __new__(cls, ciphertext: str) -> Self:
        secret = super().__new__(cls, "")
        secret.ciphertext = ciphertext
        return secret


def cipher() -> MultiFernet:
    """The cipher of ENCRYPTION_KEYS: the first key writes, every key reads."""
    return MultiFernet([Fernet(key) for key in settings.ENCRYPTION_KEYS])


class EncryptedTextField(models.TextField[str, str]):
    """Text that is ciphertext in the table and plain text in Python.

    Reads as an UnreadableSecret when no key fits, never as the ciphertext: one lost
    encryption key must not make every page that lists providers fail.
    """

    def get_prep_value(self, value: Any) -> Any:
        if isinstance(value, UnreadableSecret):
            return value.ciphertext
        text = super().get_prep_value(value)
        return cipher().encrypt(text.encode()).decode() if text else text

    def from_db_value(self, value: str | None, expression: Any, connection: Any) -> str | None:
        if not value:
            return value
        try:
            return cipher().decrypt(value.encode()).decode()
        except InvalidToken:
            return UnreadableSecret(value)
