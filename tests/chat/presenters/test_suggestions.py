"""Questions one could ask, from notes the reader may read."""

from __future__ import annotations

from datetime import timedelta

from chat.presenters.suggestions import suggested_questions
from tests.cast import Cast, make_user, make_vault
from tests.chat.pages import DAY, make_note
from vault.access import scope_for
from vault.models import Note


def heading(text: str) -> dict[str, object]:
    return {"level": 2, "text": text, "start": 0, "line": 1}


def test_only_readable_notes_are_asked_about(cast: Cast) -> None:
    make_note(cast.vault, title="Boiler")
    make_note(cast.foreign_vault, title="Payroll")
    assert suggested_questions(scope_for(cast.mate)) == ["What should I know about “Boiler”?"]
    assert suggested_questions(scope_for(make_user("newcomer"))) == []


def test_notes_that_cannot_be_found_are_not_asked_about(cast: Cast) -> None:
    make_note(cast.vault, title="Boiler", status=Note.Status.FAILED)
    make_note(cast.vault, title="A picture", kind="canvas")
    make_note(cast.vault, title="Golden questions", path="golden-questions.md")
    make_note(cast.vault, title="More", path="b.md", properties={"type": "golden-questions"})
    assert suggested_questions(scope_for(cast.mate)) == []


def test_no_vault_fills_the_page_alone(cast: Cast) -> None:
    other = make_vault("second", owner=cast.owner)
    for number in range(6):
        make_note(cast.vault, title=f"Boiler {number}", file_modified=DAY)
    make_note(other, title="Garden", file_modified=DAY - timedelta(days=900))
    questions = suggested_questions(scope_for(cast.owner))
    assert len(questions) == 4
    assert any("Garden" in question for question in questions)


def test_the_newest_notes_come_first_and_no_question_twice(cast: Cast) -> None:
    make_note(cast.vault, title="Old", path="old.md", file_modified=DAY - timedelta(days=9))
    make_note(cast.vault, title="Newest", path="a.md", headings=[heading("Why so?")])
    make_note(cast.vault, title="Newer", path="b.md", headings=[heading("Why so?")])
    questions = suggested_questions(scope_for(cast.mate))
    assert questions[0] == "Why so?"
    assert questions.count("Why so?") == 1
