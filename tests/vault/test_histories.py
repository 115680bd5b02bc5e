"""Whatever happened in the folder: after a sync the tables are those of a vault read anew."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from tests.vault.folders import Folder, make_folder, snapshot
from vault.models import Chunk, Note, Vault
from vault.sync import answer_pause

pytestmark = pytest.mark.django_db

NAMES = ("a.md", "b.md", "sub/a.md", "sub/c.md", "Ä.md", "deep/er/d.md")
PARTS = (
    "# Title\n\n",
    "---\ntitle: Named\naliases: [b]\n---\n",
    "---\nbroken: [\n---\n",
    "Plain words about quorvex.\n\n",
    "See [[a]] and [[sub/c|that]] and ![[missing]].\n\n",
    "![[b]]\n\n",
    "Also ![[sub/c#Section]] and ![[a]].\n\n",
    "[[b]] [[Named]] [[d]]\n\n",
    "## Section\n\n" + "A longer paragraph about zelmira. " * 30 + "\n\n",
    "## Section\n\n" + "Another paragraph on tulmane. " * 30 + "\n\n",
    "```python\n# no heading\n```\n\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "\x00\r\n",
)

texts = st.lists(st.sampled_from(PARTS), max_size=6).map("".join)
names = st.sampled_from(NAMES)
edits = st.one_of(
    st.tuples(st.just("write"), names, texts),
    st.tuples(st.just("move"), names, names),
    st.tuples(st.just("swap"), names, names),
    st.tuples(st.just("move and edit"), names, names),
    st.tuples(st.just("other case"), names, names),
    st.tuples(st.just("copy"), names, names),
    st.tuples(st.just("delete"), names, names),
)
days = st.lists(st.lists(edits, min_size=1, max_size=5), min_size=2, max_size=4)


def apply(folder: Folder, edit: tuple[str, str, str]) -> None:
    """One thing that a person does in a folder."""
    verb, name, other = edit
    file = folder.root / name
    if verb == "write":
        folder.write(name, other)
    elif not file.exists() or name == other:
        return
    elif verb == "move":
        folder.move(name, other)
    elif verb == "move and edit":
        folder.write(other, file.read_bytes() + b"\n\nOne more sentence about rolmane.\n")
        file.unlink()
    elif verb == "other case":
        folder.move(name, name.upper().replace(".MD", ".md"))
    elif verb == "copy":
        folder.write(other, file.read_bytes())
    elif verb == "delete":
        file.unlink()
    elif (folder.root / other).exists():
        folder.move(name, "aside.tmp")
        folder.move(other, name)
        folder.move("aside.tmp", other)


def sync(folder: Folder) -> None:
    """As somebody does who says yes to every question."""
    Vault.objects.filter(pk=folder.vault.pk).update(loss_allowed=True)
    folder.sync()
    answer_pause(folder.vault.pk, delete=True)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(history=days)
def test_after_any_history_the_index_is_the_one_built_from_nothing(
    history: list[list[tuple[str, str, str]]], db: None
) -> None:
    root = Path(tempfile.mkdtemp())
    try:
        with transaction.atomic():
            folder = make_folder(root / "lived")
            for day in history:
                for edit in day:
                    note(repr(edit))
                    apply(folder, edit)
                sync(folder)
            fresh = make_folder(root / "lived")
            sync(fresh)
            assert snapshot(folder.vault) == snapshot(fresh.vault)
            assert_in_order(folder.vault)
            again = folder.sync()
            assert again.counts["changes"] == 0
            transaction.set_rollback(True)
    finally:
        shutil.rmtree(root)


def assert_in_order(vault: Vault) -> None:
    """Chunks count from 0 without a gap, and every one belongs to a note of its vault."""
    for row in Note.objects.filter(vault=vault):
        ordinals = list(row.chunks.order_by("ordinal").values_list("ordinal", flat=True))
        assert ordinals == list(range(len(ordinals)))
        for chunk in row.chunks.all():
            assert 0 <= chunk.start <= chunk.end <= len(row.body)
    assert not Chunk.objects.filter(vault=vault).exclude(note__vault=vault).exists()


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ring=st.permutations(NAMES[:5]), rewritten=st.booleans())
def test_notes_keep_their_ids_however_they_trade_names(
    ring: list[str], *, rewritten: bool, db: None
) -> None:
    root = Path(tempfile.mkdtemp())
    try:
        with transaction.atomic():
            folder = make_folder(root / "lived")
            for number, name in enumerate(NAMES[:5]):
                folder.write(name, f"# Own text {number}\n\nOf note {number}.")
            sync(folder)
            before = {row.body: row.pk for row in Note.objects.filter(vault=folder.vault)}
            contents = [(folder.root / name).read_bytes() for name in NAMES[:5]]
            for name, content in zip(ring, contents, strict=True):
                folder.write(name, content)
            if rewritten:
                folder.write(ring[0], "# A new text\n\nOf nobody.")
            sync(folder)
            after = {row.body: row.pk for row in Note.objects.filter(vault=folder.vault)}
            kept = after.keys() & before.keys()
            assert len(kept) == (4 if rewritten else 5)
            assert {body: after[body] for body in kept} == {body: before[body] for body in kept}
            transaction.set_rollback(True)
    finally:
        shutil.rmtree(root)
