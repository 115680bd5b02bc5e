"""A stored note is read from its own text as it was from its file."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vault.core.markdown_texts import notes
from vault.core.decoding import decode_note
from vault.core.scrub import scrub
from vault.models import Note
from vault.stored_text import parsed_from_text


@given(notes | st.sampled_from(["---\na: 1\n---\nx", "---\n\nrule", "...\n---\n"]))
@settings(max_examples=60)
def test_a_stored_body_is_parsed_as_it_stands(text: str) -> None:
    body = scrub(decode_note(text.encode("utf-8", "replace")).text or "").text
    note = Note(path="a.md", title="A", tags=["one"], aliases=["First"], body_line=5)
    parsed = parsed_from_text(note, body)
    assert parsed.body == body
    assert (parsed.title, parsed.tags, parsed.aliases) == ("A", ("one",), ("First",))
    assert parsed.body_line == 5
