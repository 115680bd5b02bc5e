"""Filters of a query as SQL on notes, and what a filter that fits no note may have meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from django.db import connection
from django.utils import timezone
from numpy.typing import NDArray

from retrieval.core import sql
from retrieval.core.filters import Filter
from retrieval.core.query import ParsedQuery, is_of_plain_words, phrase_pattern
from retrieval.core.sql import fill
from retrieval.facts import scope_facts
from vault.core.lexical import other_spellings, query_tokens
from vault.core.types import Scope
from vault.querysets import folder_condition

MOST_SUGGESTED = 3
# Names looked at for a suggestion; more would cost more than the answer is worth.
_MOST_NAMES = 5_000


def note_condition(filters: Sequence[Filter], scope: Scope) -> tuple[str, dict[str, Any]]:
    """A condition on the note `n` that all of `filters` and the folders of `scope` set, and
    its values.

    Several paths, or several tags, must all hold, as all other words of a query narrow.
    """
    conditions: list[str] = []
    values: dict[str, Any] = {}
    if scope.rules:
        opened, rules = folder_condition(scope)
        conditions.append(opened)
        values |= rules
    for number, each in enumerate(filters):
        name = f"filter_{number}"
        values[name] = each.value
        condition = _condition(each, name)
        conditions.append(f"NOT ({condition})" if each.is_excluding else f"({condition})")
        if each.name in {"after", "before"}:
            values["zone"] = timezone.get_current_timezone_name()
    return " AND ".join(conditions) or "TRUE", values


def narrows(query: ParsedQuery, scope: Scope) -> bool:
    """Whether some of what is near may not be found, for what is asked or for who asks."""
    return bool(query.narrows or scope.rules)


def names_notes(query: ParsedQuery, scope: Scope) -> bool:
    """Whether filters or folders say which notes may be found (`note_condition`)."""
    return bool(query.filters or scope.rules)


def allowed_notes(
    query: ParsedQuery, *, scope: Scope, text_configs: Sequence[str]
) -> NDArray[np.int64]:
    """The ids (n,) of the notes that filters and folders let through and nothing excludes, in no
    order. `text_configs` are those present in `scope`."""
    condition, values = note_condition(query.filters, scope)
    barred, barred_values = barred_parts(query)
    if barred:
        condition += f" AND {sql.BARRED_NOTES}"
    values |= barred_values | {"configs": list(text_configs), "vaults": list(scope.vault_ids)}
    statement = fill(sql.ALLOWED_IDS, condition=condition)
    with connection.cursor() as cursor:
        cursor.execute(f"WITH {barred[0]} {statement}" if barred else statement, values)
        row = cursor.fetchone()
    return np.frombuffer((row and row[0]) or b"", dtype=">i8").astype(np.int64)


def barred_parts(query: ParsedQuery) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The part of a statement that finds the notes which `query` leaves out, as table `barred`,
    and its values; nothing where it leaves out none. `vaults` and `configs` are the statement's."""
    if not query.excludes:
        return (), {}
    unwanted = list(query.excluded_phrases)
    values: dict[str, Any] = {
        "excluded": list(query.excluded),
        "excluded_made": [
            *(" ".join(query_tokens(word)) for word in query.excluded),
            *(spelling for word in query.excluded for spelling in other_spellings(word)),
        ],
        "unwanted": unwanted,
        "unwanted_patterns": [phrase_pattern(phrase) for phrase in unwanted],
        "unwanted_plain": [is_of_plain_words(phrase) for phrase in unwanted],
    }
    return (fill(sql.BARRED, quoted_lexeme=sql.quoted("lexeme")),), values


def list_notes(
    query: ParsedQuery,
    *,
    scope: Scope,
    limit: int,
    only: tuple[str, dict[str, Any]] = ("TRUE", {}),
    first: Sequence[int] = (),
) -> tuple[tuple[int, int], ...]:
    """(note id, id of its first chunk or 0) of the notes that the filters let through and
    nothing excludes, newest first, at most `limit`.

    `only`: a further condition on note `n`, with its values. The notes `first` come before
    the others, beside `limit`.
    """
    condition, values = note_condition(query.filters, scope)
    condition += f" AND {sql.SEARCHED} AND ({only[0]})"
    values |= only[1]
    barred, barred_values = barred_parts(query)
    if barred:
        condition += f" AND {sql.BARRED_NOTES}"
        values |= barred_values | {"configs": list(scope_facts(scope).text_configs)}
    values |= {
        "vaults": list(scope.vault_ids),
        "limit": int(limit),
        "first": list(first),
        "zone": timezone.get_current_timezone_name(),
    }
    listed = fill(sql.LISTED, condition=condition, date=sql.NOTE_DAY)
    with connection.cursor() as cursor:
        cursor.execute(f"WITH {barred[0]} {listed}" if barred else listed, values)
        return tuple((note_id, chunk_id or 0) for note_id, chunk_id in cursor.fetchall())


def fitting(note_ids: Sequence[int], filters: Sequence[Filter], scope: Scope) -> set[int]:
    """Those of the notes that stand in `scope` and that all of `filters` fit."""
    condition, values = note_condition(filters, scope)
    statement = fill(_FITTING, condition=condition)
    with connection.cursor() as cursor:
        vaults = list(scope.vault_ids)
        cursor.execute(statement, {**values, "vaults": vaults, "notes": list(note_ids)})
        return {note for (note,) in cursor.fetchall()}


def unknown_filter(filters: Sequence[Filter], scope: Scope) -> Filter | None:
    """The first filter by name that fits no note of `scope`; a date may fit none."""
    for each in filters:
        if each.name not in {"after", "before"} and not _fits_any(each, scope):
            return each
    return None


def suggestions_for(unknown: Filter, scope: Scope) -> tuple[str, ...]:
    """Names of `scope` that `unknown` may have meant, most alike first.

    Folders, tags, kinds, vaults; of a property the values it has, or, where no note has
    it, the names of properties (`name=`).
    """
    names = _names(unknown, scope)
    by_lower = {name.lower(): name for name in reversed(names)}
    near = get_close_matches(unknown.value, by_lower, n=MOST_SUGGESTED, cutoff=0.5)
    inside = [name for name in by_lower if unknown.value.rstrip("/") in name]
    found = list(dict.fromkeys((*inside, *near)))[:MOST_SUGGESTED]
    return tuple(by_lower[name] for name in found) or tuple(names[:MOST_SUGGESTED])


def _names(unknown: Filter, scope: Scope) -> list[str]:
    """What stands in the place of `unknown` in `scope`, most frequent first."""
    if unknown.name != "prop":
        return _column(_NAMES[unknown.name], scope)
    key = unknown.value.partition("=")[0]
    return _column(_VALUES, scope, key=key) or _column(_KEYS, scope)


def _column(statement: str, scope: Scope, **values: Any) -> list[str]:
    opened, rules = folder_condition(scope)
    values |= rules | {"vaults": list(scope.vault_ids), "most": _MOST_NAMES}
    with connection.cursor() as cursor:
        cursor.execute(fill(statement, opened=opened), values)
        return [name for (name,) in cursor.fetchall()]


_TAGS = """
SELECT tag FROM vault_note n CROSS JOIN LATERAL unnest(n.tags) AS tags(tag)
WHERE n.vault_id = ANY(%(vaults)s) AND {opened}
GROUP BY tag ORDER BY count(*) DESC, tag LIMIT %(most)s
"""
_FOLDERS = """
SELECT regexp_replace(n.path, '[^/]*$', '') AS folder FROM vault_note n
WHERE n.vault_id = ANY(%(vaults)s) AND n.path LIKE '%%/%%' AND {opened}
GROUP BY folder ORDER BY count(*) DESC, folder LIMIT %(most)s
"""


_FITTING = """
SELECT n.id FROM vault_note n
WHERE n.vault_id = ANY(%(vaults)s) AND n.id = ANY(%(notes)s) AND {condition}
"""
_FITS_ANY = """
SELECT EXISTS (
    SELECT 1 FROM vault_note n WHERE n.vault_id = ANY(%(vaults)s) AND {opened} AND {condition}
)
"""


def _fits_any(each: Filter, scope: Scope) -> bool:
    opened, rules = folder_condition(scope)
    values: dict[str, Any] = rules | {"vaults": list(scope.vault_ids), "value": each.value}
    statement = fill(_FITS_ANY, opened=opened, condition=_condition(each, "value"))
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return bool(cursor.fetchone()[0])


def _condition(each: Filter, name: str) -> str:
    template = _CONDITIONS.get(each.name)
    if template is not None:
        return fill(template, name=name)
    comparison = ">=" if each.name == "after" else "<"
    return f"{sql.NOTE_DAY} {comparison} %({name})s"


_CONDITIONS = {
    "path": sql.UNDER_PATH,
    "folder": sql.IN_FOLDER,
    "tag": sql.HAS_TAG,
    "prop": sql.HAS_PROPERTY,
    "kind": sql.OF_KIND,
    "vault": sql.IN_VAULT,
}


_KINDS = """
SELECT n.kind FROM vault_note n WHERE n.vault_id = ANY(%(vaults)s) AND {opened}
GROUP BY n.kind ORDER BY count(*) DESC, n.kind LIMIT %(most)s
"""
_VAULTS = """
SELECT v.slug FROM vault_vault v WHERE v.id = ANY(%(vaults)s) ORDER BY v.slug LIMIT %(most)s
"""
_KEYS = """
SELECT property.name || '=' FROM vault_note n
CROSS JOIN LATERAL jsonb_object_keys(n.properties) AS property(name)
WHERE n.vault_id = ANY(%(vaults)s) AND {opened}
GROUP BY property.name ORDER BY count(*) DESC, property.name LIMIT %(most)s
"""
_VALUES = """
SELECT lower(property.name) || '=' || btrim(item.value #>> '{{}}', ' []') AS pair FROM vault_note n
CROSS JOIN LATERAL jsonb_each(n.properties) AS property(name, value)
CROSS JOIN LATERAL jsonb_array_elements(CASE jsonb_typeof(property.value)
    WHEN 'array' THEN property.value ELSE jsonb_build_array(property.value) END) AS item(value)
WHERE n.vault_id = ANY(%(vaults)s) AND {opened} AND lower(property.name) = %(key)s
    AND length(item.value #>> '{{}}') < 100
GROUP BY pair ORDER BY count(*) DESC, pair LIMIT %(most)s
"""
_NAMES = {"path": _FOLDERS, "folder": _FOLDERS, "tag": _TAGS, "kind": _KINDS, "vault": _VAULTS}
