"""Everything that the page of a note shows, with the rights of who looks at it."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from django.conf import settings
from django.db.models import QuerySet
from django.utils.module_loading import import_string

from vault import access
from vault.core.embeds import embedded_span
from vault.core.file_kinds import PICTURE_SUFFIXES, is_picture
from vault.core.graph import Line, Spot, lay_out
from vault.core.rendering import (
    OutlineEntry,
    RenderedNote,
    Resolved,
    ShowEmbedded,
    render_code_note,
    render_note,
    render_pages,
    render_part,
    render_picture,
    render_plain,
)
from vault.core.successors import successor_of
from vault.core.types import NoteKind, Scope
from vault.models import Chunk, Link, Note, ScrubFinding
from vault.pictures import picture_finder
from vault.properties import Property, properties_of
from vault.related import related_notes

# Longer notes are shown as they stand in the file: a page must not parse for seconds.
LONGEST_PARSED = 200_000
MOST_LINKED = 50
MOST_GISTS = 60
# Embedded parts on one page, one inside the other, and characters of each.
MOST_EMBEDDED = 40
DEEPEST_EMBEDDED = 3
LONGEST_EMBEDDED = 20_000


class Addresses(Protocol):
    """Where things are found; the edges know."""

    def note(self, slug: str, path: str) -> str: ...

    def picture(self, slug: str, path: str) -> str: ...

    def tag(self, slug: str, tag: str) -> str: ...


@dataclass(frozen=True, slots=True)
class CitedText:
    """A passage as it was when an answer cited it. `start` is its place in the note then."""

    text: str
    start: int
    note_hash: str


# (user, source id, note id) -> the passage that this user's answer cited, if any.
FindCited = Callable[[access.User, int, int], CitedText | None]


@dataclass(frozen=True, slots=True)
class Cited:
    """The passage to show. `state`: "same" (the note is as it was), "kept" (the note
    changed, the passage did not), "gone" (`then` no longer stands in the note; the span is
    what says most of it now, if anything does) or "unknown" (nobody remembers what was cited)."""

    span: tuple[int, int] | None
    state: str = "unknown"
    then: str = ""


@dataclass(frozen=True, slots=True)
class Near:
    """A picture of the links around a note: its lines, and each spot with its note."""

    lines: tuple[Line, ...]
    spots: tuple[tuple[Spot, Note], ...]


@dataclass(frozen=True, slots=True)
class Gist:
    """A model's line about a passage, with the heading that the passage stands under."""

    text: str
    heading: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class NotePage:
    """A note with what surrounds it. Every note listed may be read by the reader."""

    note: Note
    rendered: RenderedNote
    properties: tuple[Property, ...]
    cited: Cited | None
    backlinks: tuple[Note, ...]
    more_backlinks: int
    more_outgoing: int
    outgoing: tuple[Note, ...]
    missing_links: tuple[str, ...]
    related: tuple[Note, ...]
    near: Near | None
    findings: int
    gists: tuple[Gist, ...]
    previous: Note | None
    following: Note | None

    @property
    def outline(self) -> list[tuple[OutlineEntry, str]]:
        """Headings, each with what the first passage under it says, where that is known."""
        said: dict[str, str] = {}
        for gist in self.gists:
            said.setdefault(gist.heading, gist.text)
        return [(entry, said.get(entry.text, "")) for entry in self.rendered.outline]

    @property
    def then_html(self) -> str:
        """The cited passage as it was, where the note no longer has it."""
        return render_note(self.cited.then).html if self.cited else ""


def note_page(
    user: access.User,
    note: Note,
    *,
    addresses: Addresses,
    span: tuple[int, int] | None = None,
    source_id: int | None = None,
) -> NotePage:
    """Read and render what the page of `note` shows to `user`, who may read it.

    `span` are characters of the body to mark; `source_id` names the answer's source that
    it was cited from, so that a changed note is noticed.
    """
    scope = access.scope_for(user)
    readable = access.notes_in(scope).select_related("vault").defer("body")
    links = list(Link.objects.filter(source=note).order_by("start"))
    targets = {row.pk: row for row in readable.filter(pk__in={link.target_id for link in links})}
    cited = _cited(user, note, span, source_id) if span else None
    highlight = cited.span if cited else None
    backlinks = readable.filter(links__target=note).exclude(pk=note.pk).distinct()
    related = related_notes(note, scope=scope)
    linking = tuple(backlinks.order_by("title", "path")[:MOST_LINKED])
    others = tuple(row for row in targets.values() if row.pk != note.pk)
    linked = others[:MOST_LINKED]
    is_more = len(linking) == MOST_LINKED
    return NotePage(
        note=note,
        rendered=_render(note, _Linked(readable, scope, addresses), (links, targets), highlight),
        properties=tuple(properties_of(note, _known(links, targets), addresses)),
        cited=cited,
        backlinks=linking,
        more_backlinks=backlinks.count() - len(linking) if is_more else 0,
        more_outgoing=len(others) - len(linked),
        outgoing=linked,
        missing_links=_missing(links),
        related=tuple(row for row, _ in related),
        near=_near(note, (*linked, *linking)),
        findings=ScrubFinding.objects.filter(note=note).count(),
        gists=_gists(note),
        previous=_beside(readable, note, following=False),
        following=_beside(readable, note, following=True),
    )


def _gists(note: Note) -> tuple[Gist, ...]:
    chunks = Chunk.objects.filter(note=note).exclude(summary="").order_by("ordinal")
    rows = chunks.values_list("summary", "heading_path", "start", "end")[:MOST_GISTS]
    return tuple(
        Gist(summary, path[-1] if path else "", start, end) for summary, path, start, end in rows
    )


def _near(note: Note, around: Sequence[Note]) -> Near | None:
    """The picture of the links between `note` and these, and among them; None without any."""
    notes = {row.pk: row for row in around}
    if not notes:
        return None
    known = {**notes, note.pk: note}
    links = Link.objects.filter(source_id__in=known, target_id__in=known)
    pairs = {(source, target) for source, target in links.values_list("source_id", "target_id")}
    titles = [(row.pk, row.title) for row in notes.values()]
    picture = lay_out((note.pk, note.title), titles, pairs)
    return Near(picture.lines, tuple((spot, known[spot.note_id]) for spot in picture.spots))


def _cited(user: access.User, note: Note, span: tuple[int, int], source_id: int | None) -> Cited:
    then = _text_then(user, source_id, note.pk) if source_id is not None else None
    if then is None:
        return Cited(span)
    if then.note_hash == note.content_hash:
        return Cited(span, "same")
    start, end = span[0] - then.start, span[1] - then.start
    quote = then.text[max(0, start) : end].strip() or then.text.strip()
    if note.body[slice(*span)].strip() == quote:
        return Cited(span, "kept")
    place = note.body.find(quote)
    if place >= 0:
        return Cited((place, place + len(quote)), "kept")
    return Cited(successor_of(quote, note.body), "gone", quote)


def _text_then(user: access.User, source_id: int, note_id: int) -> CitedText | None:
    """What chat remembers of the passage; None where chat is off."""
    if not settings.CITED_TEXT:
        return None
    find: FindCited = import_string(settings.CITED_TEXT)
    return find(user, source_id, note_id)


def _render(
    note: Note,
    linked: _Linked,
    out: tuple[Sequence[Link], dict[int, Note]],
    highlight: tuple[int, int] | None,
) -> RenderedNote:
    if note.kind == NoteKind.ATTACHMENT and note.body:
        return render_pages(note.body, headings=note.headings, highlight=highlight)
    if note.kind == NoteKind.ATTACHMENT and is_picture(note.path):
        url = linked.addresses.picture(note.vault.slug, note.path)
        return render_picture(url, name=note.title)
    if len(note.body) > LONGEST_PARSED:
        return render_plain(note.body, highlight=highlight)
    if note.kind == NoteKind.CODE:
        return render_code_note(note.body, language=note.language, highlight=highlight)
    return render_note(
        note.body,
        resolve=linked.resolver(note, *out),
        highlight=highlight,
        title=note.title,
        tag_url=partial(linked.addresses.tag, note.vault.slug),
        embedded=linked.shower(*out, above=frozenset({note.pk})),
    )


@dataclass(slots=True)
class _Linked:
    """Shows what a page embeds of the notes that its reader may read."""

    readable: QuerySet[Note]
    scope: Scope
    addresses: Addresses
    left: int = field(default=MOST_EMBEDDED)

    def resolver(
        self, note: Note, links: Sequence[Link], targets: dict[int, Note]
    ) -> Callable[..., Resolved | None]:
        """Looks a link up among those that were resolved when the note was indexed."""
        known = _known(links, targets)
        find_picture = picture_finder(note.vault, self.scope)

        def resolve(target: str, *, is_embed: bool) -> Resolved | None:
            if is_embed and target.lower().endswith(PICTURE_SUFFIXES):
                path = find_picture(target, note.path)
                url = self.addresses.picture(note.vault.slug, path) if path else ""
                return Resolved(url, is_image=True) if path else None
            found = known.get(_key(target))
            if found is None:
                return None
            return Resolved(self.addresses.note(found.vault.slug, found.path), found.title)

        return resolve

    def shower(
        self, links: Sequence[Link], targets: dict[int, Note], *, above: frozenset[int]
    ) -> ShowEmbedded:
        """Shows the embeds of a note with these links; `above` are notes being shown."""
        known = _known(links, targets)

        def show(target: str, anchor: str) -> str:
            found = known.get(_key(target))
            is_too_much = self.left <= 0 or len(above) > DEEPEST_EMBEDDED
            if found is None or is_picture(found.path) or is_too_much or found.pk in above:
                return ""
            self.left -= 1
            span = embedded_span(found.body, found.headings, anchor)
            return self._part(found, span, above) if span else ""

        return show

    def _part(self, note: Note, span: tuple[int, int], above: frozenset[int]) -> str:
        part = note.body[slice(*span)][:LONGEST_EMBEDDED]
        if note.kind == NoteKind.CODE:
            return render_code_note(part, language=note.language).html
        if note.kind == NoteKind.ATTACHMENT:
            return render_pages(part, headings=_within(note.headings, *span)).html
        links = list(Link.objects.filter(source=note))
        rows = self.readable.filter(pk__in={link.target_id for link in links})
        targets = {row.pk: row for row in rows}
        return render_part(
            part,
            resolve=self.resolver(note, links, targets),
            tag_url=partial(self.addresses.tag, note.vault.slug),
            embedded=self.shower(links, targets, above=above | {note.pk}),
        )


def _within(headings: Sequence[Mapping[str, Any]], start: int, end: int) -> list[dict[str, Any]]:
    """The headings of a part of a body, counted from its start."""
    inside = [row for row in headings if start <= int(row["start"]) < end]
    return [{**row, "start": int(row["start"]) - start} for row in inside]


def _known(links: Sequence[Link], targets: dict[int, Note]) -> dict[str, Note]:
    """Notes by what links call them."""
    return {
        _key(link.raw_target): targets[link.target_id]
        for link in links
        if link.target_id in targets
    }


def _key(target: str) -> str:
    return unicodedata.normalize("NFC", target).strip().casefold()


def _missing(links: Sequence[Link]) -> tuple[str, ...]:
    names = (
        link.raw_target
        for link in links
        if link.target_id is None and not link.raw_target.lower().endswith(PICTURE_SUFFIXES)
    )
    return tuple(dict.fromkeys(names))[:MOST_LINKED]


def _beside(readable: QuerySet[Note], note: Note, *, following: bool) -> Note | None:
    """The next or previous of the readable notes of its vault, by path."""
    notes = readable.filter(vault_id=note.vault_id).exclude(status=Note.Status.EXCLUDED)
    beside = notes.filter(path__gt=note.path) if following else notes.filter(path__lt=note.path)
    return beside.order_by("path" if following else "-path").defer("body").first()
