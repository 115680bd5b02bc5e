"""Context lines of a vault's notes: which are due, asked for, and written.

What is to be done is read from the tables: a chunk is due while its line was not written
under the vault's present settings. A note without lines is searchable all the same.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from providers.core.errors import BadRequest, CutOff, ProtocolError, ProviderError, Silent
from providers.core.protocols import ChatProvider
from providers.core.replies import WholeReply
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    Usage,
)
from providers.models import ChatModel, UsageRecord
from providers.registry import chat_provider
from providers.usage import arecord_usage
from vault.context_writing import WrittenLines, note_failure, write_lines
from vault.core.context_lines import (
    Call,
    Lines,
    Passage,
    plan_calls,
    read_lines,
    reply_tokens,
    settings_key,
    system_prompt,
    user_prompt,
)
from vault.locks import Work, only_one
from vault.models import Chunk, ContextFailure, Enrichment, Note

# Notes asked about at once.
AT_ONCE = 4
# A reply that takes longer is given up; the note is tried again later.
CALL_SECONDS = 90.0
# A note that failed so often waits until its text or the settings change, or somebody asks.
MOST_ATTEMPTS = 3
# Faults of one note's call; any other fault is the provider's and ends the run.
_OF_THE_NOTE = (BadRequest, CutOff, ProtocolError, Silent)

ProviderOf = Callable[[ChatModel, int | None], ChatProvider]
OnNote = Callable[["EnrichProgress"], None]


@dataclass(frozen=True, slots=True)
class EnrichProgress:
    """What a run did: notes asked about, lines written, notes some lines of which failed."""

    notes: int = 0
    lines: int = 0
    failed: int = 0
    left: int = 0
    per_second: float = 0.0


@dataclass(frozen=True, slots=True)
class EnrichSettings:
    """Under which settings the lines of a vault are written now."""

    vault_id: int
    model: ChatModel
    summarize: bool
    user_id: int | None

    @property
    def key(self) -> str:
        """What chunks are marked with whose lines were written under these settings."""
        return _key(self.model, summarize=self.summarize)

    @property
    def good_keys(self) -> tuple[str, ...]:
        """Lines that came with a summary are as good when none is wanted."""
        return tuple({self.key, _key(self.model, summarize=True)})


def enrich_settings(vault_id: int) -> EnrichSettings | None:
    """The settings of a vault; None while context lines are off or have no model."""
    return next(iter(enrich_settings_of([vault_id])), None)


def enrich_settings_of(vault_ids: Collection[int]) -> list[EnrichSettings]:
    """The settings of those vaults whose context lines are on and have a model."""
    rows = Enrichment.objects.select_related("context_model__provider").filter(
        vault_id__in=vault_ids, contextualize=True, context_model__isnull=False
    )
    return [
        EnrichSettings(row.vault_id, row.context_model, row.summarize, row.switched_on_by_id)
        for row in rows
        if row.context_model is not None
    ]


def switch_on(vault_id: int, model: ChatModel, *, summarize: bool, user_id: int | None) -> None:
    """Let `model` write the lines of a vault; the calls count as this user's."""
    chosen = {"contextualize": True, "summarize": summarize, "context_model": model}
    Enrichment.objects.update_or_create(
        vault_id=vault_id, defaults={**chosen, "switched_on_by_id": user_id}
    )


def switch_off(vault_id: int) -> None:
    """Write no more lines. Those that exist are taken away by `clear_contexts`."""
    Enrichment.objects.filter(vault_id=vault_id).update(contextualize=False)


def due_chunks(settings: EnrichSettings) -> QuerySet[Chunk]:
    """Chunks without a line under these settings, also of notes that failed."""
    chunks = Chunk.objects.filter(vault_id=settings.vault_id, note__status=Note.Status.INDEXED)
    return chunks.exclude(content="").exclude(context_made__in=settings.good_keys)


def due_notes(settings: EnrichSettings) -> QuerySet[Note]:
    """Notes to ask about now."""
    due = due_chunks(settings).filter(note=OuterRef("pk"))
    put_off = ContextFailure.objects.filter(
        Q(attempts__gte=MOST_ATTEMPTS) | Q(retry_after__gt=Now()),
        note=OuterRef("pk"),
        content_hash=OuterRef("content_hash"),
        made_under=settings.key,
    )
    return Note.objects.filter(Exists(due), ~Exists(put_off), vault_id=settings.vault_id)


def has_due(vault_id: int) -> bool:
    """Whether lines are to be written, or to be taken away because they are off."""
    settings = enrich_settings(vault_id)
    if settings is not None:
        return due_notes(settings).exists()
    is_off = not Enrichment.objects.filter(vault_id=vault_id, contextualize=True).exists()
    return is_off and Chunk.objects.filter(vault_id=vault_id).exclude(context_made="").exists()


def failed_notes(settings: EnrichSettings) -> QuerySet[ContextFailure]:
    """Why notes have no lines, as they are now."""
    return ContextFailure.objects.filter(
        note__vault_id=settings.vault_id,
        made_under=settings.key,
        content_hash=F("note__content_hash"),
    )


def retry_contexts(vault_id: int) -> int:
    """Forget which notes failed, so that they are asked about again."""
    return ContextFailure.objects.filter(note__vault_id=vault_id).delete()[0]


def enrich_pending(
    vault_id: int,
    *,
    most_seconds: float,
    on_note: OnNote | None = None,
    provider_of: ProviderOf | None = None,
) -> EnrichProgress:
    """Write lines of due notes for about `most_seconds`; returns what was done.

    Raises ProviderError when the provider, not a note, is the trouble, and Busy when
    another process does this.
    """
    settings = enrich_settings(vault_id)
    if settings is None:
        return EnrichProgress()
    with only_one(Work.ENRICH, vault_id):
        return _Run(settings, provider_of or _provider).go(most_seconds, on_note)


def clear_contexts(vault_id: int, *, most: int = 500) -> int:
    """Take the lines away where they are switched off; returns how many it was.

    Call again while it is not 0. Their chunks are embedded anew, as they were before.
    """
    if Enrichment.objects.filter(vault_id=vault_id, contextualize=True).exists():
        return 0
    with only_one(Work.ENRICH, vault_id, wait=1.0), transaction.atomic():
        rows = Chunk.objects.select_for_update().filter(vault_id=vault_id)
        chunks = list(rows.exclude(context_made="").order_by("pk").defer("tsv")[:most])
        for chunk in chunks:
            chunk.context, chunk.summary, chunk.context_made = "", "", ""
            chunk.renew_vector_hash()
        write_lines(chunks)
    if not chunks:
        retry_contexts(vault_id)
    return len(chunks)


@dataclass(slots=True)
class _Asked:
    """A note with its chunks as they were when the model was asked, and what came back."""

    note: Note
    chunks: list[Chunk]
    wanted: set[int]
    lines: dict[int, Lines] = field(default_factory=dict)
    error: ProviderError | None = None


class _Run:
    """One go at the due notes of a vault."""

    def __init__(self, settings: EnrichSettings, provider_of: ProviderOf) -> None:
        self.settings, self.provider_of = settings, provider_of
        self.notes = self.lines = self.failed = 0

    def go(self, most_seconds: float, on_note: OnNote | None) -> EnrichProgress:
        started = time.monotonic()
        while time.monotonic() - started < most_seconds:
            notes = list(due_notes(self.settings).order_by("pk").defer("body")[:AT_ONCE])
            if not notes:
                break
            asked = [self._prepared(note) for note in notes]
            async_to_sync(self._ask_all)(asked)
            trouble = [error for each in asked if (error := self._keep(each))]
            if trouble:
                raise trouble[0]
            if on_note is not None:
                on_note(self._progress(started))
        return self._progress(started)

    def _progress(self, started: float) -> EnrichProgress:
        left = due_notes(self.settings).count()
        rate = self.notes / max(time.monotonic() - started, 0.001)
        return EnrichProgress(self.notes, self.lines, self.failed, left, rate)

    def _prepared(self, note: Note) -> _Asked:
        chunks = list(Chunk.objects.filter(note=note).order_by("ordinal").defer("tsv"))
        good = self.settings.good_keys
        wanted = {c.ordinal + 1 for c in chunks if c.content and c.context_made not in good}
        return _Asked(note, chunks, wanted)

    async def _ask_all(self, asked: Sequence[_Asked]) -> None:
        await asyncio.gather(*(self._ask_about(each) for each in asked))

    async def _ask_about(self, asked: _Asked) -> None:
        """Fill in what the model says about a note, or why it did not."""
        model = self.settings.model
        summarize = self.settings.summarize
        calls = plan_calls(
            passages_of(asked.chunks),
            asked.wanted,
            context_window=model.context_window,
            most_reply_tokens=min(model.max_output_tokens, model.context_window // 2),
            summarize=summarize,
        )
        for call in calls:
            try:
                reply = await self._ask(asked.note.title, call)
            except ProviderError as error:
                asked.error = error
                return
            asked.lines |= read_lines(reply, call, summarize=summarize)

    async def _ask(self, title: str, call: Call) -> str:
        """The model's whole reply. Raises ProviderError; the call is recorded in any case."""
        model, summarize = self.settings.model, self.settings.summarize
        request = ChatRequest(
            model=model.name,
            system=system_prompt(summarize=summarize),
            messages=(ChatMessage("user", user_prompt(title, call)),),
            max_output_tokens=reply_tokens(len(call.wanted), summarize=summarize),
            context_window=model.context_window,
        )
        started = time.monotonic()
        reply, failure = WholeReply(), ""
        try:
            provider = self.provider_of(model, self.settings.user_id)
            return await reply.read(provider, request, seconds=CALL_SECONDS)
        except ProviderError as error:
            failure = error.code
            raise
        except TimeoutError as error:
            failure = "silent"
            raise Silent(f"No whole reply within {CALL_SECONDS:.0f} seconds.") from error
        finally:
            await self._record(reply.usage, started, failure)

    async def _record(self, usage: Usage, started: float, failure: str) -> None:
        record = await arecord_usage(
            purpose=UsageRecord.Purpose.CONTEXT,
            model=self.settings.model,
            usage=usage,
            user_id=self.settings.user_id,
            milliseconds=round((time.monotonic() - started) * 1000),
            failed_with=failure,
        )
        await Enrichment.objects.filter(vault_id=self.settings.vault_id).aupdate(
            calls=F("calls") + 1,
            input_tokens=F("input_tokens") + record.input_tokens,
            output_tokens=F("output_tokens") + record.output_tokens,
            cost=F("cost") + record.cost,
        )

    def _keep(self, asked: _Asked) -> ProviderError | None:
        """Store what came back; the error when it is the provider's."""
        written = WrittenLines(asked.note, asked.chunks, asked.lines, key=self.settings.key)
        self.lines += written.store()
        if asked.error is not None and not isinstance(asked.error, _OF_THE_NOTE):
            return asked.error
        self.notes += 1
        missing = len(asked.wanted - set(asked.lines))
        if not missing:
            ContextFailure.objects.filter(note=asked.note).delete()
            return None
        self.failed += 1
        reason = str(asked.error) if asked.error else _missing(missing, len(asked.wanted))
        note_failure(asked.note, reason, key=self.settings.key)
        return None


def passages_of(chunks: Sequence[Chunk]) -> list[Passage]:
    """A note's chunks as the model sees them."""
    return [Passage(c.ordinal + 1, " > ".join(c.heading_path), c.content, c.tokens) for c in chunks]


def _missing(count: int, wanted: int) -> str:
    return f"The model wrote no line that could be used for {count} of {wanted} passages."


def _key(model: ChatModel, *, summarize: bool) -> str:
    return settings_key(f"{model.provider.slug}/{model.name}", summarize=summarize)


def _provider(model: ChatModel, user_id: int | None) -> ChatProvider:
    return chat_provider(model, user_id=user_id)
