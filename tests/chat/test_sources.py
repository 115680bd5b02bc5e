"""Passages of an answer: kept, shown, quoted."""

from __future__ import annotations

import re
from dataclasses import replace

from django.template.loader import render_to_string

from chat.core.asking import Ask
from chat.history import open_turn
from chat.models import Message
from chat.presenters.cards import source_card
from chat.sources import (
    arms_json,
    note_url,
    outline_of,
    passage_json,
    quotable,
    quotables_of,
    save_sources,
)
from retrieval.core.types import Arm, Copy, Retrieval
from tests.cast import Cast
from tests.chat.world import PUMP, make_passage
from vault.access import User, scope_for
from vault.models import Note, VaultMember


def retrieval(cast: Cast) -> Retrieval:
    first = make_passage(cast.vault)
    second = replace(make_passage(cast.vault, number=2), note_id=10**9)
    return Retrieval(("q",), (first, second), (), {}, ("team",))


def open_answer(cast: Cast) -> Message:
    turn = open_turn(cast.mate, Ask(text="When?"), owner_process="here", lease_seconds=15)
    return Message.objects.get(pk=turn.ids.message)


def test_passages_are_kept_in_order_with_their_note(cast: Cast) -> None:
    answer = open_answer(cast)
    kept = save_sources(answer.pk, retrieval(cast))
    assert [source.number for source in kept] == [1, 2]
    assert kept[0].note is not None
    assert kept[0].note_hash == "0" * 64
    assert kept[1].note is None, "it was deleted while the search ran"
    assert [q.number for q in quotables_of(answer)] == [1, 2]


def test_a_passage_is_shown_with_all_that_a_reader_asks_for(cast: Cast) -> None:
    source = save_sources(open_answer(cast).pk, retrieval(cast))[0]
    assert passage_json(source, scope_for(cast.mate)) == {
        "number": 1,
        "title": "Pump 1",
        "path": "Notes/Pump 1.md",
        "vault": "team",
        "vault_name": "Team",
        "heading_path": ["Pump 1", "Failure"],
        "text": PUMP,
        "start": 0,
        "end": len(PUMP),
        "url": f"/vaults/team/notes/Notes/Pump%201.md?span=0-{len(PUMP)}&source={source.pk}",
        "arms": ["keyword 1"],
        "updated": "2026-03-04T05:06:07+00:00",
        "date": "2026-03-04",
        "status": "",
        "superseded_by": "",
        "valid_until": "",
        "also_in": [],
    }


def test_of_the_notes_that_said_the_same_only_those_are_named_that_the_reader_may_open(
    cast: Cast,
) -> None:
    copies = (
        Copy(11, "team", "Old/Pump.md", "Pump", (0, 5)),
        Copy(12, "team", "Closed/Pump.md", "Pump", (0, 5)),
        Copy(13, "foreign", "Pump.md", "Pump", (0, 5), is_outdated=True),
    )
    passage = make_passage(cast.vault, also_in=copies)
    found = Retrieval(("q",), (passage,), (), {}, ("team", "foreign"))
    source = save_sources(open_answer(cast).pk, found)[0]

    def named(user: User) -> list[tuple[str, str]]:
        also_in = passage_json(source, scope_for(user))["also_in"]
        return [(each["vault"], each["path"]) for each in also_in]

    assert named(cast.mate) == [("team", "Old/Pump.md"), ("team", "Closed/Pump.md")]
    member = VaultMember.objects.filter(vault=cast.vault, user=cast.mate)
    member.update(hidden_folders=["Closed"])
    assert named(cast.mate) == [("team", "Old/Pump.md")]
    assert named(cast.outsider) == [("foreign", "Pump.md")]
    assert passage_json(source, scope_for(cast.outsider))["also_in"][0] == {
        "vault": "foreign",
        "path": "Pump.md",
        "title": "Pump",
        "url": "/vaults/foreign/notes/Pump.md",
        "outdated": True,
    }
    card = source_card(passage_json(source, scope_for(cast.mate)), quote="", now=None)
    assert [(copy.place, copy.url) for copy in card.copies] == [
        ("Old/Pump.md", "/vaults/team/notes/Old/Pump.md")
    ]


def test_a_card_names_two_copies_and_counts_the_rest(cast: Cast) -> None:
    copies = tuple(Copy(n, "team", f"{n}.md", "Pump", (0, 5)) for n in range(5))
    passage = make_passage(cast.vault, also_in=copies)
    found = Retrieval(("q",), (passage,), (), {}, ("team",))
    source = save_sources(open_answer(cast).pk, found)[0]
    shown = passage_json(source, scope_for(cast.mate))
    card = source_card(shown, quote="", now=None)
    assert card.also_in == "0.md, 1.md and 3 more"
    html = render_to_string("chat/source.html", {"source": card})
    links = re.findall(r'<a href="(.*?)">(\d\.md)</a>', html)
    assert links == [(f"/vaults/team/notes/{n}.md", f"{n}.md") for n in range(5)]


def test_a_note_that_is_gone_is_still_quoted(cast: Cast) -> None:
    answer = open_answer(cast)
    save_sources(answer.pk, retrieval(cast))
    cast.vault.delete()
    source = answer.sources.select_related("vault").first()
    assert source is not None
    assert quotable(source).text == PUMP
    shown = passage_json(source, scope_for(cast.mate))
    assert (shown["vault"], shown["url"]) == ("", "")


def test_addresses_of_strange_paths_are_quoted() -> None:
    assert note_url("team", "a b/ü?#.md") == "/vaults/team/notes/a%20b/%C3%BC%3F%23.md"


def test_what_every_arm_did_is_told() -> None:
    arms = [Arm("keyword", ran=True, found=3, path="index"), Arm("meaning", ran=False, reason="x")]
    assert arms_json(arms) == [
        {"name": "keyword", "ran": True, "reason": "", "found": 3, "path": "index"},
        {"name": "meaning", "ran": False, "reason": "x", "found": 0, "path": ""},
    ]


def test_the_outline_is_that_of_the_passage() -> None:
    note = Note(
        title="Pump",
        headings=[
            {"level": 1, "text": "Pump", "start": 0},
            {"level": 2, "text": "Failure", "start": 50},
            {"level": 3, "text": "March", "start": 80},
            {"level": 2, "text": "Repair", "start": 200},
        ],
    )
    failure = ["Pump", "Failure"]
    assert outline_of(note, 60, 200) == [(60, failure), (80, [*failure, "March"])]
    assert outline_of(note, 0, 60) == [(0, ["Pump"]), (50, failure)]
