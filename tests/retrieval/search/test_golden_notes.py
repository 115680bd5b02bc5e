"""Notes of golden questions are read and never found: they hold every question."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.urls import reverse

from retrieval.core.types import Knobs, Mode
from retrieval.pipeline import retrieve
from tests.cast import Cast
from tests.retrieval.library import write_note
from tests.retrieval.search.asking import paths, search
from vault.access import scope_for
from vault.models import Chunk, Note

pytestmark = pytest.mark.django_db

GOLDEN: dict[str, dict[str, object]] = {
    "golden-questions.md": {},
    "Ops/Golden-Questions.md": {},
    "Heron questions.md": {"type": " Golden-Questions"},
    "Golden heron.md": {"golden-questions": True},
}


@pytest.fixture
def notes(cast: Cast) -> Cast:
    """Golden notes as the index writes them, and others that are nearly called so."""
    for path, properties in GOLDEN.items():
        write_note(cast.vault, path, "Where does the heron sleep?", properties=properties)
    Chunk.objects.all().delete()
    write_note(cast.vault, "About golden-questions.md", "What they are.", title="About them")
    write_note(cast.vault, "Heron.md", "The heron sleeps.", properties={"type": "bird"})
    write_note(cast.vault, "No.md", "It says no.", properties={"golden-questions": False})
    Note.objects.update(tags=["all"])
    return cast


@pytest.mark.parametrize(
    "query",
    ["golden", "golden-questions", "Heron questions", "heron", "Golden heron", "Where does the",
     "tag:all", "tag:all golden-questions", "vault:team -pump"],
)  # fmt: skip
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.KEYWORD])
def test_no_arm_and_no_list_finds_golden_questions(notes: Cast, query: str, mode: Mode) -> None:
    assert not GOLDEN.keys() & set(paths(search(notes.owner, query, mode)))


def test_other_notes_are_found_as_ever(notes: Cast) -> None:
    assert len(paths(search(notes.owner, "tag:all"))) == 3
    assert paths(search(notes.owner, "About them")) == ["About golden-questions.md"]


def test_scripts_and_answers_find_none_either(notes: Cast) -> None:
    client = Client()
    client.force_login(notes.owner)
    found = client.get(reverse("api-search"), {"q": "golden-questions"}).json()["results"]
    assert not GOLDEN.keys() & {hit["path"] for hit in found}
    answer = async_to_sync(retrieve)(
        "golden-questions", history=(), scope=scope_for(notes.owner), knobs=Knobs()
    )
    assert not GOLDEN.keys() & {passage.path for passage in answer.passages}
