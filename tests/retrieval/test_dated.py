"""A time in a question is enough to find the notes of those days."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from asgiref.sync import async_to_sync
from django.utils import timezone

from retrieval.core.types import Knobs, Mode
from retrieval.pipeline import retrieve
from tests.cast import Cast
from tests.retrieval.library import write_note
from tests.retrieval.search.asking import paths, search
from tests.retrieval.test_far import place
from vault.access import scope_for
from vault.models import Note

pytestmark = pytest.mark.django_db

FAR_QUESTION = "Was haben wir letzte Woche beschlossen?"


@pytest.fixture
def notes(cast: Cast) -> Cast:
    """Notes of last week, of today and of long ago; golden questions of last week."""
    week = timezone.localdate() - timedelta(days=timezone.localdate().weekday() + 7)
    days = {"Council.md": week, "Later.md": week + timedelta(days=3), "Old.md": week.replace(2020)}
    for path, day in days.items():
        write_note(cast.vault, path, "The tariff was raised.", properties={"date": f"{day}"})
    write_note(cast.vault, "golden-questions.md", "Tariff?", properties={"date": f"{week}"})
    write_note(cast.foreign_vault, "Theirs.md", "Secret.", properties={"date": f"{week}"})
    return cast


def test_what_the_time_of_a_question_finds_is_never_too_far(notes: Cast) -> None:
    for note in Note.objects.filter(path__in=["Council.md", "Old.md"]):
        place(notes, note, FAR_QUESTION, cosine=0.1)
    found = async_to_sync(retrieve)(
        FAR_QUESTION, history=(), scope=scope_for(notes.owner), knobs=Knobs()
    )
    assert found.passages[0].path == "Council.md"
    assert "Old.md" not in {passage.path for passage in found.passages}
    assert "days" in found.passages[0].arms


@pytest.mark.parametrize("query", ["letzte Woche", "what was last week?", "notes of last week"])
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.KEYWORD])
def test_a_question_of_a_time_alone_lists_the_notes_of_those_days(
    notes: Cast, query: str, mode: Mode
) -> None:
    assert paths(search(notes.owner, query, mode)) == ["Later.md", "Council.md"]


def test_filters_and_exclusions_hold_for_notes_of_those_days(notes: Cast) -> None:
    assert paths(search(notes.owner, "last week path:Coun")) == ["Council.md"]
    assert paths(search(notes.owner, "last week -tariff")) == []


def test_a_time_without_notes_finds_what_else_there_is(notes: Cast) -> None:
    assert "Council.md" in paths(search(notes.owner, "tariff in March 2001"))
    assert paths(search(notes.owner, "in March 2001")) == []


def test_the_days_of_a_note_without_a_date_are_those_of_the_readers_zone(cast: Cast) -> None:
    note = write_note(cast.vault, "Evening.md", "The pump was serviced.")
    Note.objects.filter(pk=note.pk).update(file_modified=datetime(2026, 3, 1, 12, tzinfo=UTC))
    for zone, day in (("UTC", "2026-03-01"), ("Pacific/Kiritimati", "2026-03-02")):
        with timezone.override(zone):
            assert paths(search(cast.owner, f"pump after:{day}")) == ["Evening.md"]
            assert paths(search(cast.owner, f"after:{day}")) == ["Evening.md"]
            assert paths(search(cast.owner, f"pump before:{day}")) == []
    with timezone.override("America/Los_Angeles"):
        assert paths(search(cast.owner, "pump after:2026-03-02")) == []
