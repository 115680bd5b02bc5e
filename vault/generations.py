"""The change of a vault's embedding model: a new generation of vectors beside the old one.

Search is served by one model all along, `Vault.embedding_model`; who serves is changed by one
statement, when the next model has a vector of every chunk. The vectors before it are kept
for a while, so that the way back is one statement as well.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now

from providers.models import EmbeddingModel
from vault.locks import Work, only_one
from vault.models import Chunk, ChunkVector, NoteVector, Upkeep, Vault
from vault.staleness import pending_chunks, refused_by, stale_chunks
from vault.vector_index import fit_index

# A model that refuses more than this share of the passages, and more than a few, does not
# take over by itself: something else than the texts is wrong with it.
MOST_REFUSED = 0.1
A_FEW = 5
_BATCH = 5000
_NOT_JUDGED: dict[str, Any] = {"switch_verdict": "", "switch_report": {}}


class SwitchRefused(Exception):
    """What was asked for makes no sense now; `str()` says why."""


@dataclass(frozen=True, slots=True)
class Generation:
    """The vectors of a vault under one model: `done` of `total` chunks have theirs.

    `refused` of the rest were refused by the model, `is_held`: too many to let it serve.
    """

    model: EmbeddingModel
    done: int
    total: int
    refused: int

    @property
    def waiting(self) -> int:
        return self.total - self.done - self.refused

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 means all that can be."""
        possible = self.total - self.refused
        return self.done * 100 // possible if possible else 100

    @property
    def is_held(self) -> bool:
        few = self.refused <= max(A_FEW, self.total * MOST_REFUSED)
        return self.refused > 0 and (self.done == 0 or not few)


def generation(vault_id: int, model: EmbeddingModel) -> Generation:
    """How many chunks of a vault `model` has vectors of."""
    total = Chunk.objects.filter(vault_id=vault_id).count()
    stale = stale_chunks(vault_id, model)
    return Generation(
        model, total - stale.count(), total, refused=stale.filter(refused_by(model)).count()
    )


def begin_switch(vault_id: int, model: EmbeddingModel | None) -> None:
    """Let `model` take over when it has a vector of every chunk; None: keywords only, at once.

    Where no model serves, it serves at once, as far as it has vectors. Choosing the model
    that serves calls off a switch.
    """
    vault = Vault.objects.filter(pk=vault_id)
    vault.exclude(next_embedding_model=model).update(**_NOT_JUDGED)
    if model is None:
        _flip(vault.filter(embedding_model__isnull=False), None)
        return
    started = vault.filter(embedding_model=None).update(
        embedding_model=model, next_embedding_model=None
    )
    if not started:
        vault.exclude(embedding_model=model).update(next_embedding_model=model)
        vault.filter(embedding_model=model).update(next_embedding_model=None)


def cancel_switch(vault_id: int) -> None:
    """Stay with the model that serves. The next cleanup drops what was made for the other."""
    Vault.objects.filter(pk=vault_id).update(next_embedding_model=None, **_NOT_JUDGED)


def judge_switch(vault_id: int, model: EmbeddingModel, *, report: Mapping[str, Any]) -> None:
    """Say what a trial found before `model` serves. With a `report` (figures, as JSON) it is
    worse, and waits for an owner's word; without one nothing speaks against it."""
    verdict = Vault.SwitchVerdict.WORSE if report else Vault.SwitchVerdict.AGREED
    asked = Vault.objects.filter(pk=vault_id, next_embedding_model=model, switch_verdict="")
    asked.update(switch_verdict=verdict, switch_report=dict(report))


def agree_to_switch(vault_id: int) -> None:
    """Let the next model serve, whatever a trial said."""
    vault = Vault.objects.filter(pk=vault_id, next_embedding_model__isnull=False)
    vault.update(switch_verdict=Vault.SwitchVerdict.AGREED)


def try_again(vault_id: int) -> None:
    """Forget what the last trial of the next model said."""
    Vault.objects.filter(pk=vault_id).update(**_NOT_JUDGED)


def is_agreed(vault_id: int) -> bool:
    """Whether a trial, or an owner, let the next model of a vault serve."""
    agreed = Vault.SwitchVerdict.AGREED
    return Vault.objects.filter(pk=vault_id, switch_verdict=agreed).exists()


def ready_to_switch(vault_id: int) -> EmbeddingModel | None:
    """The next model of a vault when nothing waits for it any more, an owner's word neither."""
    vault = Vault.objects.select_related("next_embedding_model__provider").get(pk=vault_id)
    if vault.next_embedding_model is None or vault.switch_verdict == vault.SwitchVerdict.WORSE:
        return None
    made = generation(vault_id, vault.next_embedding_model)
    return None if made.waiting or made.is_held else made.model


def finish_switch(vault_id: int) -> bool:
    """Let the next model serve if nothing waits for it any more; whether it does now.

    Builds its vector index first, beside all reads and writes, and waits for that.
    """
    following = ready_to_switch(vault_id)
    if following is None:
        return False
    fit_index(following)
    waiting = Exists(pending_chunks(vault_id, following))
    ready = Vault.objects.filter(~waiting, pk=vault_id, next_embedding_model=following)
    return bool(_flip(ready, following))


def roll_back(vault_id: int) -> EmbeddingModel:
    """Let the model before serve again, at once; returns it.

    Chunks that changed meanwhile are embedded anew, and found by their words until then.
    Raises SwitchRefused when its vectors are gone.
    """
    vault = Vault.objects.select_related("previous_embedding_model__provider").get(pk=vault_id)
    before = vault.previous_embedding_model
    kept = Vault.objects.filter(pk=vault_id, previous_embedding_model=before)
    if before is None or not _flip(kept, before):
        raise SwitchRefused("The vectors of the model before are not kept any more.")
    return before


def discard_previous(vault_id: int) -> None:
    """Give up the way back. The next cleanup drops the vectors."""
    Vault.objects.filter(pk=vault_id).update(previous_embedding_model=None)


def discard_expired() -> list[int]:
    """Give up every way back that is older than the admin wants; returns the vaults."""
    limit = Now() - timedelta(days=Upkeep.chosen().keep_vectors_days)
    expired = Vault.objects.filter(previous_embedding_model__isnull=False, model_switched__lt=limit)
    ids = list(expired.values_list("pk", flat=True))
    for vault_id in ids:
        discard_previous(vault_id)
    return ids


def orphans_of(vault_id: int) -> QuerySet[ChunkVector]:
    """Vectors that no model of the vault can use."""
    models = _foreign_models(vault_id)
    return ChunkVector.objects.filter(vault_id=vault_id, embedding_model__in=models)


def drop_orphans(vault_id: int, *, most_seconds: float) -> tuple[list[EmbeddingModel], int]:
    """Delete vectors of models that are no longer the vault's.

    Returns the models and how many vectors of chunks went; call again while models come
    back. Raises vault.locks.Busy while the vault is being embedded: that run may still
    write for a model that was called off.
    """
    until = time.monotonic() + most_seconds
    deleted = 0
    with only_one(Work.EMBED, vault_id, wait=1.0):
        models = _foreign_models(vault_id)
        for model in models:
            NoteVector.objects.filter(vault_id=vault_id, embedding_model=model).delete()
            rows = ChunkVector.objects.filter(vault_id=vault_id, embedding_model=model)
            while time.monotonic() < until:
                ids = list(rows.values_list("pk", flat=True)[:_BATCH])
                if not ids:
                    break
                deleted += ChunkVector.objects.filter(pk__in=ids).delete()[0]
    return models, deleted


def _flip(vaults: QuerySet[Vault], model: EmbeddingModel | None) -> int:
    """The one statement that changes who serves."""
    return vaults.update(
        embedding_model=model,
        previous_embedding_model=F("embedding_model"),
        next_embedding_model=None,
        model_switched=Now(),
        **_NOT_JUDGED,
    )


def _foreign_models(vault_id: int) -> list[EmbeddingModel]:
    """Models that have vectors in a vault and no part in it."""
    vault = Vault.objects.get(pk=vault_id)
    own = (
        vault.embedding_model_id,
        vault.next_embedding_model_id,
        vault.previous_embedding_model_id,
    )
    of_chunks = ChunkVector.objects.filter(vault_id=vault_id, embedding_model=OuterRef("pk"))
    of_notes = NoteVector.objects.filter(vault_id=vault_id, embedding_model=OuterRef("pk"))
    others = EmbeddingModel.objects.exclude(pk__in=[pk for pk in own if pk])
    return list(others.filter(Exists(of_chunks) | Exists(of_notes)).order_by("pk"))
