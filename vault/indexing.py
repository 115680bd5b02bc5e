"""What a note becomes in the tables: its row, its chunks, its links, its findings."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from django.db import connection

from vault.copying import copy_rows
from vault.core.chunking import CHUNKER_VERSION, embedded_text
from vault.core.language import text_config
from vault.core.lexical import made_tokens
from vault.core.names import lookup_keys
from vault.core.scrub import SCRUBBER_VERSION
from vault.core.types import ChunkDraft, ChunkLimits, FileState, Finding, ParsedNote
from vault.models import Chunk, Link, Note, ScrubFinding, Vault
from vault.reading import Reading, ReadingOptions

# Part of every note's indexed hash: raise it when what is stored is made differently.
INDEX_VERSION = 3

# Leaves room for the passage prefix and for a tokenizer that counts more than ours:
# 450 of the 512 tokens of the small e5 family.
USABLE_WINDOW = 0.88
LARGEST_CHUNK = 2000

_CHUNK_FIELDS = (
    "ordinal",
    "heading_path",
    "heading_text",
    "content",
    "made_tokens",
    "start",
    "end",
    "start_line",
    "end_line",
    "tokens",
    "is_code",
    "text_config",
)
# What a chunk does not have when it comes from the chunker.
_MADE_LATER = (
    "context",
    "summary",
    "context_made",
    "embed_hash",
    "embed_failed",
    "embed_failed_by",
    "embed_attempts",
)

_ALL_BUT_UPDATED = [
    field.name
    for field in Note._meta.concrete_fields
    if not field.primary_key and field.name != "updated"
]


def reading_options(vault: Vault) -> ReadingOptions:
    """How files of this vault are cut: its settings, within its embedding models' windows."""
    models = [m for m in (vault.embedding_model, vault.next_embedding_model) if m]
    window = min((model.max_tokens for model in models), default=512)
    maximum = max(50, min(LARGEST_CHUNK, int(window * USABLE_WINDOW)))
    target = min(vault.chunk_tokens, maximum)
    limits = ChunkLimits(
        target=target,
        overlap=min(vault.chunk_overlap, target // 2),
        minimum=min(vault.chunk_minimum, target // 2),
        maximum=maximum,
    )
    return ReadingOptions(limits=limits, scrub_emails=vault.scrub_emails)


def indexed_hash(content_hash: str, path: str, options: ReadingOptions) -> str:
    """Changes whenever the chunks of a file would be made differently."""
    limits = options.limits
    parts = (
        content_hash,
        path,
        CHUNKER_VERSION,
        INDEX_VERSION,
        SCRUBBER_VERSION,
        limits.target,
        limits.overlap,
        limits.minimum,
        limits.maximum,
        options.scrub_emails,
    )
    return _digest("\0".join(map(str, parts)))


def fill_note(note: Note, state: FileState, reading: Reading) -> None:
    """Set every column of `note` that comes from its file. Does not save."""
    note.path = state.path
    note.size = state.size
    note.content_hash = state.content_hash
    note.file_modified = state.modified
    note.links_due = True
    note.warnings = [{"reason": reason, "line": line} for reason, line in reading.warnings]
    if reading.note is None:
        _empty_note(note, reading.refusal)
        return
    note.properties = _json(reading.note.properties)
    fill_body(note, reading.note)
    note.status = Note.Status.INDEXED
    note.reason = ""
    note.attempts = 0


def fill_body(note: Note, parsed: ParsedNote) -> None:
    """Set what comes from the text of `note`, whose path is set. Does not save."""
    note.title = storable(parsed.title)
    note.body = parsed.body
    note.body_line = parsed.body_line
    note.kind = parsed.kind.value
    note.language = parsed.language
    note.tags = [storable(tag) for tag in parsed.tags]
    note.aliases = [storable(alias) for alias in parsed.aliases]
    note.lookup_keys = lookup_keys(title=note.title, aliases=note.aliases, path=note.path)
    note.headings = [
        {"level": h.level, "text": h.text, "start": h.start, "line": h.line}
        for h in parsed.headings
    ]


def write_note(note: Note, reading: Reading, *, text_changed: bool) -> None:
    """Save a known, filled note with its chunks, links and findings. Call in a transaction.

    `updated` moves only when the text did.
    """
    if text_changed:
        note.save()
    else:
        note.save(update_fields=_ALL_BUT_UPDATED)
    write_chunks(note, reading.chunks, note.aliases)
    Link.objects.filter(source=note).delete()
    Link.objects.bulk_create(_link_rows(note, reading.note))
    ScrubFinding.objects.filter(note=note).delete()
    ScrubFinding.objects.bulk_create(_finding_rows(note, reading))


def write_text(
    note: Note, parsed: ParsedNote, chunks: Sequence[ChunkDraft], found: Sequence[Finding]
) -> None:
    """Save a known note whose stored text was changed here; `found` adds to its findings."""
    note.links_due = True
    note.save()
    write_chunks(note, chunks, note.aliases)
    Link.objects.filter(source=note).delete()
    Link.objects.bulk_create(_link_rows(note, parsed))
    ScrubFinding.objects.bulk_create(
        ScrubFinding(vault_id=note.vault_id, note=note, kind=finding.kind, line=finding.line)
        for finding in found
    )


def write_new_notes(notes: Sequence[tuple[Note, Reading]]) -> None:
    """Insert filled notes with all that is theirs: five statements for a whole batch."""
    copy_rows(Note, [note for note, _reading in notes], with_ids=True)
    copy_rows(
        Chunk,
        [
            _chunk_row(note, made, note.aliases)
            for note, reading in notes
            for made in reading.chunks
        ],
    )
    copy_rows(Link, [row for note, reading in notes for row in _link_rows(note, reading.note)])
    copy_rows(
        ScrubFinding, [row for note, reading in notes for row in _finding_rows(note, reading)]
    )


def write_chunks(note: Note, drafts: Sequence[ChunkDraft], aliases: Sequence[str]) -> None:
    """Make the stored chunks of `note` those of `drafts`.

    A chunk whose own text did not change stays the same row and keeps its context line and
    its vectors; one that was rewritten in its place stays the same row, loses its context
    line and becomes stale.
    """
    wanted = [_chunk_row(note, draft, aliases) for draft in drafts]
    stored = list(Chunk.objects.filter(note=note).defer("tsv"))
    pairs = _pair(stored, wanted)
    kept = {old.pk for old, _new in pairs}
    changed = [_updated(old, new) for old, new in pairs if _differs(old, new)]
    Chunk.objects.filter(pk__in=[old.pk for old in stored if old.pk not in kept]).delete()
    fields = [*_CHUNK_FIELDS, *_MADE_LATER]
    Chunk.objects.bulk_update(changed, fields, batch_size=200)
    matched = {id(new) for _old, new in pairs}
    Chunk.objects.bulk_create([new for new in wanted if id(new) not in matched], batch_size=200)


def _chunk_row(note: Note, draft: ChunkDraft, aliases: Sequence[str]) -> Chunk:
    heading_text = "\n".join((*draft.heading_path, *aliases))
    chunk = Chunk(
        vault_id=note.vault_id,
        note=note,
        ordinal=draft.ordinal,
        heading_path=list(draft.heading_path),
        heading_text=heading_text,
        content=draft.content,
        made_tokens=made_tokens(f"{heading_text}\n{draft.content}"),
        start=draft.start,
        end=draft.end,
        start_line=draft.start_line,
        end_line=draft.end_line,
        tokens=draft.tokens,
        is_code=draft.is_code,
        text_config=_available_config(text_config(draft.content)),
    )
    chunk.renew_vector_hash()
    return chunk


def _pair(stored: Iterable[Chunk], wanted: Iterable[Chunk]) -> list[tuple[Chunk, Chunk]]:
    """Which stored chunk becomes which: by its own text first, then by ordinal."""
    by_text: dict[str, list[Chunk]] = {}
    for old in sorted(stored, key=lambda chunk: -chunk.ordinal):
        by_text.setdefault(_own_text(old), []).append(old)
    pairs: list[tuple[Chunk, Chunk]] = []
    rest: list[Chunk] = []
    for new in wanted:
        same = by_text.get(_own_text(new))
        if same:
            pairs.append((same.pop(), new))
        else:
            rest.append(new)
    by_ordinal = {old.ordinal: old for left in by_text.values() for old in left}
    pairs += [(by_ordinal[new.ordinal], new) for new in rest if new.ordinal in by_ordinal]
    return pairs


def _differs(old: Chunk, new: Chunk) -> bool:
    return any(getattr(old, name) != getattr(new, name) for name in _CHUNK_FIELDS)


def _updated(old: Chunk, new: Chunk) -> Chunk:
    if _own_text(old) != _own_text(new):
        old.context, old.summary, old.context_made = "", "", ""
    for name in _CHUNK_FIELDS:
        setattr(old, name, getattr(new, name))
    old.renew_vector_hash()
    return old


def _own_text(chunk: Chunk) -> str:
    """What a chunk says itself, without what was added from elsewhere."""
    return embedded_text(chunk.heading_path, "", chunk.content)


def _link_rows(note: Note, parsed: ParsedNote | None) -> list[Link]:
    return [
        Link(
            vault_id=note.vault_id,
            source=note,
            raw_target=link.target,
            anchor=link.anchor,
            alias=link.alias,
            is_embed=link.is_embed,
            start=link.start,
            line=link.line,
        )
        for link in (parsed.links if parsed else ())
    ]


def _finding_rows(note: Note, reading: Reading) -> list[ScrubFinding]:
    return [
        ScrubFinding(vault_id=note.vault_id, note=note, kind=finding.kind, line=finding.line)
        for finding in reading.findings
    ]


def _empty_note(note: Note, reason: str) -> None:
    """A file that is listed, with the reason why nothing of it is found."""
    note.title = note.path.rpartition("/")[2]
    note.body, note.body_line, note.language = "", 1, ""
    note.properties, note.headings = {}, []
    note.tags, note.aliases, note.lookup_keys = [], [], []
    note.status, note.reason = Note.Status.EXCLUDED, reason


@lru_cache(maxsize=1)
def _configs() -> frozenset[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT cfgname FROM pg_ts_config")
        return frozenset(name for (name,) in cursor.fetchall())


def _available_config(name: str) -> str:
    """`name` when this server has it: older ones lack some languages."""
    return name if name in _configs() else "simple"


def storable(text: str) -> str:
    """`text` without what PostgreSQL refuses: NUL and lone surrogates (YAML can write both)."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _json(value: Any) -> Any:
    """What a JSON column takes: no dates, no NaN, no NUL."""
    if isinstance(value, dict):
        return {storable(str(key)): _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_json(item) for item in value]
    if isinstance(value, bool | int | None):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return storable(str(value))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
