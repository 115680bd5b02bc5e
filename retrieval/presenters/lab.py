"""The lab's columns, ready to be set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from retrieval.core.comparing import Move
from retrieval.core.types import Passage
from retrieval.lab import LabRow, Side
from retrieval.presenters.results import Segment, segments
from retrieval.presenters.words import ShownArm, found_by, is_named, shown_arms, stage_words


@dataclass(frozen=True, slots=True)
class Shift:
    """Where a row stands on the other side: `trend` is "up", "down" or "new"."""

    trend: str
    text: str


@dataclass(frozen=True, slots=True)
class ShownRow:
    """A candidate of a column. `facts`: (name, value) pairs under its text."""

    place: int
    title: str
    url: str
    where: tuple[str, ...]
    segments: tuple[Segment, ...]
    facts: tuple[tuple[str, str], ...]
    shift: Shift | None


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage that an answer would read."""

    number: int
    title: str
    where: tuple[str, ...]
    url: str
    found_by: str
    tokens: int


@dataclass(frozen=True, slots=True)
class Stage:
    """Milliseconds of a stage, and its share of all in percent."""

    name: str
    ms: str
    share: int


@dataclass(frozen=True, slots=True)
class Column:
    """One side of the lab."""

    rows: tuple[ShownRow, ...]
    arms: tuple[ShownArm, ...]
    stages: tuple[Stage, ...]
    total_ms: str
    notices: tuple[str, ...]
    queries: tuple[str, ...]
    hidden: int
    permalink: str
    passages: tuple[ShownPassage, ...] = ()

    @property
    def tokens(self) -> int:
        """Of all passages together."""
        return sum(passage.tokens for passage in self.passages)


def column(
    side: Side, *, moved: Mapping[int, Move] | None = None, is_second: bool = True
) -> Column:
    """A side of the lab; with `moved` each row says where it stands on the other side."""
    total = float(side.timings.get("total", 0.0))
    return Column(
        rows=tuple(_row(row, moved, is_second=is_second) for row in side.rows),
        arms=shown_arms(side.arms),
        stages=tuple(
            Stage(stage_words(name), f"{ms:.1f}", round(100 * float(ms) / total) if total else 0)
            for name, ms in side.timings.items()
            if name != "total"
        ),
        total_ms=f"{total:.0f}",
        notices=side.notices,
        queries=tuple(side.run.queries) if side.run else (),
        hidden=side.hidden,
        permalink=f"{reverse('lab')}?{urlencode({'run': side.run.pk})}" if side.run else "",
        passages=tuple(map(_passage, side.passages)),
    )


def _passage(passage: Passage) -> ShownPassage:
    address = reverse("note", args=[passage.vault_slug, passage.path])
    span = urlencode({"span": f"{passage.start}-{passage.end}"})
    headings = [heading for heading in passage.heading_path if heading != passage.title]
    return ShownPassage(
        number=passage.number,
        title=passage.title,
        where=(passage.path, *headings),
        url=f"{address}?{span}",
        found_by=" · ".join(found_by(passage.arms)),
        tokens=passage.tokens,
    )


def _row(row: LabRow, moved: Mapping[int, Move] | None, *, is_second: bool) -> ShownRow:
    start, end = row.span
    address = reverse("note", args=[row.note.vault.slug, row.note.path])
    headings = [heading for heading in row.heading_path if heading != row.note.title]
    return ShownRow(
        place=row.place,
        title=row.note.title,
        url=f"{address}?{urlencode({'span': f'{start}-{end}'})}" if end > start else address,
        where=(row.note.vault.name, row.note.path, *headings),
        segments=segments(row.snippet.text, row.snippet.marks),
        facts=tuple(_facts(row)),
        shift=_shift(moved.get(row.candidate.chunk_id), is_second=is_second) if moved else None,
    )


def _facts(row: LabRow) -> list[tuple[str, str]]:
    found = row.candidate
    shown = [(_("Score"), f"{found.score:.4f}")]
    if found.lexical_rank is not None:
        measured = f" · BM25 {found.bm25:.2f}" if found.bm25 is not None else ""
        shown.append((_("Keywords"), f"{found.lexical_rank}{measured}"))
    if found.vector_rank is not None:
        measured = f" · cosine {found.cosine:.3f}" if found.cosine is not None else ""
        shown.append((_("Meaning"), f"{found.vector_rank}{measured}"))
    if found.note_rank is not None:
        shown.append((_("Whole notes"), str(found.note_rank)))
    if found.code_rank is not None:
        measured = f" · cosine {found.cosine:.3f}" if found.cosine is not None else ""
        shown.append((_("Code"), f"{found.code_rank}{measured}"))
    if found.rerank_rank is not None:
        shown.append((_("Reranker"), str(found.rerank_rank)))
    if is_named(found):
        shown.append((_("Note"), is_named(found)))
    shown += list(row.others)
    if row.tokens:
        shown.append((_("Tokens embedded"), str(row.tokens)))
    return shown


def _shift(move: Move | None, *, is_second: bool) -> Shift | None:
    """How a row got to its place: told on the second side; "only here" on both."""
    if move is None:
        return None
    steps = move.steps
    if steps is None:
        return Shift("new", _("only here"))
    if not is_second or not steps:
        return None
    if steps > 0:
        return Shift("up", ngettext("%d place up", "%d places up", steps) % steps)
    return Shift("down", ngettext("%d place down", "%d places down", -steps) % -steps)
