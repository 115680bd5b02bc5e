"""Encryption keys are changed without losing or showing a secret."""

from __future__ import annotations

import base64
from io import StringIO

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from providers.models import Provider
from providers.rotation import rotate_keys
from tests.providers.rows import make_provider

pytestmark = pytest.mark.django_db
OLD = base64.urlsafe_b64encode(b"o" * 32)
NEW = base64.urlsafe_b64encode(b"n" * 32)
LOST = base64.urlsafe_b64encode(b"l" * 32)


def stored() -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT slug, key FROM providers_provider")
        return dict(cursor.fetchall())


@pytest.fixture
def under_old_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two keys written with the old encryption key; then a new one comes in front."""
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [OLD])
    make_provider("acme", key="sk-planted-acme")
    make_provider("brand", key="sk-planted-brand")
    make_provider("keyless")
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [NEW, OLD])


@pytest.mark.usefixtures("under_old_key")
def test_afterwards_the_new_key_alone_opens_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    rotation = rotate_keys()
    assert (rotation.rotated, rotation.current, rotation.unreadable) == (2, 0, [])
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [NEW])
    keys = dict(Provider.objects.values_list("slug", "key"))
    assert keys == {"acme": "sk-planted-acme", "brand": "sk-planted-brand", "keyless": ""}


@pytest.mark.usefixtures("under_old_key")
def test_running_it_again_changes_nothing() -> None:
    rotate_keys()
    before = stored()
    rotation = rotate_keys()
    assert (rotation.rotated, rotation.current) == (0, 2)
    assert stored() == before


def test_what_no_key_opens_is_named_and_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [LOST])
    make_provider("acme", key="sk-planted-acme")
    before = stored()
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [NEW])
    make_provider("brand", key="sk-planted-brand")
    assert rotate_keys().unreadable == ["provider Acme"]
    assert stored()["acme"] == before["acme"]
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [NEW, LOST])
    assert Provider.objects.get(slug="acme").key == "sk-planted-acme"
    assert rotate_keys().rotated == 1


@pytest.mark.usefixtures("under_old_key")
def test_the_command_counts_and_shows_no_key() -> None:
    out, err = StringIO(), StringIO()
    call_command("rotate_keys", stdout=out, stderr=err)
    assert out.getvalue() == "2 encrypted anew, 0 already were, 0 unreadable\n"
    assert err.getvalue() == ""


@pytest.mark.usefixtures("under_old_key")
def test_the_command_fails_when_a_key_stays_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [NEW])
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("rotate_keys", stdout=out, stderr=err)
    assert ended.value.code == 1
    assert "2 unreadable" in out.getvalue()
    assert "provider Acme: its stored key cannot be read" in err.getvalue()
    for text in (out.getvalue(), err.getvalue()):
        assert "planted" not in text
        assert all(ciphertext not in text for ciphertext in stored().values() if ciphertext)
