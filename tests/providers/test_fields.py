"""Secrets at rest: ciphertext in the table, rotation without loss."""

from __future__ import annotations

import base64

import pytest
from django.conf import settings
from django.db import connection

from providers.fields import UnreadableSecret
from providers.models import Provider
from tests.providers.rows import make_provider

pytestmark = pytest.mark.django_db
OLD = base64.urlsafe_b64encode(b"o" * 32)
NEW = base64.urlsafe_b64encode(b"n" * 32)


def stored(provider: Provider) -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT key FROM providers_provider WHERE id = %s", [provider.pk])
        return str(cursor.fetchone()[0])


def test_the_table_holds_ciphertext_only() -> None:
    provider = make_provider(key="sk-planted")
    assert "sk-planted" not in stored(provider)
    assert Provider.objects.get(pk=provider.pk).key == "sk-planted"


def test_no_key_is_stored_as_no_key() -> None:
    assert stored(make_provider()) == ""


def test_a_new_key_in_front_writes_and_the_old_one_still_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [OLD])
    provider = make_provider(key="sk-planted")
    written_by_old = stored(provider)
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [NEW, OLD])
    row = Provider.objects.get(pk=provider.pk)
    assert row.key == "sk-planted"
    row.save()
    assert stored(provider) != written_by_old
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [NEW])
    assert Provider.objects.get(pk=provider.pk).key == "sk-planted"


def test_an_unreadable_secret_is_empty_but_keeps_its_ciphertext(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [OLD])
    provider = make_provider(key="sk-planted")
    ciphertext = stored(provider)
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [NEW])
    row = Provider.objects.get(pk=provider.pk)
    assert isinstance(row.key, UnreadableSecret)
    assert not row.key
    assert ciphertext not in f"{row.key!r} {row.key}"
    row.save()
    assert stored(provider) == ciphertext
    row.key = "sk-entered-again"
    row.save()
    assert Provider.objects.get(pk=provider.pk).key == "sk-entered-again"
