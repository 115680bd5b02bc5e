"""Notes that read alike, within what somebody may read."""

from __future__ import annotations

from tests.cast import Cast
from tests.vault.notes import make_model, make_note, make_vector
from vault.access import scope_for
from vault.models import Note
from vault.related import related_notes


def titles(note: Note, cast: Cast, limit: int = 5) -> list[str]:
    return [row.title for row, _ in related_notes(note, scope=scope_for(cast.mate), limit=limit)]


def test_the_nearest_note_comes_first_and_the_note_itself_never(cast: Cast) -> None:
    model = make_model(cast.vault)
    note, near, far = (make_note(cast.vault, name) for name in ("a.md", "near.md", "far.md"))
    make_vector(note, model, 1, 0, 0, 0)
    make_vector(far, model, 0, 1, 0, 0)
    make_vector(near, model, 1, 0.2, 0, 0)
    found = related_notes(note, scope=scope_for(cast.mate))
    assert [row.title for row, _ in found] == ["near", "far"]
    assert found[0][1] > 0.97
    assert titles(note, cast, limit=1) == ["near"]


def test_notes_of_unreadable_vaults_are_left_out(cast: Cast) -> None:
    model = make_model(cast.vault)
    make_model(cast.foreign_vault)
    note = make_note(cast.vault, "a.md")
    make_vector(note, model, 1, 0, 0, 0)
    make_vector(make_note(cast.foreign_vault, "hidden.md"), model, 1, 0, 0, 0)
    assert titles(note, cast) == []


def test_vectors_of_another_make_are_never_compared(cast: Cast) -> None:
    model = make_model(cast.vault)
    note, other = make_note(cast.vault, "a.md"), make_note(cast.vault, "b.md")
    make_vector(note, model, 1, 0, 0, 0)
    vector = make_vector(other, model, 1, 0, 0, 0)
    vector.fingerprint = "earlier"
    vector.save()
    assert titles(note, cast) == []


def test_a_note_without_a_vector_has_no_relatives(cast: Cast) -> None:
    make_model(cast.vault)
    assert titles(make_note(cast.vault, "a.md"), cast) == []
    cast.vault.embedding_model = None
    assert titles(make_note(cast.vault, "b.md"), cast) == []
