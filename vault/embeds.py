"""Text that a note embeds, where search finds it through the embedding note.

Keyword search sees all of it; a vector what fits beside the chunk's own text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from django.db.models import F

from vault.core.embeds import embedded_span, excerpt_end, shown_text
from vault.core.lexical import made_tokens
from vault.core.tokens import estimate_tokens
from vault.core.types import NoteKind
from vault.models import Chunk, Link, Note

# An embed in an embed in an embed is shown; more is nobody's reading.
DEEPEST = 3
# Characters of one embed, and of all of them in one chunk.
LONGEST_EMBED = 20_000
MOST_CHARACTERS = 60_000
BATCH = 200
# `![[plan.png|300]]` says how wide, not what.
_SIZE = re.compile(r"\d+(?:\s*x\s*\d+)?")
_CHANGED = (
    "embedded_text",
    "embedded_shown",
    "made_tokens",
    "embed_hash",
    "embed_failed",
    "embed_failed_by",
    "embed_attempts",
)


@dataclass(frozen=True, slots=True)
class Embed:
    """`![[target#anchor]]` at `start` in the body of a note."""

    source_id: int
    target_id: int
    anchor: str
    start: int


def refresh_embeds(
    vault_id: int, *, most_tokens: int, changed: Collection[int] | None = None
) -> list[int]:
    """Bring the embedded text of a vault's chunks up to date; ids of the notes it changed.
    Call in a transaction.

    `most_tokens` is how many the text behind one vector may have. `changed` limits it to
    what shows these notes: enough when no link leads elsewhere now.
    """
    by_source = _embeds_of(vault_id)
    captions = _captions_of(vault_id)
    stale = Chunk.objects.filter(vault_id=vault_id).exclude(embedded_text="")
    holding = set(by_source) | set(stale.values_list("note_id", flat=True).distinct())
    if changed is not None:
        holding &= _showing(changed, by_source)
    pictures = Note.objects.filter(vault_id=vault_id, kind=NoteKind.ATTACHMENT, body="")
    wanted = sorted(
        holding
        | set(captions)
        | set(pictures.exclude(chunks__embedded_text="").values_list("pk", flat=True))
    )
    touched: list[int] = []
    for begin in range(0, len(wanted), BATCH):
        texts = _Texts(by_source, captions)
        touched += _refresh(wanted[begin : begin + BATCH], texts, most_tokens)
    return touched


def _embeds_of(vault_id: int) -> dict[int, list[Embed]]:
    links = Link.objects.filter(vault_id=vault_id, is_embed=True, target__isnull=False)
    links = links.exclude(target_id=F("source_id")).order_by("source_id", "start")
    by_source: dict[int, list[Embed]] = defaultdict(list)
    for row in links.values_list("source_id", "target_id", "anchor", "start"):
        by_source[row[0]].append(Embed(*row))
    return dict(by_source)


def _showing(changed: Collection[int], by_source: dict[int, list[Embed]]) -> set[int]:
    """These notes, and those that show them, at most DEEPEST embeds away."""
    by_target: dict[int, set[int]] = defaultdict(set)
    for source, embeds in by_source.items():
        for embed in embeds:
            by_target[embed.target_id].add(source)
    reached = set(changed)
    edge = set(changed)
    for _ in range(DEEPEST):
        edge = {source for note in edge for source in by_target.get(note, ())} - reached
        reached |= edge
    return reached


def _captions_of(vault_id: int) -> dict[int, list[str]]:
    """What notes say of the pictures they show, by the picture's note."""
    links = Link.objects.filter(vault_id=vault_id, is_embed=True)
    links = links.filter(target__kind=NoteKind.ATTACHMENT, target__body="").exclude(alias="")
    captions: dict[int, list[str]] = defaultdict(list)
    for target, alias in links.order_by("target_id", "alias").values_list("target_id", "alias"):
        text = alias.strip()
        if not _SIZE.fullmatch(text) and text not in captions[target]:
            captions[target].append(text)
    return {target: texts for target, texts in captions.items() if texts}


def _refresh(note_ids: list[int], texts: _Texts, most_tokens: int) -> list[int]:
    chunks = Chunk.objects.filter(note_id__in=note_ids).order_by("note_id", "ordinal")
    columns = ("note_id", "start", "end", "embedded_text")
    shown: dict[int, str] = {}
    for chunk in chunks.only(*columns):
        text = texts.shown_in(chunk)
        if text or chunk.embedded_text:
            shown[chunk.pk] = text
    # The hash is made of the context line as well, which somebody may write just now.
    held = Chunk.objects.select_for_update(no_key=True).filter(pk__in=shown).order_by("pk")
    rows = held.defer("tsv")
    changed = [chunk for chunk in rows if _show(chunk, shown[chunk.pk], most_tokens)]
    Chunk.objects.bulk_update(changed, _CHANGED, batch_size=100)
    return list(dict.fromkeys(chunk.note_id for chunk in changed))


def _show(chunk: Chunk, text: str, most_tokens: int) -> bool:
    """Let a chunk be found by an embedded text; whether that changes it."""
    room = most_tokens - chunk.tokens - estimate_tokens(chunk.context)
    shown = excerpt_end(text, most_tokens=room)
    made = made_tokens("\n".join(filter(None, (chunk.heading_text, chunk.content, text))))
    before = (chunk.embedded_text, chunk.embedded_shown, chunk.made_tokens)
    chunk.embedded_text, chunk.embedded_shown, chunk.made_tokens = text, shown, made
    return chunk.renew_vector_hash() or before != (text, shown, made)


@dataclass(slots=True)
class _Texts:
    """Reads what embeds show; each note once."""

    by_source: dict[int, list[Embed]]
    captions: dict[int, list[str]]
    _notes: dict[int, Note | None] = field(default_factory=dict)

    def shown_in(self, chunk: Chunk) -> str:
        """What the embeds of a chunk show; of a picture, what notes say of it."""
        embeds = self.by_source.get(chunk.note_id, ())
        inside = [embed for embed in embeds if chunk.start <= embed.start < chunk.end]
        parts = [*(self.of(embed) for embed in inside), *self.captions.get(chunk.note_id, ())]
        return "\n\n".join(filter(None, parts))[:MOST_CHARACTERS]

    def of(self, embed: Embed, above: frozenset[int] = frozenset()) -> str:
        """What an embed shows, with what is embedded in that; nothing twice in a loop."""
        above |= {embed.source_id}
        note = self._note(embed.target_id)
        if note is None or note.pk in above or len(above) > DEEPEST:
            return ""
        span = embedded_span(note.body, note.headings, embed.anchor)
        if span is None:
            return ""
        start, end = span
        parts = [shown_text(note.body[start:end][:LONGEST_EMBED])]
        for inner in self.by_source.get(note.pk, ()):
            if start <= inner.start < end and sum(map(len, parts)) < LONGEST_EMBED:
                parts.append(self.of(inner, above))
        return "\n\n".join(part for part in parts if part)

    def _note(self, note_id: int) -> Note | None:
        if note_id not in self._notes:
            notes = Note.objects.only("body", "headings")
            self._notes[note_id] = notes.filter(pk=note_id).first()
        return self._notes[note_id]
