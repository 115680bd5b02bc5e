"""What is wrong with which note of a vault, kind by kind, why, and how to mend it.

Each kind is a condition on notes, so that a vault of any size is counted and paged in the
database. What the last run said of files that are no notes is a list of its own.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import chain
from operator import or_

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Sum, Window
from django.db.models.functions import Length, RowNumber
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from vault.core.golden_notes import GOLDEN
from vault.core.mending import mend_of
from vault.core.types import NoteKind
from vault.counting import in_time
from vault.enrichment import enrich_settings_of, failed_notes
from vault.file_problems import faulty_settings_files, unread_files
from vault.models import Chunk, ContextFailure, Note, ScrubFinding
from vault.problem_kinds import NOT_WRONG, Kind, Looked, Problem
from vault.staleness import refused_by, stale_chunks_of

# A note of this many characters in a single chunk, or with fewer than this share of its
# text in chunks, was probably not understood.
LONG_FOR_ONE_CHUNK = 6000
LEAST_SHARE = 0.5
SHORTEST_SUSPICIOUS = 1000
# Findings that one row names; the note's page shows the rest in their places.
MOST_NAMED = 5


def problem_counts(looked: Looked) -> dict[Kind, int | None]:
    """How many notes or files there are of each kind; None where counting takes too long."""
    return {kind: in_time(partial(_count, looked, kind)) for kind in Kind}


def wrong_in_all(counts: dict[Kind, int | None]) -> int | None:
    """How many rows the list of everything has; None while one of its parts is unknown."""
    parts = [count for kind, count in counts.items() if kind not in NOT_WRONG]
    return None if None in parts else sum(filter(None, parts))


def list_problems(
    looked: Looked,
    *,
    kind: Kind | None = None,
    start: int = 0,
    most: int = 50,
    counts: Mapping[Kind, int | None] | None = None,
) -> list[Problem] | None:
    """Rows `start` to `start + most` of one kind, or of everything that is wrong.

    None when looking takes too long. Of which there are none by `counts` is not looked for.
    """
    there = [each for each in Kind if counts is None or counts[each] != 0]
    if kind is not None:
        return in_time(lambda: _rows(looked, kind, start, most)) if kind in there else []
    wrong = [each for each in there if each not in NOT_WRONG]
    return in_time(lambda: _listed(looked, wrong, start, most))


def problems_of_each(
    looked: Looked, *, kinds: Sequence[Kind], most: int
) -> dict[int, list[Problem]]:
    """The first `most` rows of each kind, by vault: one look for a kind, however many vaults."""
    found: dict[int, list[Problem]] = defaultdict(list)
    for kind in kinds:
        named: Counter[int] = Counter()
        for row in _first_of_each(looked, kind, most):
            named[row.vault_id] += 1
            if named[row.vault_id] <= most:
                found[row.vault_id].append(row)
    return found


def _first_of_each(looked: Looked, kind: Kind, most: int) -> Iterable[Problem]:
    if kind in _lists:
        return _lists[kind](looked)
    place = Window(RowNumber(), partition_by="vault_id", order_by="path")
    notes = _notes_of[kind](looked).annotate(place=place).filter(place__lte=most)
    ordered = notes.order_by("vault_id", "path").defer("body", "headings", "lookup_keys")
    return _told[kind](looked, list(ordered))


def _listed(looked: Looked, kinds: Sequence[Kind], start: int, most: int) -> list[Problem]:
    rows: list[Problem] = []
    for each in kinds:
        if len(rows) >= most:
            break
        found = _rows(looked, each, start, most - len(rows))
        rows += found
        if found:
            start = 0
        elif start:
            start = max(0, start - _count(looked, each))
    return rows


def _count(looked: Looked, kind: Kind) -> int:
    listed = _lists.get(kind)
    return len(listed(looked)) if listed else _notes_of[kind](looked).count()


def _rows(looked: Looked, kind: Kind, start: int, most: int) -> list[Problem]:
    if kind in _lists:
        return _lists[kind](looked)[start : start + most]
    notes = _notes_of[kind](looked).order_by("path").defer("body", "headings", "lookup_keys")
    return list(_told[kind](looked, list(notes[start : start + most])))


# Files that are no notes: few, and read from rows of their own.
_lists: dict[Kind, Callable[[Looked], list[Problem]]] = {
    Kind.UNREAD: unread_files,
    Kind.SETTINGS: faulty_settings_files,
}


def _with_status(status: Note.Status, extra: Q) -> Callable[[Looked], QuerySet[Note]]:
    return lambda looked: looked.notes.filter(extra, status=status)


# Sync gives a file that it does not even read this in place of a hash.
_UNREAD = Q(content_hash__startswith="unread")


def _refused(looked: Looked) -> QuerySet[Note]:
    return _with_chunks(looked, refused_chunks(looked))


def _no_context(looked: Looked) -> QuerySet[Note]:
    failed = [
        Q(pk__in=failed_notes(settings).values("note_id"))
        for settings in enrich_settings_of(looked.vault_ids)
    ]
    return looked.notes.filter(reduce(or_, failed)) if failed else looked.notes.none()


def _waiting(looked: Looked) -> QuerySet[Note]:
    return _with_chunks(looked, _waiting_chunks(looked))


def _waiting_chunks(looked: Looked) -> QuerySet[Chunk]:
    """Chunks that the model which serves their vault is still to come to."""
    waiting = [
        stale_chunks_of(ids, model).exclude(refused_by(model))
        for model, ids in looked.serving.items()
    ]
    return reduce(or_, waiting) if waiting else Chunk.objects.none()


def _with_chunks(looked: Looked, chunks: QuerySet[Chunk]) -> QuerySet[Note]:
    return looked.notes.filter(Exists(chunks.filter(note_id=OuterRef("pk"))))


def refused_chunks(looked: Looked) -> QuerySet[Chunk]:
    """Those that the model which serves their vault could not embed."""
    refused = [Q(vault__in=ids) & refused_by(model) for model, ids in looked.serving.items()]
    return Chunk.objects.filter(reduce(or_, refused)) if refused else Chunk.objects.none()


def _suspicious(looked: Looked) -> QuerySet[Note]:
    """Indexed notes whose number of chunks does not fit their text.

    A text is no longer than its file, but for what documents pack: only where the file's size
    does not fit is the text itself measured, which has to be unpacked for that.
    """
    indexed = looked.notes.filter(status=Note.Status.INDEXED).annotate(
        pieces=Count("chunks"),
        inside=Sum(F("chunks__end") - F("chunks__start"), output_field=IntegerField()),
    )
    perhaps = indexed.filter(_is_odd("size") | Q(kind=NoteKind.ATTACHMENT))
    measured = indexed.filter(pk__in=perhaps.values("pk")).annotate(length=Length("body"))
    return measured.filter(_is_odd("length")).exclude(pk__in=_golden(looked))


def _is_odd(length: str) -> Q:
    """Too few `pieces`, or too little `inside` of them, for a text of this `length`."""
    one = Q(**{"pieces__lte": 1, f"{length}__gt": LONG_FOR_ONE_CHUNK})
    little = Q(**{f"{length}__gt": SHORTEST_SUSPICIOUS, "inside__lt": F(length) * LEAST_SHARE})
    return one | little | Q(**{f"{length}__gt": SHORTEST_SUSPICIOUS, "pieces": 0})


def _empty(looked: Looked) -> QuerySet[Note]:
    chunks = Chunk.objects.filter(vault__in=looked.vault_ids, note_id=OuterRef("pk"))
    bare = looked.notes.filter(~Exists(chunks), status=Note.Status.INDEXED)
    return bare.exclude(pk__in=_golden(looked))


def _golden(looked: Looked) -> QuerySet[Note, int]:
    """Notes of golden questions, which are kept out of search on purpose."""
    named = Q(path__iregex=rf"(^|/){GOLDEN}\.(md|markdown)$")
    said = Q(properties__type__iexact=GOLDEN) | Q(properties__contains={GOLDEN: True})
    return looked.notes.filter(named | said).values_list("pk", flat=True)


def _secrets(looked: Looked) -> QuerySet[Note]:
    findings = ScrubFinding.objects.filter(vault__in=looked.vault_ids, note_id=OuterRef("pk"))
    return looked.notes.filter(Exists(findings))


_notes_of: dict[Kind, Callable[[Looked], QuerySet[Note]]] = {
    Kind.FAILED: _with_status(Note.Status.FAILED, Q()),
    Kind.TOO_LARGE: _with_status(Note.Status.EXCLUDED, _UNREAD),
    Kind.EXCLUDED: _with_status(Note.Status.EXCLUDED, ~_UNREAD),
    Kind.REFUSED: _refused,
    Kind.NO_CONTEXT: _no_context,
    Kind.SUSPICIOUS: _suspicious,
    Kind.WARNINGS: lambda looked: looked.notes.exclude(warnings=[]),
    Kind.WAITING: _waiting,
    Kind.EMPTY: _empty,
    Kind.SECRETS: _secrets,
}


def _tell_missing(kind: Kind) -> Callable[[Looked, Sequence[Note]], Iterator[Problem]]:
    def tell(looked: Looked, notes: Sequence[Note]) -> Iterator[Problem]:
        for note in notes:
            mend = mend_of(note.reason)
            yield replace(_problem(note, kind, note.reason, mend), severity="missing")

    return tell


def _tell_refused(looked: Looked, notes: Sequence[Note]) -> Iterator[Problem]:
    chunks = refused_chunks(looked).filter(note__in=[note.pk for note in notes]).defer("tsv")
    of_note = _by_note(chunks.order_by("note_id", "ordinal"))
    mend = _("Change the passage, or choose “Retry failed” when the model was the trouble.")
    for note in notes:
        refused = of_note[note.pk]
        if not refused:
            continue
        text = ngettext(
            "Not searchable by meaning: %(why)s",
            "%(n)d passages are not searchable by meaning: %(why)s",
            len(refused),
        ) % {"n": len(refused), "why": refused[0].embed_failed}
        line = note.body_line + refused[0].start_line - 1
        attempts = max(chunk.embed_attempts for chunk in refused)
        row = _problem(note, Kind.REFUSED, text, mend)
        yield replace(row, severity="partly", line=line, attempts=attempts)


def _tell_no_context(looked: Looked, notes: Sequence[Note]) -> Iterator[Problem]:
    failures = ContextFailure.objects.filter(note__in=[note.pk for note in notes])
    of_note = {failure.note_id: failure for failure in failures}
    mend = _("It is found without context lines. They are tried again by themselves.")
    for note in notes:
        failure = of_note[note.pk]
        text = _("No context line: %s") % failure.reason
        yield replace(_problem(note, Kind.NO_CONTEXT, text, mend), attempts=failure.attempts)


def _by_note(chunks: QuerySet[Chunk]) -> dict[int, list[Chunk]]:
    of_note: dict[int, list[Chunk]] = defaultdict(list)
    for chunk in chunks:
        of_note[chunk.note_id].append(chunk)
    return of_note


def _tell_suspicious(looked: Looked, notes: Sequence[Note]) -> Iterator[Problem]:
    mend = _("Look whether most of it is one unclosed comment or code fence.")
    for note in notes:
        length, pieces = getattr(note, "length", 0), getattr(note, "pieces", 0)
        text = ngettext(
            "%(length)s characters became %(n)d passage.",
            "%(length)s characters became %(n)d passages.",
            pieces,
        ) % {"length": f"{length:,}", "n": pieces}
        yield _problem(note, Kind.SUSPICIOUS, text, mend)


def _tell_warnings(looked: Looked, notes: Sequence[Note]) -> Iterator[Problem]:
    mend = _("The note is searchable; correct the file to be rid of the warning.")
    for note in notes:
        reasons = list(dict.fromkeys(warning["reason"] for warning in note.warnings))
        lines = [warning["line"] for warning in note.warnings if warning["line"]]
        line = min(lines, default=None)
        yield replace(_problem(note, Kind.WARNINGS, "; ".join(reasons), mend), line=line)


def _tell_waiting(looked: Looked, notes: Sequence[Note]) -> Iterator[Problem]:
    chunks = _waiting_chunks(looked).filter(note__in=[note.pk for note in notes])
    rows = chunks.order_by().values_list("note_id").annotate(n=Count("pk"))
    counts = dict(rows)
    for note in notes:
        n = counts.get(note.pk, 0)
        text = ngettext(
            "%d passage waits to be made searchable by meaning.",
            "%d passages wait to be made searchable by meaning.",
            n,
        )
        mend = _("Nothing to do: the worker comes to it. Words find it already.")
        yield replace(_problem(note, Kind.WAITING, text % n, mend), severity="partly")


def _tell_empty(looked: Looked, notes: Sequence[Note]) -> Iterator[Problem]:
    for note in notes:
        text = _("It has no text of its own: only its title and path are found.")
        yield _problem(note, Kind.EMPTY, text, _("Write something in it, or leave it as it is."))


def _tell_secrets(looked: Looked, notes: Sequence[Note]) -> Iterator[Problem]:
    findings = ScrubFinding.objects.filter(note__in=[note.pk for note in notes])
    of_note: dict[int, list[ScrubFinding]] = defaultdict(list)
    for finding in findings.order_by("note_id", "line"):
        of_note[finding.note_id].append(finding)
    mend = _("Change the secret where it is used, then take it out of the file.")
    for note in notes:
        found = of_note[note.pk]
        named = [
            _("%(kind)s in line %(line)d") % {"kind": finding.kind, "line": finding.line}
            for finding in found[:MOST_NAMED]
        ]
        more = len(found) - len(named)
        said = chain(named, [_("%d more") % more] if more else [])
        text = _("Left out of the index: %s.") % ", ".join(said)
        line = found[0].line if found else None
        yield replace(_problem(note, Kind.SECRETS, text, mend), line=line)


_told: dict[Kind, Callable[[Looked, Sequence[Note]], Iterator[Problem]]] = {
    Kind.FAILED: _tell_missing(Kind.FAILED),
    Kind.TOO_LARGE: _tell_missing(Kind.TOO_LARGE),
    Kind.EXCLUDED: _tell_missing(Kind.EXCLUDED),
    Kind.REFUSED: _tell_refused,
    Kind.NO_CONTEXT: _tell_no_context,
    Kind.SUSPICIOUS: _tell_suspicious,
    Kind.WARNINGS: _tell_warnings,
    Kind.WAITING: _tell_waiting,
    Kind.EMPTY: _tell_empty,
    Kind.SECRETS: _tell_secrets,
}


def _problem(note: Note, kind: Kind, reason: str, mend: str) -> Problem:
    """A row about a note that can be found."""
    return Problem(
        path=note.path,
        reason=reason,
        mend=mend,
        severity="doubtful",
        note_id=note.pk,
        kind=kind,
        attempts=note.attempts,
        vault_id=note.vault_id,
    )
