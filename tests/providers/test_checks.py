"""The system checks of providers, each with its number."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.db import connection

from providers.checks import check_private_endpoints, check_providers
from providers.models import Provider
from tests.providers.rows import make_provider


def ids_of(**fields: object) -> list[str | None]:
    make_provider(**fields)  # type: ignore[arg-type]
    return [message.id for message in check_providers(None, databases=["default"])]


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "ids"),
    [
        ({}, []),
        ({"base_url": ""}, []),
        ({"kind": "telepathy"}, ["providers.W002"]),
        ({"base_url": "models.example.com"}, ["providers.W004"]),
        ({"kind": "fake", "base_url": "nonsense"}, []),
    ],
)
def test_faults_in_rows(fields: dict[str, object], ids: list[str]) -> None:
    assert ids_of(**fields) == ids


@pytest.mark.django_db
def test_an_unreadable_key(monkeypatch: pytest.MonkeyPatch) -> None:
    make_provider(key="sk-stored")
    other = b"b3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXItMTI="
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [other])
    (message,) = check_providers(None, databases=["default"])
    assert message.id == "providers.W001"
    assert "restore the old encryption key" in message.msg


@pytest.mark.django_db
def test_a_variable_with_a_bad_base_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_URL", "localhost:11434")
    assert ids_of(base_url_variable="ACME_URL") == ["providers.W005"]


@pytest.mark.django_db
def test_nothing_is_read_unless_a_database_is_named() -> None:
    make_provider(kind="telepathy")
    assert check_providers(None) == []
    found = run_checks(databases=["default"])
    assert "providers.W002" in [message.id for message in found]
    assert Provider.objects.exists()


@pytest.mark.parametrize(
    ("entry", "is_good"),
    [
        ("localhost:11434", True),
        ("[::1]:8080", True),
        ("10.0.0.7:80", True),
        ("http://localhost:11434", False),
        ("localhost", False),
        ("::1:8080", False),
        ("", False),
    ],
)
def test_private_places_are_host_and_port(
    entry: str, *, is_good: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "ALLOWED_PRIVATE_ENDPOINTS", [entry])
    found = [message.id for message in check_private_endpoints(None)]
    assert found == ([] if is_good else ["providers.W003"])


@pytest.mark.django_db
def test_a_table_that_an_update_has_not_reached_yet_is_left_alone() -> None:
    make_provider(kind="nonsense")
    assert check_providers(None, databases=["default"])
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE providers_provider DROP COLUMN vaults_may_add_models")
    assert check_providers(None, databases=["default"]) == []
