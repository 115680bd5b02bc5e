"""Golden questions of a vault: read from notes, added by hand, kept in step."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from retrieval.core.golden import parse_golden
from retrieval.evaluation import CannotAdd, add_question, read_golden_notes, remove_question
from retrieval.evaluation.questions import as_markdown, find_notes
from retrieval.models import EvalQuestion
from tests.cast import Cast
from tests.retrieval.evaluation.golden import write_golden_vault
from tests.retrieval.library import write_markdown, write_note
from vault.models import Note

pytestmark = pytest.mark.django_db


def questions(cast: Cast) -> dict[str, tuple[str, str, list[str], int]]:
    return {
        row.text: (
            row.question_class,
            row.language,
            sorted(note.path for note in row.expected.all()),
            row.line,
        )
        for row in EvalQuestion.objects.filter(vault=cast.vault)
    }


def test_questions_are_read_from_the_golden_note(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    assert read_golden_notes(cast.vault) == ()
    assert questions(cast) == {
        "Where does the grey heron sleep?": ("", "en", ["Birds/Heron.md"], 6),
        "Which pump stands in the cellar?": ("Pumps", "en", ["Ops/Pumps.md"], 10),
        "Wer wartet die Pumpe im Keller?": (
            "Pumps",
            "de",
            ["Ops/Pumps.md", "Ops/Valves.md"],
            11,
        ),
    }


def test_reading_again_changes_nothing_and_follows_the_note(cast: Cast) -> None:
    note = write_golden_vault(cast.vault)
    read_golden_notes(cast.vault)
    ids = set(EvalQuestion.objects.values_list("pk", flat=True))
    read_golden_notes(cast.vault)
    assert set(EvalQuestion.objects.values_list("pk", flat=True)) == ids
    note.body = note.body.replace("- Which pump stands in the cellar? -> [[Pumps]]\n", "")
    note.save()
    read_golden_notes(cast.vault)
    assert len(questions(cast)) == 2
    note.delete()
    read_golden_notes(cast.vault)
    assert questions(cast) == {}


def test_looking_again_writes_nothing(cast: Cast) -> None:
    lines = [f"- Where is pump {n}? -> [[Pumps]]" for n in range(9)]
    write_golden_vault(cast.vault, "\n".join(["# Golden questions", "", *lines, ""]))
    with CaptureQueriesContext(connection) as first:
        read_golden_notes(cast.vault)
    with CaptureQueriesContext(connection) as second:
        read_golden_notes(cast.vault)
    written = [query["sql"] for query in second if query["sql"].startswith(("UPDATE", "INSERT"))]
    assert EvalQuestion.objects.count() == 9
    assert written == []
    assert len(second) < len(first) / 2


def test_a_broken_line_is_told_with_the_line_of_the_file(cast: Cast) -> None:
    write_golden_vault(
        cast.vault,
        "---\ntitle: Ours\n---\n- Who? -> [[Nobody]]\n- What?\n- Where? -> [[Heron]], [[Gone]]\n",
    )
    broken = read_golden_notes(cast.vault)
    assert [(each.path, each.line) for each in broken] == [
        ("golden-questions.md", 5),
        ("golden-questions.md", 4),
        ("golden-questions.md", 6),
    ]
    assert "“Nobody”" in broken[1].reason
    assert list(questions(cast)) == ["Where?"]


def test_a_note_of_any_name_may_say_that_it_is_golden(cast: Cast) -> None:
    write_note(cast.vault, "Heron.md", "A bird.")
    write_markdown(
        cast.vault, "Quality.md", "---\ntype: golden-questions\n---\n- Who? -> [[Heron]]\n"
    )
    read_golden_notes(cast.vault)
    assert list(questions(cast)) == ["Who?"]


def test_a_question_added_by_hand_stays(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    heron = Note.objects.get(path="Birds/Heron.md")
    pumps = Note.objects.get(path="Ops/Pumps.md")
    row = add_question(
        cast.vault,
        "  Who   sleeps? ",
        expected=[heron],
        origin=EvalQuestion.Origin.THUMBS,
        user=cast.owner,
    )
    again = add_question(cast.vault, "Who sleeps?", expected=[pumps])
    read_golden_notes(cast.vault)
    assert again.pk == row.pk
    assert row.text == "Who sleeps?"
    assert row.created_by == cast.owner
    assert questions(cast)["Who sleeps?"][2] == ["Birds/Heron.md", "Ops/Pumps.md"]


@pytest.mark.parametrize("text", ["", " \n", "\0", "w" * 1001])
def test_what_is_no_question_is_refused(cast: Cast, text: str) -> None:
    note = write_note(cast.vault, "Heron.md", "A bird.")
    with pytest.raises(CannotAdd):
        add_question(cast.vault, text, expected=[note])


def test_a_note_of_another_vault_is_no_answer(cast: Cast) -> None:
    foreign = write_note(cast.foreign_vault, "Secret.md", "A bird.")
    with pytest.raises(CannotAdd, match="at least one note of this vault"):
        add_question(cast.vault, "Who?", expected=[foreign])


def test_only_what_was_added_by_hand_can_be_removed(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    read_golden_notes(cast.vault)
    in_note = EvalQuestion.objects.first()
    assert in_note is not None
    heron = Note.objects.get(path="Birds/Heron.md")
    added = add_question(cast.vault, "Who sleeps?", expected=[heron])
    assert remove_question(cast.vault, in_note.pk) is None
    assert remove_question(cast.foreign_vault, added.pk) is None
    assert remove_question(cast.vault, added.pk) is not None
    assert len(questions(cast)) == 3


def test_an_expected_note_that_moves_is_still_expected(cast: Cast) -> None:
    note = write_note(cast.vault, "Heron.md", "A bird.")
    add_question(cast.vault, "Who?", expected=[note])
    Note.objects.filter(pk=note.pk).update(path="Birds/Grey heron.md")
    assert questions(cast)["Who?"][2] == ["Birds/Grey heron.md"]


def test_questions_as_markdown_are_read_as_the_same_questions(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    read_golden_notes(cast.vault)
    rows = EvalQuestion.objects.filter(vault=cast.vault)
    golden = parse_golden(as_markdown(rows))
    assert golden.broken == ()
    assert {(q.text, q.question_class) for q in golden.questions} == {
        (row.text, row.question_class) for row in rows
    }


def test_notes_are_found_as_links_name_them(cast: Cast) -> None:
    note = write_note(cast.vault, "Birds/Heron.md", "A bird.", aliases=("Ottokar",))
    found, missing = find_notes(cast.vault, ["heron", "Ottokar", "Nobody"])
    assert (found, missing) == ([note], ["Nobody"])
