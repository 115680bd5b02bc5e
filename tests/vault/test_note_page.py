"""What surrounds a note: only what its reader may see, and whether a citation still holds."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django import Settings

from tests.cast import Cast
from tests.vault.core.rendering.page import Page
from tests.vault.notes import make_link, make_model, make_note, make_vector
from vault import note_page as module
from vault.access import User
from vault.models import Chunk, Note, ScrubFinding, VaultMember
from vault.note_page import MOST_LINKED, CitedText, NotePage, note_page
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


def test_a_page_names_some_of_many_links_and_counts_the_others(cast: Cast) -> None:
    note = make_note(cast.vault, "a.md", "words")
    for number in range(MOST_LINKED + 2):
        other = make_note(cast.vault, f"{number:02}.md")
        make_link(other, note)
        make_link(note, other)
    page = open_page(cast, note)
    assert (len(page.backlinks), page.more_backlinks) == (MOST_LINKED, 2)
    assert (len(page.outgoing), page.more_outgoing) == (MOST_LINKED, 2)
    client = Client()
    client.force_login(cast.mate)
    assert client.get("/vaults/team/notes/a.md").content.decode().count("and 2 more") == 2


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

    def test_an_edited_passage_is_shown_as_it_was_with_what_says_it_now(self, cast: Cast) -> None:
        note = make_note(cast.vault, "a.md", "A preface. The pump fails at 60 degrees.")
        page = open_page(cast, note, span=(10, 10 + len(THEN)), source_id=1)
        assert page.cited is not None
        assert (page.cited.state, page.cited.then) == ("gone", THEN.strip())
        assert Page(page.rendered.html).cited == "The pump fails at 60 degrees."

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


def embed(source: Note, target: Note, anchor: str = "") -> None:
    """`![[target#anchor]]` as the sync stores it."""
    link = make_link(source, target)
    link.anchor, link.is_embed = anchor, True
    link.save()


HEADINGS = [
    {"level": 2, "text": "Start", "start": 0, "line": 1},
    {"level": 2, "text": "Drill", "start": 16, "line": 5},
]


def test_an_embedded_section_is_shown_in_a_card_under_a_link_to_its_note(cast: Cast) -> None:
    pump = make_note(
        cast.vault, "Pump.md", "## Start\n\nOne.\n\n## Drill\n\nPull the lever.", headings=HEADINGS
    )
    note = make_note(cast.vault, "a.md", "# Drill\n\n![[Pump#Drill]]\n\nInside ![[Pump]] a line.")
    embed(note, pump, "Drill")
    html = open_page(cast, note).rendered.html
    page = Page(html)
    assert "Pull the lever." in page.text
    assert "One." not in page.text
    assert html.count('class="embed"') == 2
    assert page.all("a")[0]["href"] == "/vaults/team/notes/Pump.md#h-drill"
    assert len([ident for _, attrs in page.elements if (ident := attrs.get("id"))]) == 1


def test_an_embedded_block_or_code_is_shown_and_a_missing_part_is_a_link(cast: Cast) -> None:
    pump = make_note(cast.vault, "Pump.md", "One.\n\n- two\n- three ^b1\n")
    code = make_note(cast.vault, "a.py", "def drain(): pass", kind="code", language="python")
    note = make_note(cast.vault, "a.md", "![[Pump#^b1]]\n\n![[a.py]]\n\n![[Pump#Nowhere]]")
    embed(note, pump, "^b1")
    embed(note, code)
    make_link(note, code, "a.py")
    page = Page(open_page(cast, note).rendered.html)
    assert "three" in page.text
    assert "two" not in page.text
    assert "def drain(): pass" in page.text
    assert "Pump > Nowhere" in page.text


def test_embeds_in_a_loop_end(cast: Cast) -> None:
    one = make_note(cast.vault, "One.md", "Alpha.\n\n![[Two]]")
    two = make_note(cast.vault, "Two.md", "Beta.\n\n![[One]]")
    embed(one, two)
    embed(two, one)
    text = Page(open_page(cast, one).rendered.html).text
    assert (text.count("Alpha."), text.count("Beta.")) == (1, 1)


def test_nothing_of_a_note_that_the_reader_may_not_read_is_embedded(cast: Cast) -> None:
    hidden = make_note(cast.foreign_vault, "Hidden.md", "Secret words.")
    middle = make_note(cast.vault, "Middle.md", "Seen.\n\n![[Hidden]]")
    note = make_note(cast.vault, "a.md", "![[Hidden]]\n\n![[Middle]]")
    for source, target in ((note, hidden), (note, middle), (middle, hidden)):
        embed(source, target)
    text = Page(open_page(cast, note).rendered.html).text
    assert "Seen." in text
    assert "Secret" not in text


def test_a_page_shows_a_bounded_number_of_embeds(cast: Cast) -> None:
    parts = [
        make_note(cast.vault, f"p{n}.md", f"Part {n}.") for n in range(module.MOST_EMBEDDED + 5)
    ]
    note = make_note(cast.vault, "a.md", "\n\n".join(f"![[p{n}]]" for n in range(len(parts))))
    for part in parts:
        embed(note, part)
    text = Page(open_page(cast, note).rendered.html).text
    assert text.count("Part ") == module.MOST_EMBEDDED


def test_hostile_markup_in_an_embedded_part_is_as_harmless_as_in_a_note(cast: Cast) -> None:
    evil = make_note(cast.vault, "Evil.md", "<script>x</script> [a](javascript:x) <img onerror=x>")
    note = make_note(cast.vault, "a.md", "![[Evil]]")
    embed(note, evil)
    assert Page(open_page(cast, note).rendered.html).live == []


def test_the_picture_shows_notes_around_and_no_closed_one(cast: Cast) -> None:
    note = make_note(cast.vault, "a.md", "[[b]] [[c]]")
    seen, hidden = make_note(cast.vault, "b.md"), make_note(cast.vault, "HR/c.md")
    for target in (seen, hidden):
        make_link(note, target)
    make_link(hidden, seen)
    whole = note_page(cast.owner, note, addresses=PageAddresses()).near
    assert whole is not None
    assert {near.path for _spot, near in whole.spots} == {"a.md", "b.md", "HR/c.md"}
    assert len(whole.lines) == 3
    VaultMember.objects.filter(user=cast.mate).update(hidden_folders=["HR"])
    part = note_page(cast.mate, note, addresses=PageAddresses()).near
    assert part is not None
    assert {near.path for _spot, near in part.spots} == {"a.md", "b.md"}
    assert len(part.lines) == 1
    alone = make_note(cast.vault, "alone.md")
    assert note_page(cast.owner, alone, addresses=PageAddresses()).near is None


def test_what_a_model_said_of_passages_stands_at_their_headings_and_in_a_list(cast: Cast) -> None:
    body = "# A\n\nOne.\n\n## B\n\nTwo.\n"
    note = make_note(cast.vault, "a.md", body)
    for ordinal, (path, summary, start) in enumerate(
        [(["A"], "What one says.", 0), (["A", "B"], "", 11), (["A", "B"], "<b>Two</b>.", 17)]
    ):
        Chunk.objects.create(
            vault=cast.vault, note=note, ordinal=ordinal, heading_path=path, content="x",
            summary=summary, start=start, end=start + 4, start_line=1, end_line=1, tokens=1,
            embed_hash="x",
        )  # fmt: skip
    page = open_page(cast, note)
    assert [(entry.text, gist) for entry, gist in page.outline] == [
        ("A", "What one says."), ("B", "<b>Two</b>."),
    ]  # fmt: skip
    client = Client()
    client.force_login(cast.mate)
    html = client.get("/vaults/team/notes/a.md").content.decode()
    assert 'title="What one says."' in html
    assert '<a href="?span=17-21">&lt;b&gt;Two&lt;/b&gt;.</a>' in html
