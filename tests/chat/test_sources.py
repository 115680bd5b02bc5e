"""What an answer cited is told to the one who asked, and to nobody else."""

from __future__ import annotations

from chat.models import Conversation, Message, Source
from chat.sources import cited_text
from tests.cast import Cast
from tests.vault.notes import make_note


def make_source(cast: Cast) -> Source:
    """A passage that an answer to `mate` cites."""
    note = make_note(cast.vault, "a.md", "words")
    conversation = Conversation.objects.create(owner=cast.mate)
    message = Message.objects.create(conversation=conversation, role=Message.Role.ASSISTANT)
    return Source.objects.create(
        message=message, number=1, vault=cast.vault, note=note, path=note.path, title=note.title,
        text="words then", start=3, end=13, note_hash="then",
    )  # fmt: skip


def test_the_asker_is_told_the_text_as_it_was(cast: Cast) -> None:
    source = make_source(cast)
    assert source.note_id is not None
    told = cited_text(cast.mate, source.pk, source.note_id)
    assert told is not None
    assert (told.text, told.start, told.note_hash) == ("words then", 3, "then")


def test_others_and_other_notes_are_told_nothing(cast: Cast) -> None:
    source = make_source(cast)
    assert source.note_id is not None
    assert cited_text(cast.owner, source.pk, source.note_id) is None
    assert cited_text(cast.mate, source.pk, source.note_id + 1) is None
    assert cited_text(cast.mate, source.pk + 1, source.note_id) is None
