"""Candidates become hits: only those that their asker may read."""

from __future__ import annotations

import pytest

from retrieval.core.types import Candidate
from retrieval.hits import list_hits, load_hits
from tests.cast import Cast
from tests.retrieval.library import write_note
from vault.access import scope_for
from vault.models import Chunk, Note, VaultMember

TEXT = "The blue pump stands in the cellar and is serviced in May."


@pytest.fixture
def copies(cast: Cast) -> Cast:
    """One text in the team's vault, in a folder of it that the mate may not read, and in the
    foreign one."""
    write_note(cast.foreign_vault, "Foreign.md", TEXT)
    write_note(cast.vault, "Closed/Copy.md", TEXT)
    write_note(cast.vault, "Open.md", TEXT)
    member = VaultMember.objects.filter(vault=cast.vault, user=cast.mate)
    member.update(hidden_folders=["Closed"])
    return cast


def candidates() -> list[Candidate]:
    """Every passage there is, as if a search without regard to rights had found it."""
    rows = Chunk.objects.order_by("pk").values_list("pk", "note_id")
    return [Candidate(chunk_id=pk, note_id=note, score=1.0) for pk, note in rows]


def test_what_may_not_be_read_is_neither_a_hit_nor_named_as_a_copy(copies: Cast) -> None:
    found = load_hits(candidates(), scope=scope_for(copies.mate), words=(), most=10)
    assert [(hit.path, hit.also_in) for hit in found.hits] == [("Open.md", ())]
    assert not found.has_copies
    found = load_hits(candidates(), scope=scope_for(copies.owner), words=(), most=10)
    [hit] = found.hits
    assert {hit.path, *(copy.path for copy in hit.also_in)} == {"Open.md", "Closed/Copy.md"}
    listed = list_hits(candidates(), scope=scope_for(copies.mate))
    assert [hit.path for hit in listed] == ["Open.md"]


def test_what_vanished_meanwhile_is_left_out_and_the_ranks_close_up(copies: Cast) -> None:
    write_note(copies.vault, "Other.md", "Another text.")
    found = candidates()
    Note.objects.filter(path="Closed/Copy.md").delete()
    hits = load_hits(found, scope=scope_for(copies.owner), words=(), most=10).hits
    assert [(hit.rank, hit.path) for hit in hits] == [(1, "Open.md"), (2, "Other.md")]
