"""What a reader may be offered while typing: tags, folders and notes of a scope."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db.models import Case, Count, F, Func, IntegerField, Q, TextField, Value, When
from django.db.models.functions import Length

from vault.access import notes_in
from vault.core.types import Scope
from vault.models import Note

MOST_OFFERED = 8


@dataclass(frozen=True, slots=True)
class Offer:
    """`value` is what is typed, `detail` tells two of one name apart or counts notes."""

    value: str
    detail: str = ""


def tags_like(text: str, scope: Scope) -> list[Offer]:
    """Tags of `scope` that hold `text`: those that begin with it first, then the most used."""
    joined = Func(F("tags"), Value(" "), function="array_to_string", output_field=TextField())
    tagged = notes_in(scope).annotate(joined=joined).filter(joined__icontains=text)
    counted = Counter(tag for tags in tagged.values_list("tags", flat=True) for tag in tags)
    wanted = text.casefold()
    found = [(tag, count) for tag, count in counted.items() if wanted in tag.casefold()]
    found.sort(key=lambda each: (not each[0].casefold().startswith(wanted), -each[1], each[0]))
    return [Offer(tag, str(count)) for tag, count in found[:MOST_OFFERED]]


def folders_like(text: str, scope: Scope) -> list[Offer]:
    """Folders of `scope`, ended with a slash, that hold `text`; ordered as tags_like does."""
    folder = Func(
        F("path"), Value("[^/]*$"), Value(""), function="regexp_replace", output_field=TextField()
    )
    found = (
        notes_in(scope)
        .annotate(folder=folder)
        .exclude(folder="")
        .filter(folder__icontains=text)
        .values("folder")
        .annotate(notes=Count("pk"), begins=_begins("folder", text))
        .order_by("begins", "-notes", "folder")
        .values_list("folder", "notes")[:MOST_OFFERED]
    )
    return [Offer(name, str(count)) for name, count in found]


def notes_like(text: str, scope: Scope) -> list[Offer]:
    """Titles of notes of `scope` that hold `text`: beginnings first, then the shortest."""
    found = (
        notes_in(scope)
        .filter(Q(title__icontains=text) | Q(path__icontains=text), status=Note.Status.INDEXED)
        .order_by(_begins("title", text), Length("title"), "title", "pk")
        .values_list("title", "path")[:MOST_OFFERED]
    )
    return [Offer(title, path) for title, path in found]


def _begins(column: str, text: str) -> Case:
    """0 where `column` begins with `text`, else 1."""
    return Case(
        When(**{f"{column}__istartswith": text}, then=Value(0)),
        default=Value(1),
        output_field=IntegerField(),
    )
