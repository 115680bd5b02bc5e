"""The golden questions of a vault: read from its notes, or added by somebody."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Prefetch, Q
from django.utils.translation import gettext as _

from providers.core.language import language_of
from retrieval.core.golden import LONGEST_QUESTION, GoldenQuestion, golden_line, parse_golden
from retrieval.core.query import clean
from retrieval.models import EvalQuestion
from vault.core.golden_notes import GOLDEN, is_golden_note
from vault.core.links import LinkIndex
from vault.models import Note, Vault

MOST_EXPECTED = 20


class CannotAdd(ValueError):
    """`str()` says why a question cannot be golden, and what would mend it."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A line of a golden note that could not be read. `line` is the file's, from 1."""

    path: str
    line: int
    text: str
    reason: str


@dataclass(slots=True)
class _Known:
    """A question that is kept, or is about to be, and the notes it expects."""

    row: EvalQuestion
    expected: set[int]


def golden_notes(vault: Vault) -> list[Note]:
    """The notes of `vault` that hold golden questions, by path."""
    by_name = Q(lookup_keys__contains=[GOLDEN])
    by_property = Q(properties__type__iexact=GOLDEN) | Q(**{f"properties__{GOLDEN}": True})
    notes = Note.objects.filter(by_name | by_property, vault=vault).order_by("path")
    return [note for note in notes if is_golden_note(note.path, note.properties)]


@transaction.atomic
def read_golden_notes(vault: Vault) -> tuple[Broken, ...]:
    """Make the questions of `vault` agree with its golden notes; returns the broken lines.

    What stands in a note is as the note says; what was added by hand stays. Cheap enough
    to be called whenever questions are looked at.
    """
    Vault.objects.select_for_update().get(pk=vault.pk)
    notes = golden_notes(vault)
    by_path, index = _names(vault) if notes else ({}, LinkIndex({}))
    known = _known(vault) if notes else {}
    broken: list[Broken] = []
    kept: set[int] = set()
    for note in notes:
        golden = parse_golden(note.body)
        shift = note.body_line - 1
        broken += [Broken(note.path, b.line + shift, b.text, b.reason) for b in golden.broken]
        for question in golden.questions:
            found, missing = _resolve(question.targets, note.path, index)
            if missing:
                reason = _("There is no note “%(name)s” in this vault.") % {"name": missing[0]}
                broken.append(Broken(note.path, question.line + shift, question.text, reason))
            if found:
                ids = [by_path[path] for path in found]
                new = _Known(EvalQuestion(vault=vault, text=question.text), set())
                row = known.setdefault(question.text, new)
                kept.add(_keep(note, question, ids, known=row).pk)
    gone = EvalQuestion.objects.filter(vault=vault, origin=EvalQuestion.Origin.NOTE)
    gone.exclude(pk__in=kept).delete()
    return tuple(broken)


@transaction.atomic
def add_question(
    vault: Vault,
    text: str,
    *,
    expected: Iterable[Note],
    origin: str = EvalQuestion.Origin.PAGE,
    user: User | None = None,
    question_class: str = "",
) -> EvalQuestion:
    """Keep `text` as a golden question of `vault` that notes of the same vault answer.

    Asked for again, the notes are added to those that are known. Raises CannotAdd when the
    question is empty or too long, or no note of the vault is named.
    """
    asked = " ".join(clean(text).split())
    if not asked:
        raise CannotAdd(_("Type the question."))
    if len(text.strip()) > LONGEST_QUESTION:
        raise CannotAdd(
            _("A question has at most %(most)d characters.") % {"most": LONGEST_QUESTION}
        )
    notes = [note for note in expected if note.vault_id == vault.pk][:MOST_EXPECTED]
    if not notes:
        raise CannotAdd(_("Name at least one note of this vault that answers the question."))
    question, _made = EvalQuestion.objects.get_or_create(
        vault=vault,
        text=asked,
        defaults={
            "origin": origin,
            "created_by": user,
            "question_class": clean(question_class)[:200],
            "language": language_of(asked),
        },
    )
    question.expected.add(*notes)
    return question


def remove_question(vault: Vault, question_id: int) -> EvalQuestion | None:
    """Forget a question that was added by hand; None when there is none.

    One that stands in a note is taken out there: the next look would bring it back.
    """
    question = (
        EvalQuestion.objects.filter(vault=vault, pk=question_id)
        .exclude(origin=EvalQuestion.Origin.NOTE)
        .first()
    )
    if question is not None:
        question.delete()
    return question


def as_markdown(questions: Iterable[EvalQuestion]) -> str:
    """The questions as a golden note has them, by class."""
    lines = ["# Golden questions"]
    shown = ""
    for question in questions:
        if question.question_class != shown:
            shown = question.question_class
            lines += ["", f"## {shown}"]
        paths = [note.path for note in question.expected.all()]
        if paths:
            lines += [golden_line(question.text, paths)]
    return "\n".join(lines) + "\n"


def find_notes(vault: Vault, names: Sequence[str]) -> tuple[list[Note], list[str]]:
    """Notes of `vault` by path, title or alias as links name them, and the unknown names."""
    by_path, index = _names(vault)
    found, missing = _resolve(names, "", index)
    notes = Note.objects.filter(pk__in=[by_path[path] for path in found]).defer("body")
    return list(notes), missing


def _names(vault: Vault) -> tuple[dict[str, int], LinkIndex]:
    rows = list(Note.objects.filter(vault=vault).values_list("path", "pk", "aliases"))
    index = LinkIndex({path: aliases for path, _pk, aliases in rows})
    return {path: pk for path, pk, _aliases in rows}, index


def _resolve(
    targets: Sequence[str], source_path: str, index: LinkIndex
) -> tuple[list[str], list[str]]:
    found = {target: index.resolve(target, source_path=source_path) for target in targets}
    paths = dict.fromkeys(path for path in found.values() if path is not None)
    return list(paths), [target for target, path in found.items() if path is None]


def _known(vault: Vault) -> dict[str, _Known]:
    """The questions of `vault` by their text."""
    ids = Prefetch("expected", Note.objects.only("pk"))
    rows = EvalQuestion.objects.filter(vault=vault).prefetch_related(ids)
    return {row.text: _Known(row, {note.pk for note in row.expected.all()}) for row in rows}


def _keep(
    note: Note, question: GoldenQuestion, expected: Sequence[int], *, known: _Known
) -> EvalQuestion:
    """Write the question as `note` has it, where it is not so already."""
    row = known.row
    said = {
        "origin": EvalQuestion.Origin.NOTE,
        "question_class": question.question_class[:200],
        "language": language_of(question.text),
        "place": note.path,
        "line": question.line + note.body_line - 1,
    }
    if row.pk is None or any(getattr(row, name) != value for name, value in said.items()):
        for name, value in said.items():
            setattr(row, name, value)
        row.save()
    if known.expected != set(expected):
        row.expected.set(expected)
        known.expected = set(expected)
    return row
