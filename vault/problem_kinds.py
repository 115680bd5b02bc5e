"""What may be wrong with a note, one thing that is, and for whom it is looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from providers.models import EmbeddingModel
from vault import access
from vault.core.types import Scope
from vault.models import Chunk, Note, Vault


class Kind(StrEnum):
    """What may be wrong; the order is that of the list of everything."""

    FAILED = "failed"
    UNREAD = "unread"
    SETTINGS = "settings"
    TOO_LARGE = "too-large"
    EXCLUDED = "excluded"
    REFUSED = "refused"
    NO_CONTEXT = "no-context"
    SUSPICIOUS = "suspicious"
    WARNINGS = "warnings"
    WAITING = "waiting"
    EMPTY = "empty"
    SECRETS = "secrets"


# What asks for nobody's hand is listed only when it is asked for.
NOT_WRONG = (Kind.WAITING, Kind.EMPTY, Kind.SECRETS)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with one file. `path` is relative to the vault.

    `severity` is "missing" (it cannot be found), "partly" (some of it cannot, or not by
    meaning), "doubtful" (all of it can be found; look whether it was read rightly) or
    "setting" (a settings file of the vault: what stands there does not hold).
    """

    path: str
    reason: str
    mend: str
    severity: str
    line: int | None = None
    note_id: int | None = None
    kind: str = ""
    attempts: int = 0
    vault_id: int = 0


@dataclass(frozen=True, slots=True)
class Looked:
    """Vaults as somebody may see them; without a scope, all of them."""

    vaults: tuple[Vault, ...]
    scope: Scope | None = None

    @property
    def vault_ids(self) -> list[int]:
        return [vault.pk for vault in self.vaults]

    @property
    def notes(self) -> QuerySet[Note]:
        """Their notes, those of closed folders left out."""
        notes = Note.objects.all() if self.scope is None else access.notes_in(self.scope)
        return notes.filter(vault__in=self.vault_ids)

    @property
    def serving(self) -> dict[EmbeddingModel, list[int]]:
        """The ids of the vaults that each model serves."""
        return _by_model((vault.embedding_model, vault.pk) for vault in self.vaults)

    @property
    def following(self) -> dict[EmbeddingModel, list[int]]:
        """The ids of the vaults that each model is to serve next."""
        return _by_model((vault.next_embedding_model, vault.pk) for vault in self.vaults)

    @property
    def is_whole(self) -> bool:
        """Whether no folder is closed."""
        return self.scope is None or not self.scope.rules

    def only_open(self, chunks: QuerySet[Chunk]) -> QuerySet[Chunk]:
        """Chunks of these vaults less those of closed folders."""
        return chunks if self.is_whole else chunks.filter(note__in=self.notes)

    def readable_slugs(self) -> Iterable[str]:
        """Of every vault that who looks may read; without a scope, of all there are."""
        if self.scope is None:
            return Vault.objects.present().values_list("slug", flat=True)
        user = get_user_model().objects.filter(pk=self.scope.user_id).first()
        return access.visible_to(user or AnonymousUser()).values_list("slug", flat=True)

    def opens(self, vault_id: int, path: str) -> bool:
        """Whether the file at `path` of that vault may be named."""
        return self.scope is None or self.scope.opens(vault_id, path)


def _by_model(
    pairs: Iterable[tuple[EmbeddingModel | None, int]],
) -> dict[EmbeddingModel, list[int]]:
    found: dict[EmbeddingModel, list[int]] = {}
    for model, vault_id in pairs:
        if model is not None:
            found.setdefault(model, []).append(vault_id)
    return found
