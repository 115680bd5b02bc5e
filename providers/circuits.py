"""The circuits of providers, in the shared cache: every process knows who is left alone.

A cache that cannot be asked must not stop anybody: then calls simply go through.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime

import structlog
from django.core.cache import cache
from django.db import DatabaseError, InterfaceError
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _

from providers.core.circuit import Circuit, after_failure
from providers.core.errors import CircuitOpen
from providers.models import Provider

PROBE_SECONDS = 150.0
"""How long a probe may take: longer than a provider may take to its first word (120 s)."""

_REMEMBERED = 24 * 3600
_TRY_AGAIN_SOON = 5.0
log = structlog.get_logger("providers.circuits")


def circuit_of(provider: Provider) -> Circuit:
    """Where the provider's circuit stands; a clean one when nothing is known."""
    try:
        kept = cache.get(_key(provider))
    except (DatabaseError, InterfaceError) as error:
        log.warning("circuit_not_read", provider=provider.slug, error=type(error).__name__)
        return Circuit()
    return Circuit(**kept) if kept else Circuit()


def trouble_of(provider: Provider, *, now: float | None = None) -> str:
    """Why the provider is not called now, in a sentence; "" when it is."""
    circuit = circuit_of(provider)
    return _why(circuit) if circuit.is_open(time.time() if now is None else now) else ""


def admit(provider: Provider, *, now: Callable[[], float] = time.time) -> Circuit:
    """The circuit of a call that may begin. Raises CircuitOpen for one that may not.

    Of a half-open circuit one call at a time gets through, in whatever process.
    """
    circuit, moment = circuit_of(provider), now()
    if circuit.is_open(moment):
        raise CircuitOpen(
            f"{provider.name}: {_why(circuit)}", retry_after=circuit.open_until - moment
        )
    if circuit.is_half_open(moment) and not _take_probe(provider):
        text = _("it failed before and is being tried again right now by another call.")
        raise CircuitOpen(f"{provider.name}: {text}", retry_after=_TRY_AGAIN_SOON)
    return circuit


def note_failure(
    provider: Provider,
    *,
    reason: str,
    retry_after: float | None = None,
    now: Callable[[], float] = time.time,
) -> None:
    """A call failed in a way that may pass."""
    circuit = after_failure(circuit_of(provider), now=now(), reason=reason, retry_after=retry_after)
    if circuit.is_open(now()):
        log.warning("circuit_open", provider=provider.slug, until=circuit.open_until)
    _keep(provider, circuit)


def note_success(provider: Provider) -> None:
    """A call went well: whatever happened before is forgotten."""
    _keep(provider, None)


def release_probe(provider: Provider) -> None:
    """A probe was given up without an outcome: the next call may try."""
    _change(provider, lambda: cache.delete(_probe_key(provider)))


def _keep(provider: Provider, circuit: Circuit | None) -> None:
    def change() -> None:
        if circuit is None:
            cache.delete(_key(provider))
        else:
            cache.set(_key(provider), asdict(circuit), _REMEMBERED)
        cache.delete(_probe_key(provider))

    _change(provider, change)


def _take_probe(provider: Provider) -> bool:
    try:
        return bool(cache.add(_probe_key(provider), 1, PROBE_SECONDS))
    except (DatabaseError, InterfaceError) as error:
        log.warning("probe_not_taken", provider=provider.slug, error=type(error).__name__)
        return True


def _change(provider: Provider, change: Callable[[], object]) -> None:
    try:
        change()
    except (DatabaseError, InterfaceError) as error:
        log.warning("circuit_not_kept", provider=provider.slug, error=type(error).__name__)


def _why(circuit: Circuit) -> str:
    until = timezone.localtime(datetime.fromtimestamp(circuit.open_until, UTC))
    return _("it failed and is not called until %(until)s. The last failure: %(reason)s") % {
        "until": date_format(until, "H:i:s (T)"),
        "reason": circuit.reason,
    }


def _key(provider: Provider) -> str:
    return f"provider-circuit-{provider.pk}"


def _probe_key(provider: Provider) -> str:
    return f"provider-probe-{provider.pk}"
