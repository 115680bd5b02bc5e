"""The passages of an answer as cards: what was read, and how its note stands today."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import unquote

from django.db.models import Exists, F, OuterRef
from django.db.models.functions import StrIndex
from django.utils.translation import ngettext

from chat.models import Source
from retrieval.core.snippets import plain_text
from retrieval.presenters.results import CopyLink
from retrieval.presenters.words import outdated_words
from vault.models import Note

_COPIES_NAMED = 2
_LOOKED_AT = (
    "pk", "message_id", "number", "note_id", "note_hash", "current", "properties", "summary",
    "is_there",
)  # fmt: skip
# A note that was read anew is another row at the same place.
_AT_ITS_PLACE = Note.objects.filter(vault=OuterRef("vault"), path=OuterRef("path"))


@dataclass(frozen=True, slots=True)
class NoteNow:
    """What a reader of a kept passage should know of its note as it is today.

    `summary`: a line of a model's on the passage. `flag`: the note says that it holds no
    longer. `is_old`: the note does not have this text any more. `is_gone`: there is no such
    note any more.
    """

    summary: str = ""
    flag: str = ""
    is_old: bool = False
    is_gone: bool = False


@dataclass(frozen=True, slots=True)
class SourceCard:
    """A numbered passage. `where` is the vault and the heading path, in one line; `copies` are
    notes that said the same, `more_copies` those of them that stand behind a click."""

    number: int
    title: str
    where: str
    text: str
    start: int
    url: str
    day: date | None
    quote: str = ""
    now: NoteNow = NoteNow()
    copies: tuple[CopyLink, ...] = ()
    more_copies: tuple[CopyLink, ...] = ()

    @property
    def also_in(self) -> str:
        """Where else it stands, in words: the first few by name."""
        named, left = ", ".join(copy.place for copy in self.copies), len(self.more_copies)
        if not left:
            return named
        more = ngettext("%(named)s and %(left)d more", "%(named)s and %(left)d more", left)
        return more % {"named": named, "left": left}

    @property
    def snippet(self) -> str:
        """What the answer cites of it, else its text; as it reads, without Markdown's marks."""
        quote = self.quote or self.text
        before = self.text[: self.text.find(quote) + 1].rpartition("\n")[2]
        # A row of a table is quoted from its first word on, and read as one by its bar.
        return plain_text(f"| {quote} |" if before.lstrip().startswith("|") else quote)

    @property
    def path(self) -> str:
        """The path of its note in the vault."""
        return unquote(self.url.partition("?")[0].partition("/notes/")[2])


@dataclass(frozen=True, slots=True)
class NearNote:
    """A note that comes near a question to which none has the answer."""

    title: str
    where: str
    url: str


def source_card(source: dict[str, Any], *, quote: str, now: NoteNow | None) -> SourceCard:
    """The card of a passage as thread() has it; `quote` is what the answer cites of it."""
    copies = _copies(source)
    return SourceCard(
        number=source["number"],
        title=source["title"],
        where=" › ".join([source["vault_name"], *_headings(source)]),
        text=source["text"],
        start=source["start"],
        url=source["url"],
        day=date.fromisoformat(source["date"]) if source["date"] else None,
        quote=quote,
        now=now or NoteNow(),
        copies=copies[:_COPIES_NAMED],
        more_copies=copies[_COPIES_NAMED:],
    )


def card_id(message_id: str, number: int) -> str:
    """The id of a passage's card on its page, as templates/chat/source.html writes it."""
    return f"source-{message_id}-{number}"


def near_note(note: dict[str, Any]) -> NearNote:
    """One of `nearest` as thread() has it."""
    return NearNote(note["title"], f"{note['vault_name']} › {note['path']}", note["url"])


def notes_now(message_ids: Iterable[str]) -> dict[tuple[str, int], NoteNow]:
    """How the notes behind these answers stand, by message and number of the passage.

    It asks nobody's rights: only passages that their reader may read have a card.
    """
    rows = list(
        Source.objects.filter(message_id__in=list(message_ids))
        .annotate(properties=F("note__properties"), summary=F("chunk__summary"))
        .annotate(current=F("note__content_hash"), is_there=Exists(_AT_ITS_PLACE))
        .values(*_LOOKED_AT)
    )
    changed = [row["pk"] for row in rows if row["note_hash"] and row["note_hash"] != row["current"]]
    old = _without_their_text(changed)
    return {
        (str(row["message_id"]), row["number"]): NoteNow(
            summary=row["summary"] or "",
            flag=outdated_words(row["properties"] or {}),
            is_old=row["pk"] in old,
            is_gone=row["note_id"] is None and not row["is_there"],
        )
        for row in rows
    }


def _without_their_text(sources: list[int]) -> set[int]:
    """Those whose note, changed meanwhile or gone, has their text nowhere."""
    if not sources:
        return set()
    found = Source.objects.filter(pk__in=sources).annotate(at=StrIndex("note__body", F("text")))
    return set(sources) - set(found.filter(at__gt=0).values_list("pk", flat=True))


def _copies(source: dict[str, Any]) -> tuple[CopyLink, ...]:
    """The notes that said the same; one of another vault with that vault's name."""
    return tuple(
        CopyLink(
            copy["path"] if copy["vault"] == source["vault"] else f"{copy['vault']}/{copy['path']}",
            copy["url"],
            is_outdated=copy["outdated"],
        )
        for copy in source["also_in"]
    )


def _headings(source: dict[str, Any]) -> list[str]:
    """The heading path without the title, which stands above it already."""
    path: list[str] = source["heading_path"]
    return path[1:] if path[:1] == [source["title"]] else path
