"""All processes agree on who is left alone, through the shared cache."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import DatabaseError

from providers import circuits
from providers.core.circuit import FAILURES_TO_OPEN, FIRST_SECONDS, Circuit
from providers.core.errors import CircuitOpen
from providers.models import Provider
from tests.live import run_command
from tests.providers.rows import make_provider

pytestmark = pytest.mark.django_db
NOW = 1_770_000_000.0


@pytest.fixture
def provider() -> Iterator[Provider]:
    provider = make_provider()
    yield provider
    cache.clear()


def fail(provider: Provider, times: int = FAILURES_TO_OPEN, *, now: float = NOW) -> None:
    for _ in range(times):
        circuits.note_failure(provider, reason="acme answered 500.", now=lambda: now)


def admit(provider: Provider, *, now: float) -> Circuit:
    return circuits.admit(provider, now=lambda: now)


def test_a_provider_nothing_is_known_of_is_called(provider: Provider) -> None:
    assert admit(provider, now=NOW).is_clean
    assert circuits.trouble_of(provider) == ""


def test_after_several_failures_calls_are_refused_with_the_time_and_the_reason(
    provider: Provider,
) -> None:
    fail(provider)
    with pytest.raises(CircuitOpen) as refused:
        admit(provider, now=NOW + 5)
    assert str(refused.value) == (
        "Acme: it failed and is not called until 02:40:15 (UTC). "
        "The last failure: acme answered 500."
    )
    assert refused.value.retry_after == pytest.approx(FIRST_SECONDS - 5)
    assert circuits.trouble_of(provider, now=NOW + 5) in str(refused.value)


def test_the_time_is_said_by_the_sites_clock(provider: Provider, settings: object) -> None:
    settings.TIME_ZONE = "Asia/Tokyo"  # type: ignore[attr-defined]
    fail(provider)
    assert "11:40:15 (JST)" in circuits.trouble_of(provider, now=NOW)


def test_a_success_in_between_starts_the_count_anew(provider: Provider) -> None:
    fail(provider, FAILURES_TO_OPEN - 1)
    circuits.note_success(provider)
    fail(provider, FAILURES_TO_OPEN - 1)
    assert not admit(provider, now=NOW).is_open(NOW)


def test_afterwards_one_call_may_try_and_the_others_wait_for_it(provider: Provider) -> None:
    fail(provider)
    later = NOW + FIRST_SECONDS + 1
    assert admit(provider, now=later).is_half_open(later)
    with pytest.raises(CircuitOpen, match="being tried again right now"):
        admit(provider, now=later)


def test_a_probe_that_goes_well_lets_everybody_through(provider: Provider) -> None:
    fail(provider)
    admit(provider, now=NOW + FIRST_SECONDS)
    circuits.note_success(provider)
    assert admit(provider, now=NOW + FIRST_SECONDS).is_clean
    assert admit(provider, now=NOW + FIRST_SECONDS).is_clean


def test_a_probe_that_fails_closes_the_door_for_twice_as_long(provider: Provider) -> None:
    fail(provider)
    later = NOW + FIRST_SECONDS
    admit(provider, now=later)
    fail(provider, 1, now=later)
    with pytest.raises(CircuitOpen):
        admit(provider, now=later + 2 * FIRST_SECONDS - 1)
    assert admit(provider, now=later + 2 * FIRST_SECONDS)


def test_a_probe_that_was_given_up_leaves_room_for_the_next(provider: Provider) -> None:
    fail(provider)
    admit(provider, now=NOW + FIRST_SECONDS)
    circuits.release_probe(provider)
    assert admit(provider, now=NOW + FIRST_SECONDS)


def test_another_providers_circuit_is_its_own(provider: Provider) -> None:
    fail(provider)
    assert admit(make_provider("other"), now=NOW).is_clean


class BrokenCache:
    """A cache whose database is away."""

    def __getattr__(self, name: str) -> object:
        def call(*args: object, **kwargs: object) -> object:
            raise DatabaseError("away")

        return call


def test_a_cache_that_is_away_stops_nobody(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(circuits, "cache", BrokenCache())
    fail(provider)
    circuits.note_success(provider)
    circuits.release_probe(provider)
    assert admit(provider, now=NOW).is_clean


@pytest.mark.django_db(transaction=True)
def test_another_process_sees_that_a_provider_is_left_alone(settings: object) -> None:
    settings.CACHES = {  # type: ignore[attr-defined]
        "default": {
            "BACKEND": "django.core.cache.backends.db.DatabaseCache",
            "LOCATION": "secondbrain_cache",
        }
    }
    call_command("createcachetable", verbosity=0)
    provider = make_provider()
    code = (
        "from providers import circuits; from providers.models import Provider;"
        f"p = Provider.objects.get(pk={provider.pk});"
        "[circuits.note_failure(p, reason='down') for _ in range(5)];"
        "print(circuits.trouble_of(p))"
    )
    said = run_command("shell", "-v0", "--settings", "secondbrain.settings", "-c", code)
    assert "is not called until" in said
    assert "The last failure: down" in circuits.trouble_of(provider)
    cache.clear()
