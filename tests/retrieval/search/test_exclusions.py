"""What a search leaves out: words and phrases after a minus, at every door."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from providers.models import EmbeddingModel
from retrieval.core.types import Mode
from tests.cast import Cast
from tests.retrieval.library import embed, write_note
from tests.retrieval.search.asking import paths, search
from vault.models import Note

pytestmark = pytest.mark.django_db


@pytest.fixture
def notes(cast: Cast, model: EmbeddingModel) -> Cast:
    """Five notes of a project, of pumps and seals, in two languages."""
    texts = {
        "p/Blue.md": "The blue pump failed in March.",
        "p/Red.md": "The pump of the cellar: blue is its seal.",
        "p/Seal.md": "A seal for the blue pumpkin.",
        "p/Lamp.md": "Lamps are changed every May.",
        "p/水泵.md": "蓝色的水泵在三月坏了 pump",
    }
    for path, text in texts.items():
        write_note(cast.vault, path, text, text_config="simple" if "水" in path else "english")
    Note.objects.update(tags=["project"])
    embed(cast.vault, model)
    return cast


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("tag:project -pump", {"p/Seal.md", "p/Lamp.md"}),
        ("folder:p -pumps -lamp", {"p/Seal.md"}),
        ('tag:project -"blue pump"', {"p/Red.md", "p/Seal.md", "p/Lamp.md", "p/水泵.md"}),
        ('tag:project -"The pump of the cellar: blue"', {"p/Blue.md", "p/Seal.md", "p/Lamp.md",
                                                        "p/水泵.md"}),
        ('kind:note -pump -"every may"', {"p/Seal.md"}),
        ('tag:project -"色的水泵" -lamp', {"p/Blue.md", "p/Red.md", "p/Seal.md"}),
    ],
)  # fmt: skip
def test_filters_list_their_notes_less_the_excluded(
    notes: Cast, query: str, found: set[str]
) -> None:
    assert set(paths(search(notes.owner, query))) == found


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("query", ['-"blue pump" seal', "-“blue pump” seal"])
def test_a_phrase_after_a_minus_is_left_out(notes: Cast, query: str, mode: Mode) -> None:
    found = set(paths(search(notes.owner, query, mode)))
    assert {"p/Red.md", "p/Seal.md"} <= found
    assert "p/Blue.md" not in found


def test_a_phrase_of_stop_words_is_left_out(notes: Cast) -> None:
    assert set(paths(search(notes.owner, 'pump -"of the"', Mode.KEYWORD))) == {
        "p/Blue.md", "p/水泵.md",
    }  # fmt: skip


def test_a_time_that_is_excluded_is_not_asked_for(notes: Cast) -> None:
    result = search(notes.owner, 'pump -"in March"')
    assert "p/Blue.md" not in paths(result)
    assert not any("March" in arm.reason for arm in result.arms)


@pytest.mark.parametrize("query", ["-pump", "-pump -copy", '-"blue pump"'])
def test_exclusions_alone_find_nothing_and_say_why(notes: Cast, query: str) -> None:
    result = search(notes.owner, query)
    assert result.hits == ()
    assert "needs something to find" in result.notices[0]


def test_exclusions_hold_on_the_page_and_for_scripts(notes: Cast) -> None:
    client = Client()
    client.force_login(notes.owner)
    query = {"q": "tag:project -pump"}
    found = client.get(reverse("api-search"), query).json()["results"]
    assert {hit["path"] for hit in found} == {"p/Seal.md", "p/Lamp.md"}
    page = client.get(reverse("search"), query).content.decode()
    assert "Lamp" in page
    assert "Blue" not in page


def test_an_excluded_identifier_is_left_out_in_every_spelling(notes: Cast) -> None:
    write_note(notes.vault, "d/A.md", "The pump DS-7604 hums.")
    write_note(notes.vault, "d/B.md", "The pump ds7604 hums.")
    for query in ("folder:d -ds7604", "folder:d -DS-7604", "folder:d hums -ds7604"):
        assert paths(search(notes.owner, query)) == []
