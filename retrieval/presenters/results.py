"""Search results as scripts and pages see them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from retrieval.core.filters import as_filter, take_filters, without_filter
from retrieval.core.types import Arm, Copy, Hit, SearchResult
from retrieval.forms import Asked, Unreadable
from retrieval.presenters.words import found_by, outdated_words
from vault.core.places import Place

# Of one passage: a line of them.
_COPIES_SHOWN = 3


def result_json(result: SearchResult) -> dict[str, Any]:
    """The stable form for scripts: `GET /api/search` and `search --json` both give it."""
    return {
        "results": [_hit_json(hit) for hit in result.hits],
        "arms": arms_json(result.arms),
        "timings": result.timings,
        "notices": list(result.notices),
    }


def arms_json(arms: Sequence[Arm]) -> dict[str, Any]:
    """Each arm by name: whether it ran, what it found and how, or why it was skipped."""
    fields = ("ran", "reason", "found", "path")
    return {arm.name: {name: asdict(arm)[name] for name in fields} for arm in arms}


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of the snippet, marked or not."""

    text: str
    is_marked: bool


@dataclass(frozen=True, slots=True)
class CopyLink:
    """Another note that says the same. `place`: its path, with its vault's name where that is
    another one's."""

    place: str
    url: str
    is_outdated: bool


@dataclass(frozen=True, slots=True)
class HitRow:
    """One result of the page. `places`: vault, folders and headings, outermost first;
    `flag`: that its note no longer holds; `summary`: what the passage says, in a line of a
    model's; `copies` are listed, `more_copies` are behind a click."""

    title: str
    url: str
    places: tuple[str, ...]
    segments: tuple[Segment, ...]
    arms: tuple[str, ...]
    day: date
    flag: str
    status: str
    summary: str = ""
    is_code: bool = False
    copies: tuple[CopyLink, ...] = ()
    more_copies: tuple[CopyLink, ...] = ()


@dataclass(frozen=True, slots=True)
class FilterChip:
    """A filter in use, and the address of the same search without it."""

    label: str
    url: str


def filter_chips(asked: Asked) -> list[FilterChip]:
    """One chip for each filter of the query, as typed, and for each beside it."""
    typed = take_filters(asked.query)[1]
    in_query = [
        FilterChip(each.raw, _address(asked, query=without_filter(asked.query, each)))
        for each in typed
    ]
    beside = [
        FilterChip(
            as_filter(name, value),
            _address(asked, chosen=[each for each in asked.chosen if each != (name, value)]),
        )
        for name, value in asked.chosen
    ]
    return in_query + beside


def mended_chips(given: Sequence[tuple[str, str]], error: Unreadable) -> list[FilterChip]:
    """For each filter that may have been meant: the same search with it in the place of the
    one that fits nothing. `given` are the parameters of the page's address."""
    return [
        FilterChip(near, f"{reverse('search')}?{urlencode(_mended(given, error.raw, near))}")
        for near in error.near
    ]


def _mended(given: Sequence[tuple[str, str]], raw: str, near: str) -> list[tuple[str, str]]:
    query = next((value for name, value in given if name == "q"), "")
    mended = query.replace(raw, near, 1) if raw in query else f"{query} {near}".strip()
    beside = [
        (name, value) for name, value in given if name != "q" and as_filter(name, value) != raw
    ]
    return [("q", mended), *beside]


def _address(
    asked: Asked, *, query: str | None = None, chosen: Sequence[tuple[str, str]] | None = None
) -> str:
    """The page's address for `asked` with another query or other filters beside it."""
    pairs = [
        ("q", asked.query if query is None else query),
        ("mode", str(asked.mode)),
        *(("vault", slug) for slug in asked.slugs),
        *(asked.chosen if chosen is None else chosen),
    ]
    return f"{reverse('search')}?{urlencode(pairs)}"


def is_only_near(result: SearchResult) -> bool:
    """Whether no note has a word of the query: all of them only come near its meaning."""
    return bool(result.hits) and all(
        label.startswith(("meaning", "note", "code")) for hit in result.hits for label in hit.arms
    )


def count_copies(result: SearchResult) -> int:
    """How many notes were found that have no row of their own."""
    rows = {hit.note_id for hit in result.hits}
    return len({copy.note_id for hit in result.hits for copy in hit.also_in} - rows)


def hit_rows(result: SearchResult) -> list[HitRow]:
    """Rows for the template, which escapes every text in them."""
    return [_hit_row(hit) for hit in result.hits]


def segments(text: str, marks: Sequence[tuple[int, int]]) -> tuple[Segment, ...]:
    """`text` cut at its marks; joined again it is `text`."""
    pieces: list[Segment] = []
    position = 0
    for start, end in marks:
        pieces += [Segment(text[position:start], False), Segment(text[start:end], True)]  # noqa: FBT003
        position = end
    pieces.append(Segment(text[position:], False))  # noqa: FBT003
    return tuple(piece for piece in pieces if piece.text)


def note_url(place: Hit | Copy) -> str:
    """The note's page at the passage that was found."""
    start, end = place.span
    address = reverse("note", args=[place.vault_slug, place.path])
    return f"{address}?{urlencode({'span': f'{start}-{end}'})}" if end > start else address


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "note_id": hit.note_id,
        "vault": hit.vault_slug,
        "path": hit.path,
        "title": hit.title,
        "heading_path": list(hit.heading_path),
        "snippet": hit.snippet,
        "arms": list(hit.arms),
        "span": list(hit.span),
        "around": str(hit.around or Place(*hit.span)),
        "updated_at": hit.updated.isoformat(),
        "date": hit.day.isoformat(),
        **hit.standing,
        "also_in": [_copy_json(copy) for copy in hit.also_in],
    }


def _copy_json(copy: Copy) -> dict[str, Any]:
    return {
        "note_id": copy.note_id,
        "vault": copy.vault_slug,
        "path": copy.path,
        "title": copy.title,
        "span": list(copy.span),
        "outdated": copy.is_outdated,
    }


def _hit_row(hit: Hit) -> HitRow:
    folders = hit.path.split("/")[:-1]
    headings = [heading for heading in hit.heading_path if heading != hit.title]
    copies = tuple(
        CopyLink(_path_beside(hit, copy), note_url(copy), is_outdated=copy.is_outdated)
        for copy in hit.also_in
    )
    return HitRow(
        title=hit.title,
        url=note_url(hit),
        places=(hit.vault_name, *folders, *_file_name(hit), *headings),
        segments=segments(hit.snippet, hit.marks),
        arms=found_by(hit.arms),
        day=hit.day,
        flag=outdated_words(hit.standing),
        status=hit.standing["status"][:80],
        summary=hit.summary,
        is_code=hit.is_code,
        copies=copies[:_COPIES_SHOWN],
        more_copies=copies[_COPIES_SHOWN:],
    )


def _file_name(hit: Hit) -> tuple[str, ...]:
    """The file, where the title does not tell it: two may have one title."""
    name = hit.path.rsplit("/", 1)[-1]
    return () if name.removesuffix(".md").casefold() == hit.title.casefold() else (name,)


def _path_beside(hit: Hit, copy: Copy) -> str:
    return copy.path if copy.vault_slug == hit.vault_slug else named_path(copy)


def named_path(place: Hit | Copy) -> str:
    """A note where several vaults are read: "team/Ops/Pumps.md"."""
    return f"{place.vault_slug}/{place.path}"
