"""Where the words of a passage lie on disk."""

from __future__ import annotations

import pytest
from django.db import connection

from tests.cast import Cast
from tests.retrieval.library import write_note

pytestmark = pytest.mark.django_db


def beside_rows() -> int:
    """Pieces of values that lie in the table beside the one of passages."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT reltoastrelid::regclass FROM pg_class WHERE oid = 'vault_chunk'::regclass"
        )
        (table,) = cursor.fetchone() or ("",)
        cursor.execute(f"SELECT count(*) FROM {table}")
        (count,) = cursor.fetchone() or (0,)
    return int(count)


def words(count: int) -> str:
    return " ".join(f"word{number:03x}x" for number in range(count))


def test_a_passage_of_the_usual_length_keeps_its_words_and_text_in_its_row(cast: Cast) -> None:
    """A search ranks thousands by their words: each would take pages of another table."""
    before = beside_rows()
    write_note(cast.vault, "a.md", words(170))
    assert beside_rows() == before


def test_of_a_long_passage_the_text_goes_and_the_words_stay(cast: Cast) -> None:
    before = beside_rows()
    note = write_note(cast.vault, "a.md", words(350))
    assert beside_rows() > before
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname, attstorage::text FROM pg_attribute "
            "WHERE attrelid = 'vault_chunk'::regclass AND attname IN ('tsv', 'content')"
        )
        assert dict(cursor.fetchall()) == {"tsv": "m", "content": "x"}
    assert note.chunks.get().content.endswith(words(350)[-8:])
