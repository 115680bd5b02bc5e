"""Facts that programs keep beside a vault: scrubbed like notes, read with their rights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from vault import access
from vault.core.scrub import scrub
from vault.indexing import storable
from vault.models import Fact, Note, Vault

Clean = Callable[[str], str]

_FIELDS = ("text", "origin")


class FactsOff(Exception):
    """The vault keeps no facts. `str()` says who may change that."""


@dataclass(frozen=True, slots=True)
class NewFact:
    """What a program stores; about `note`, or the vault as a whole."""

    text: str
    origin: str
    note: Note | None = None


def add_fact(vault: Vault, fact: NewFact, *, author: AbstractBaseUser | AnonymousUser) -> Fact:
    """Store a fact without the secrets in it. Raises FactsOff where the vault keeps none."""
    if not vault.keeps_facts:
        raise FactsOff(
            "This vault keeps no facts. Staff may switch that on in Admin, under “Other programs”."
        )

    def clean(text: str) -> str:
        return scrub(storable(text), emails=vault.scrub_emails).text

    return Fact.objects.create(
        vault=vault,
        note=fact.note,
        text=clean(fact.text),
        origin=clean(fact.origin),
        author_id=author.pk,
    )


def remove_fact(user: AbstractBaseUser | AnonymousUser, vault: Vault, fact_id: int) -> bool:
    """Delete a fact that `user` may read, for good; whether it was there."""
    found = access.facts_of(user, vault).filter(pk=fact_id)
    return bool(found.delete()[0])


def rescrub_kept(vault_id: int, clean: Clean) -> int:
    """Pass every fact of a vault through `clean`; rows changed."""
    changed = 0
    for fact in Fact.objects.filter(vault_id=vault_id).iterator(500):
        cleaned = {name: clean(getattr(fact, name)) for name in _FIELDS}
        if any(getattr(fact, name) != text for name, text in cleaned.items()):
            Fact.objects.filter(pk=fact.pk).update(**cleaned)
            changed += 1
    return changed
