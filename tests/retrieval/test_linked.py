"""Notes that a passage embeds or links to: last, labelled, and never beyond rights or budget."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asgiref.sync import async_to_sync

from retrieval.core.types import Knobs, Mode, Passage
from retrieval.pipeline import retrieve
from tests.cast import Cast, make_vault
from tests.retrieval.library import write_note
from vault.access import scope_for
from vault.core.folder_rules import FolderRule
from vault.core.types import Scope
from vault.models import Link, Note

pytestmark = pytest.mark.django_db

KEYWORDS = Knobs(mode=Mode.KEYWORD, linked_notes=True)


def link(source: Note, target: Note, *, anchor: str = "", is_embed: bool = False) -> None:
    Link.objects.create(
        vault=source.vault, source=source, target=target, raw_target=target.title, anchor=anchor,
        is_embed=is_embed,
    )  # fmt: skip


def ask(scope: Scope, knobs: Knobs = KEYWORDS) -> tuple[Passage, ...]:
    question = "How is the zelmira pump serviced?"
    return async_to_sync(retrieve)(question, history=(), scope=scope, knobs=knobs).passages


@pytest.fixture
def pump(cast: Cast) -> Note:
    return write_note(cast.vault, "Pump.md", "The zelmira pump is serviced, see Seals.")


def test_a_linked_note_comes_last_and_says_where_it_comes_from(cast: Cast, pump: Note) -> None:
    link(pump, write_note(cast.vault, "Seals.md", "Rings are greased with silicone."))
    found, linked = ask(scope_for(cast.owner))
    assert found.path == "Pump.md"
    assert (linked.number, linked.path, linked.arms) == (2, "Seals.md", ("linked from [1]",))
    assert linked.text == "Rings are greased with silicone."


def test_links_are_followed_only_where_the_setting_says_so(cast: Cast, pump: Note) -> None:
    link(pump, write_note(cast.vault, "Seals.md", "Rings are greased with silicone."))
    passages = ask(scope_for(cast.owner), replace(KEYWORDS, linked_notes=False))
    assert [passage.path for passage in passages] == ["Pump.md"]


def test_what_a_passage_embeds_comes_along_by_itself(cast: Cast, pump: Note) -> None:
    link(pump, write_note(cast.vault, "Seals.md", "Rings are greased."), is_embed=True)
    passages = ask(scope_for(cast.owner), replace(KEYWORDS, linked_notes=False))
    assert [passage.arms for passage in passages][1:] == [("embedded in [1]",)]


def test_a_link_to_a_heading_brings_the_chunk_under_it(cast: Cast, pump: Note) -> None:
    seals = write_note(cast.vault, "Seals.md", "Rings are round.", "Grease is white.")
    seals.chunks.filter(ordinal=1).update(heading_path=["Seals", "Grease"])
    link(pump, seals, anchor="Grease")
    assert ask(scope_for(cast.owner))[1].text == "Grease is white."


def test_a_note_that_may_not_be_read_does_not_come_along(cast: Cast, pump: Note) -> None:
    foreign = make_vault("foreign-notes", owner=cast.outsider)
    link(pump, write_note(foreign, "Seals.md", "Rings are greased."))
    link(pump, write_note(cast.vault, "closed/Pay.md", "Rings are paid for."))
    folders = (FolderRule(cast.vault.pk, never=("closed",)),)
    scope = replace(scope_for(cast.owner), rules=folders)
    assert [passage.path for passage in ask(scope)] == ["Pump.md"]


def test_linked_notes_stay_in_the_budget_and_come_once(cast: Cast, pump: Note) -> None:
    seals = write_note(cast.vault, "Seals.md", "Rings are greased with silicone. " * 20)
    link(pump, seals)
    link(pump, seals)
    link(seals, pump)
    assert [passage.path for passage in ask(scope_for(cast.owner))] == ["Pump.md", "Seals.md"]
    tight = ask(scope_for(cast.owner), replace(KEYWORDS, token_budget=60))
    assert [passage.path for passage in tight] == ["Pump.md"]
