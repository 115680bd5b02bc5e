"""Passages as cards: what a reader should know of their notes as they are today."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import render_to_string
from django.urls import reverse

from chat.core.sharing import ShareWish
from chat.models import Source
from chat.presenters.cards import NoteNow, SourceCard, card_id, notes_now, source_card
from chat.sharing import make_link, token_of
from chat.sources import passage_json
from tests.cast import Cast
from tests.chat.pages import BODY, add_turn, browser, make_conversation, make_note
from vault.access import scope_for
from vault.models import Chunk, Note

pytestmark = pytest.mark.django_db


@pytest.fixture
def source(cast: Cast) -> Source:
    """The passage of an answer, read from a note that has not changed since."""
    answer = add_turn(
        make_conversation(cast.owner), "When?", "In March [1].", note=make_note(cast.vault)
    )
    source = answer.sources.get()
    source.note_hash = "0" * 64
    source.save()
    return source


def now(source: Source) -> NoteNow:
    return notes_now([str(source.message_id)])[str(source.message_id), source.number]


def change(source: Source, **fields: Any) -> None:
    Note.objects.filter(source=source).update(**fields)


def test_a_note_that_has_not_changed_needs_no_word(source: Source) -> None:
    assert now(source) == NoteNow()


def test_the_line_of_a_model_on_the_passage_comes_along(source: Source, cast: Cast) -> None:
    chunk = Chunk(vault=cast.vault, note=source.note, ordinal=0, content=BODY)
    chunk.heading_path, chunk.start_line, chunk.end_line = ["Pump"], 1, 5
    chunk.start, chunk.end, chunk.tokens, chunk.summary = 0, len(BODY), 9, "When the pump failed."
    chunk.save()
    Source.objects.filter(pk=source.pk).update(chunk=chunk)
    assert now(source).summary == "When the pump failed."


def test_a_passage_is_old_only_once_its_own_text_is_gone(source: Source) -> None:
    change(source, content_hash="1" * 64, body=f"A line before.\n\n{BODY}")
    assert not now(source).is_old
    change(source, body=BODY.replace("March", "May"))
    assert now(source).is_old


def test_a_note_that_is_gone_has_no_text_any_more(source: Source) -> None:
    Note.objects.filter(source=source).delete()
    assert now(source).is_old
    assert now(source).is_gone


def test_a_note_that_was_read_anew_at_its_place_is_not_gone(source: Source, cast: Cast) -> None:
    Note.objects.filter(source=source).delete()
    make_note(cast.vault)
    assert not now(source).is_gone


def test_the_card_of_a_note_that_is_gone_says_so_and_leads_nowhere(
    source: Source, cast: Cast
) -> None:
    answer = {"id": source.message_id}
    shown = passage_json(source, scope_for(cast.owner))
    card = source_card(shown, quote="", now=NoteNow(is_old=True, is_gone=True))
    html = render_to_string("chat/source.html", {"source": card, "answer": answer})
    assert "The note is gone since" in html
    assert f'id="{card_id(str(source.message_id), 1)}"' in html
    assert "href=" not in html
    kept = source_card(shown, quote="", now=NoteNow(is_old=True))
    assert "href=" in render_to_string("chat/source.html", {"source": kept})


def test_a_shared_page_leads_from_the_number_of_a_note_that_is_gone_to_its_card(
    source: Source, cast: Cast
) -> None:
    conversation = source.message.conversation
    token = token_of(make_link(cast.owner, conversation.pk, ShareWish()))
    Note.objects.filter(source=source).delete()
    page = browser(cast.mate).get(reverse("shared", args=[token])).content.decode()
    card = card_id(str(source.message_id), 1)
    assert f'href="#{card}"' in page
    assert f'id="{card}"' in page
    assert "/notes/Pump.md" not in page


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"superseded_by": "[[Pump of 2027]]"}, "Superseded by Pump of 2027"),
        ({"status": "obsolete"}, "Status: obsolete"),
        ({"valid_until": "2020-01-31"}, "Valid until 2020-01-31"),
        ({"status": "draft"}, ""),
    ],
)
def test_a_note_that_holds_no_longer_is_flagged(
    source: Source, properties: dict[str, str], said: str
) -> None:
    change(source, properties=properties)
    assert now(source).flag.startswith(said)
    assert bool(now(source).flag) == bool(said)


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("`up` | starts it; see [[run\\|Run]]", "up · starts it; see Run"),
        ("Run `cat x | grep y`.", "Run cat x | grep y."),
    ],
)
def test_the_cells_of_a_quoted_row_stand_apart(quote: str, shown: str) -> None:
    text = "| a | b |\n|---|---|\n| `up` | starts it; see [[run\\|Run]] |\n\nRun `cat x | grep y`."
    assert SourceCard(1, "t", "w", text, 0, "/u", None, quote=quote).snippet == shown
