"""Give every chunk its vector.

What is to be done is read from the tables: a chunk is stale under a model when it has no
vector made from its present text. A run may be killed anywhere: what was committed is
not paid for again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from asgiref.sync import async_to_sync
from django.db import transaction

from providers.core.errors import BadRequest, ProtocolError, ProviderError
from providers.core.protocols import Embedder, Vectors
from providers.core.types import Usage
from providers.limits import FREE_KINDS
from providers.models import EmbeddingModel
from providers.registry import embedder
from providers.usage import record_usage
from vault.core.tokens import estimate_tokens
from vault.locks import Work, only_one
from vault.models import Chunk, ChunkVector, NoteVector
from vault.note_vectors import write_note_vectors
from vault.refusals import mark_failed
from vault.staleness import fingerprint, models_of, pending_chunks

# Chunks looked at together: equal texts among them are embedded once.
WINDOW = 256
FIRST_BATCH = 8
LARGEST_BATCH = 128
SECONDS_A_BATCH = 1.0
# Refused one by one without a single success: it is not the texts that are wrong.
REFUSALS_IN_A_ROW = 20


@dataclass(frozen=True, slots=True)
class EmbedProgress:
    """What a run did and what is left, under all models of the vault together.

    `per_second` counts embedded texts. `after` is where to go on: the last chunk looked at
    under each model, by the model's id as text (it is kept as JSON).
    """

    embedded: int = 0
    reused: int = 0
    failed: int = 0
    left: int = 0
    per_second: float = 0.0
    after: Mapping[str, int] = field(default_factory=dict)

    @property
    def done(self) -> int:
        """Chunks that do not wait any more."""
        return self.embedded + self.reused + self.failed


@dataclass(frozen=True, slots=True)
class GoOn:
    """What the run before knew; all of it saves time only.

    `left`: chunks that waited at its end, None to count them. `after`: see EmbedProgress.
    `suspects`: chunks that a run died at, which are sent one at a time.
    """

    left: int | None = None
    after: Mapping[str, int] = field(default_factory=dict)
    suspects: Sequence[int] = ()


OnProgress = Callable[[EmbedProgress], None]
OnBatch = Callable[[list[int]], None]


def embed_pending(
    vault_id: int,
    *,
    most_seconds: float,
    go_on: GoOn | None = None,
    on_progress: OnProgress | None = None,
    on_batch: OnBatch | None = None,
    backend_of: Callable[[EmbeddingModel], Embedder] = embedder,
) -> EmbedProgress:
    """Embed stale chunks of a vault for about `most_seconds`; returns what was done.

    Serves the vault's model first, then the one that is to follow it; trouble with one
    keeps none from the other. `on_batch` hears the ids of every batch before it is sent.

    Raises ProviderError when a model, not a text, is the trouble, and Busy when another
    process embeds this vault.
    """
    with only_one(Work.EMBED, vault_id):
        tally = _Tally(vault_id, go_on or GoOn(), on_progress)
        until = time.monotonic() + most_seconds
        trouble: ProviderError | None = None
        for model in tally.models:
            try:
                run = _Run(tally, model, until, backend=backend_of(model), on_batch=on_batch)
                run.go()
            except ProviderError as error:
                trouble = trouble or error
        if trouble is not None:
            raise trouble
        return tally.ended()


class _Tally:
    """What was done under all models of the vault so far."""

    def __init__(self, vault_id: int, go_on: GoOn, on_progress: OnProgress | None) -> None:
        self.vault_id, self.on_progress = vault_id, on_progress
        self.models = models_of(vault_id)
        self.suspects = frozenset(go_on.suspects)
        self.after = dict(go_on.after)
        self.waiting = self._count() if go_on.left is None else go_on.left
        self.embedded = self.reused = self.failed = 0
        self.seconds = 0.0

    def progress(self) -> EmbedProgress:
        done = self.embedded + self.reused + self.failed
        rate = self.embedded / self.seconds if self.seconds else 0.0
        left = max(self.waiting - done, 0)
        return EmbedProgress(self.embedded, self.reused, self.failed, left, rate, dict(self.after))

    def tell(self) -> None:
        if self.on_progress is not None:
            self.on_progress(self.progress())

    def ended(self) -> EmbedProgress:
        """As `progress`; what is said to be left, or not, is looked up."""
        progress = self.progress()
        is_over = not any(self.after.get(str(model.pk)) for model in self.models)
        if bool(progress.left) is is_over:
            self.waiting = self._count() + progress.done
            progress = self.progress()
        return progress

    def _count(self) -> int:
        return sum(pending_chunks(self.vault_id, model).count() for model in self.models)


class _Run:
    """One go at the stale chunks of a vault under one model."""

    def __init__(
        self,
        tally: _Tally,
        model: EmbeddingModel,
        until: float,
        *,
        backend: Embedder,
        on_batch: OnBatch | None,
    ) -> None:
        self.tally, self.model, self.until = tally, model, until
        self.vault_id = tally.vault_id
        self.backend, self.on_batch = backend, on_batch
        self.space = fingerprint(model)
        self.batch_size = FIRST_BATCH
        self.refusals = 0

    def go(self) -> None:
        """Go on behind the last chunk seen; at the end, look once more from the beginning."""
        key = str(self.model.pk)
        after = self.tally.after.get(key, 0)
        if not after:
            self._drop_other_spaces()
        while time.monotonic() < self.until:
            window = self._window(after=after)
            if window:
                self._embed_window(window)
                is_whole = time.monotonic() < self.until
                after = window[-1].pk if is_whole else after
            elif after:
                after = 0
            else:
                write_note_vectors(self.vault_id, self.model)
                break
            self.tally.after[key] = after

    def _window(self, *, after: int) -> list[Chunk]:
        chunks = pending_chunks(self.vault_id, self.model).filter(pk__gt=after)
        fields = ("heading_path", "context", "content", "embedded_text", "embedded_shown")
        return list(chunks.order_by("pk").only(*fields, "embed_hash", "note_id")[:WINDOW])

    def _embed_window(self, window: Sequence[Chunk]) -> None:
        known = self._vectors_of_equal_text(window)
        reused = [chunk for chunk in window if chunk.embed_hash in known]
        self.tally.reused += self._write(reused, known)
        groups: dict[str, list[Chunk]] = {}
        for chunk in window:
            if chunk.embed_hash not in known:
                groups.setdefault(chunk.embed_hash, []).append(chunk)
        waiting = list(groups.values())
        while waiting and time.monotonic() < self.until:
            size = 1 if waiting[0][0].pk in self.tally.suspects else self.batch_size
            self._embed_batch(waiting[:size])
            del waiting[:size]
            self.tally.tell()
        write_note_vectors(self.vault_id, self.model, notes={chunk.note_id for chunk in window})

    def _embed_batch(self, groups: Sequence[list[Chunk]]) -> None:
        """Embed the first chunk of each group, for the whole group; halve when refused."""
        if self.on_batch is not None:
            self.on_batch([chunk.pk for group in groups for chunk in group])
        started = time.monotonic()
        try:
            vectors = self._call([group[0] for group in groups])
        except (BadRequest, ProtocolError) as error:
            self._halve(groups, error)
            return
        self._adapt(time.monotonic() - started, len(groups))
        good = {}
        for group, vector in zip(groups, vectors, strict=True):
            fault = _fault_of(vector)
            if fault:
                self._refuse(group, fault)
            else:
                good[group[0].embed_hash] = vector
        chunks = [chunk for group in groups for chunk in group if chunk.embed_hash in good]
        self.tally.embedded += self._write(chunks, good)
        self.refusals = 0 if good else self.refusals

    def _call(self, chunks: Sequence[Chunk]) -> Vectors:
        """Vectors of the chunks' texts; the call is recorded whatever becomes of it."""
        texts = [chunk.vector_text() for chunk in chunks]
        usage = Usage(input_tokens=sum(map(self._count_tokens(), texts)))
        started = time.monotonic()
        failed_with = ""
        try:
            vectors = async_to_sync(self.backend.embed_passages)(texts)
        except ProviderError as error:
            failed_with = error.code
            raise
        finally:
            record_usage(
                purpose="embed_passages",
                model=self.model,
                usage=usage,
                user_id=None,
                milliseconds=int((time.monotonic() - started) * 1000),
                failed_with=failed_with,
            )
        return self._checked(vectors, len(texts))

    def _count_tokens(self) -> Callable[[str], int]:
        """Nobody pays for a model of this machine: its exact count would take half the time
        that the product adds to embedding."""
        is_free = self.model.provider.kind in FREE_KINDS
        return estimate_tokens if is_free else self.backend.count_tokens

    def _checked(self, vectors: Vectors, count: int) -> Vectors:
        expected = (count, self.model.dimensions)
        if vectors.shape != expected:
            raise ProtocolError(
                f"The embedding model sent {vectors.shape} numbers instead of {expected}."
            )
        return vectors

    def _halve(self, groups: Sequence[list[Chunk]], error: ProviderError) -> None:
        if len(groups) == 1:
            self._refuse(groups[0], str(error))
            if self.refusals >= REFUSALS_IN_A_ROW:
                raise error
            return
        middle = len(groups) // 2
        self._embed_batch(groups[:middle])
        self._embed_batch(groups[middle:])

    def _refuse(self, group: Sequence[Chunk], reason: str) -> None:
        mark_failed([chunk.pk for chunk in group], self.model, reason)
        self.tally.failed += len(group)
        self.refusals += 1

    def _adapt(self, seconds: float, texts: int) -> None:
        """Make the next batch take about a second."""
        self.tally.seconds += seconds
        wanted = int(texts * SECONDS_A_BATCH / max(seconds, 0.001))
        self.batch_size = max(1, min(LARGEST_BATCH, wanted, self.batch_size * 2))

    def _write(self, chunks: Sequence[Chunk], vectors: dict[str, np.ndarray]) -> int:
        """Store vectors for chunks that still are what was sent; returns how many were."""
        if not chunks:
            return 0
        with transaction.atomic():
            alive = dict(
                Chunk.objects.select_for_update(no_key=True)
                .filter(pk__in=[chunk.pk for chunk in chunks])
                .order_by("pk")
                .values_list("pk", "embed_hash")
            )
            rows = [
                ChunkVector(
                    vault_id=self.vault_id,
                    chunk_id=chunk.pk,
                    embedding_model=self.model,
                    embed_hash=chunk.embed_hash,
                    fingerprint=self.space,
                    vector=vectors[chunk.embed_hash],
                )
                for chunk in chunks
                if alive.get(chunk.pk) == chunk.embed_hash
            ]
            # A new row and no change of the old one: whoever kept the vectors up to an id
            # (retrieval/near_passages.py) sees by its id that there is another.
            ChunkVector.objects.filter(
                embedding_model=self.model,
                vault_id=self.vault_id,
                chunk_id__in=[row.chunk_id for row in rows],
            ).delete()
            ChunkVector.objects.bulk_create(rows)
        return len(rows)

    def _vectors_of_equal_text(self, chunks: Sequence[Chunk]) -> dict[str, np.ndarray]:
        """Vectors that this model already made from the same text, in any vault."""
        rows = ChunkVector.objects.filter(
            embedding_model=self.model,
            fingerprint=self.space,
            embed_hash__in={chunk.embed_hash for chunk in chunks},
        )
        return dict(rows.order_by("embed_hash").values_list("embed_hash", "vector"))

    def _drop_other_spaces(self) -> None:
        """Forget vectors from before the model's prefix, revision or length was changed."""
        for table in (ChunkVector, NoteVector):
            rows = table.objects.filter(embedding_model=self.model, vault_id=self.vault_id)
            rows.exclude(fingerprint=self.space).delete()


def _fault_of(vector: np.ndarray) -> str:
    """Why a vector cannot be stored; empty when it can."""
    if not np.isfinite(vector).all():
        return "The embedding model sent numbers that are not finite."
    if not np.linalg.norm(vector) > 0:
        return "The embedding model sent a vector of zeros."
    return ""
