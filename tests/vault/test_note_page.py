"""What surrounds a note: only what its reader may see, and whether a citation still holds."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from tests.cast import Cast
from tests.vault.core.rendering.page import Page
from tests.vault.notes import make_link, make_model, make_note, make_vector
from vault import note_page as module
from vault.access import User
from vault.models import Note, ScrubFinding
from vault.note_page import CitedText, NotePage, note_page
from vault.presenters import PageAddresses

THEN = "The pump fails at 40 degrees.\n"


def remembered(user: User, source_id: int, note_id: int) -> CitedText | None:
    """What an answer cited: source 1, of a note that was THEN."""
    return CitedText(THEN, 10, "then") if source_id == 1 else None


def open_page(cast: Cast, note: Note, **options: object) -> NotePage:
    addresses = PageAddresses()
    return note_page(cast.mate, note, addresses=addresses, **options)  # type: ignore[arg-type]


def test_links_lead_to_notes_and_missing_ones_are_listed(cast: Cast) -> None:
    plan = make_note(cast.vault, "Work/Plan.md")
    note = make_note(cast.vault, "a.md", "See [[Plan|the plan]] and [[Nobody]].")
    make_link(note, plan)
    make_link(note, None, "Nobody")
    make_link(note, None, "chart.png")
    page = open_page(cast, note)
    first, second = Page(page.rendered.html).all("a")
    assert first["href"] == "/vaults/team/notes/Work/Plan.md"
    assert "href" not in second
    assert page.outgoing == (plan,)
    assert page.missing_links == ("Nobody",)


def test_backlinks_are_the_notes_that_link_here_once_each(cast: Cast) -> None:
    note, other = make_note(cast.vault, "a.md"), make_note(cast.vault, "b.md")
    for source in (other, other, note):
        make_link(source, note)
    assert open_page(cast, note).backlinks == (other,)


def test_notes_of_vaults_that_the_reader_left_are_not_named(cast: Cast) -> None:
    model = make_model(cast.vault)
    make_model(cast.foreign_vault)
    note = make_note(cast.vault, "a.md", "[[Hidden]]")
    hidden = make_note(cast.foreign_vault, "Hidden.md")
    make_link(note, hidden)
    make_link(hidden, note)
    make_vector(note, model, 1, 0, 0, 0)
    make_vector(hidden, model, 1, 0, 0, 0)
    page = open_page(cast, note)
    assert (page.backlinks, page.outgoing, page.related) == ((), (), ())
    assert "href" not in Page(page.rendered.html).all("a")[0]


def test_neighbours_follow_the_paths_of_the_vault(cast: Cast) -> None:
    first, second, third = (make_note(cast.vault, f"{name}.md") for name in "abc")
    make_note(cast.vault, "bb.md", status=Note.Status.EXCLUDED)
    page = open_page(cast, second)
    assert (page.previous, page.following) == (first, third)
    assert open_page(cast, first).previous is None


def test_findings_are_counted(cast: Cast) -> None:
    note = make_note(cast.vault, "a.md")
    ScrubFinding.objects.create(vault=cast.vault, note=note, kind="jwt", line=3)
    assert open_page(cast, note).findings == 1


def test_a_span_is_marked(cast: Cast) -> None:
    note = make_note(cast.vault, "a.md", "One **two** three.")
    page = open_page(cast, note, span=(4, 11))
    assert Page(page.rendered.html).cited == "two"
    assert page.cited is not None
    assert page.cited.state == "unknown"


def test_a_large_note_is_shown_as_it_stands(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_PARSED", 20)
    note = make_note(cast.vault, "a.md", "# Heading\n\n**bold** words at the end")
    page = Page(open_page(cast, note, span=(11, 19)).rendered.html)
    assert page.cited == "**bold**"
    assert page.all("pre")


def test_code_is_shown_as_code(cast: Cast) -> None:
    note = make_note(cast.vault, "a.py", "return 1", kind="code", language="python")
    assert Page(open_page(cast, note).rendered.html).with_class("k")


@pytest.fixture
def with_memory(settings: Settings) -> None:
    settings.CITED_TEXT = f"{__name__}.remembered"


@pytest.mark.usefixtures("with_memory")
class TestCitedSpan:
    """Source 1 cites THEN, from character 10 on, of a note whose hash was "then"."""

    def test_a_note_that_is_as_it_was_says_nothing(self, cast: Cast) -> None:
        note = make_note(cast.vault, "a.md", "0123456789" + THEN, content_hash="then")
        cited = open_page(cast, note, span=(14, 18), source_id=1).cited
        assert cited is not None
        assert (cited.state, cited.span) == ("same", (14, 18))

    def test_a_passage_that_moved_is_found_again(self, cast: Cast) -> None:
        note = make_note(cast.vault, "a.md", "A new first paragraph.\n\n" + THEN)
        page = open_page(cast, note, span=(14, 18), source_id=1)
        assert page.cited is not None
        assert page.cited.state == "kept"
        assert Page(page.rendered.html).cited == "pump"

    def test_a_passage_that_stayed_where_it_was_is_kept(self, cast: Cast) -> None:
        note = make_note(cast.vault, "a.md", "0123456789" + THEN + "More.")
        cited = open_page(cast, note, span=(14, 18), source_id=1).cited
        assert cited is not None
        assert (cited.state, cited.span) == ("kept", (14, 18))

    def test_a_passage_that_is_gone_is_shown_as_it_was(self, cast: Cast) -> None:
        note = make_note(cast.vault, "a.md", "Rewritten from start to end.")
        page = open_page(cast, note, span=(14, 18), source_id=1)
        assert page.cited is not None
        assert (page.cited.state, page.cited.then) == ("gone", "pump")
        assert page.then_html == "<p>pump</p>\n"
        assert "<mark" not in page.rendered.html

    def test_a_source_of_somebody_else_tells_nothing(self, cast: Cast) -> None:
        note = make_note(cast.vault, "a.md", "Rewritten from start to end.")
        cited = open_page(cast, note, span=(0, 9), source_id=2).cited
        assert cited is not None
        assert (cited.state, cited.then) == ("unknown", "")


def test_without_chat_nobody_is_asked(cast: Cast, settings: Settings) -> None:
    settings.CITED_TEXT = ""
    note = make_note(cast.vault, "a.md", "words")
    cited = open_page(cast, note, span=(0, 5), source_id=1).cited
    assert cited is not None
    assert cited.state == "unknown"
