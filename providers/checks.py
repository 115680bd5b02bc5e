"""What `manage.py check` says about providers.

providers.W001  a stored key that no encryption key opens
providers.W002  a provider of a kind that no backend knows
providers.W003  an entry of ALLOWED_PRIVATE_ENDPOINTS that can never match
providers.W004  a base URL that cannot be called
providers.W005  a variable named by a provider holds a base URL that cannot be called

W001, W002, W004 and W005 read the database: `manage.py check --database default`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, register
from django.core.checks import Warning as CheckWarning
from django.db import connections

from providers.core.base_urls import InvalidBaseURL, normalise_base_url
from providers.fields import UnreadableSecret
from providers.models import Provider
from providers.registry import KINDS, LOCAL_KINDS, base_url_of, default_version

_PLACE = re.compile(r"^(?:\[[0-9a-f:.]+\]|[^\s:/@\[\]]+):\d{1,5}$", re.IGNORECASE)


def register_checks() -> None:
    """Called once, when the app is ready."""
    register(check_private_endpoints)
    register(check_providers, Tags.database)


def check_private_endpoints(app_configs: Any, **options: Any) -> list[CheckMessage]:
    """ALLOWED_PRIVATE_ENDPOINTS holds `host:port`, nothing else."""
    return [
        CheckWarning(
            f"ALLOWED_PRIVATE_ENDPOINTS: {entry!r} is not of the form host:port.",
            hint="Write 127.0.0.1:11434 or [::1]:11434, without http:// and without a path.",
            id="providers.W003",
        )
        for entry in settings.ALLOWED_PRIVATE_ENDPOINTS
        if not _PLACE.match(entry.strip())
    ]


def check_providers(
    app_configs: Any, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    """Every provider in the table can at least be addressed."""
    messages: list[CheckMessage] = []
    for alias in databases or ():
        if _is_migrated(alias):
            for provider in Provider.objects.using(alias):
                messages.extend(_faults_of(provider))
    return messages


def _is_migrated(alias: str) -> bool:
    """Whether the table is there with every column: `migrate` runs this check before it has
    made what an update brings."""
    table, inspect = Provider._meta.db_table, connections[alias].introspection
    with connections[alias].cursor() as cursor:
        if table not in inspect.table_names(cursor):
            return False
        found = {column.name for column in inspect.get_table_description(cursor, table)}
    return {field.column for field in Provider._meta.concrete_fields} <= found


def _faults_of(provider: Provider) -> Iterable[CheckMessage]:
    if isinstance(provider.key, UnreadableSecret):
        yield CheckWarning(
            f"{provider.name}: {UnreadableSecret.explanation}.", obj=provider, id="providers.W001"
        )
    if provider.kind not in KINDS:
        yield CheckWarning(
            f"{provider.name}: its kind {provider.kind!r} is unknown.",
            hint=f"Choose one of {', '.join(KINDS)} in the admin.",
            obj=provider,
            id="providers.W002",
        )
    elif provider.kind not in LOCAL_KINDS:
        yield from _address_faults(provider)


def _address_faults(provider: Provider) -> Iterable[CheckMessage]:
    url, is_from_environment = base_url_of(provider)
    if not url:
        return
    try:
        normalise_base_url(url, default_version=default_version(provider.kind))
    except InvalidBaseURL as error:
        place = provider.base_url_variable if is_from_environment else "base URL"
        yield CheckWarning(
            f"{provider.name}: {place}: {error}.",
            obj=provider,
            id="providers.W005" if is_from_environment else "providers.W004",
        )
