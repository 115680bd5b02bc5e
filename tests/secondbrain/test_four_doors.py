"""One search behind four doors: page, chat, REST and agents rank the same notes alike."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.contrib.auth.models import User
from django.test import Client

from retrieval.core.types import Knobs
from retrieval.models import RetrievalRun
from retrieval.pipeline import retrieve
from secondbrain.mcp_tools import Agent, call_tool
from tests.cast import Cast, make_user
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.access import scope_for
from vault.models import VaultMember
from vault.tokens import create_token, find_token

pytestmark = pytest.mark.django_db

QUERIES = 200
WORDS = (
    *("pump", "cellar", "boiler", "valve", "mill", "seal"),
    *("backup", "invoice", "payroll", "garden", "tomato", "export"),
)
NAMES = ("INV/2026/00037", "DS-7604", "C++", "C#", ".NET", "v3.21.5", "mira@example.com", "насос")
LIMIT = 10

# A door: the ids of the notes that a user finds, best first.
Door = Callable[[str], list[int]]


@pytest.fixture
def library(cast: Cast) -> Cast:
    """Every word stands in several notes of either vault; part of one is closed to the mate."""
    dice = random.Random(1)
    for vault in (cast.vault, cast.foreign_vault):
        for number in range(24):
            folder = "Closed" if number % 3 == 0 else "Open"
            texts = [" ".join(dice.choices((*WORDS, *NAMES), k=12)) for _ in range(2)]
            write_note(vault, f"{folder}/{number:02}.md", *texts)
        embed(vault, vault.embedding_model or make_embedding_model(vault.slug))
    member = VaultMember.objects.filter(vault=cast.vault, user=cast.mate)
    member.update(hidden_folders=["Closed"])
    return cast


def questions() -> list[str]:
    dice = random.Random(2)
    return [
        " ".join(dice.choices(WORDS, k=dice.randint(1, 4)) + dice.choices(NAMES, k=number % 2))
        for number in range(QUERIES)
    ]


def doors(user: User, client: Client) -> dict[str, Door]:
    client.force_login(user)
    token = find_token(create_token(user))
    assert token is not None
    agent = Agent(user_id=user.pk, token_id=token.pk)
    scope = scope_for(user)

    def page(query: str) -> list[int]:
        reply = client.get(
            "/search", {"q": query, "limit": str(LIMIT)}, headers={"HX-Request": "true"}
        )
        return [hit.note_id for hit in reply.context["result"].hits]

    def rest(query: str) -> list[int]:
        reply = client.get("/api/search", {"q": query, "limit": str(LIMIT)})
        return [row["note_id"] for row in reply.json()["results"]]

    def agents(query: str) -> list[int]:
        found: dict[str, Any] = async_to_sync(call_tool)(
            agent, "search", {"query": query, "limit": LIMIT}
        )
        return [int(row["section"].partition("@")[0]) for row in found["results"]]

    def chat(query: str) -> list[int]:
        found = async_to_sync(retrieve)(query, history=[], scope=scope, knobs=Knobs())
        if found.run_id is None:
            return []
        candidates = RetrievalRun.objects.get(pk=found.run_id).candidates
        return list(dict.fromkeys(each["note_id"] for each in candidates))[:LIMIT]

    return {"page": page, "rest": rest, "agents": agents, "chat": chat}


@pytest.mark.parametrize("person", ["owner", "mate", "outsider"])
def test_four_doors_give_the_same_notes_in_the_same_order(
    library: Cast, client: Client, person: str
) -> None:
    people = ("owner", "mate", "outsider")
    opened = doors(getattr(library, person), client)
    for query in questions()[people.index(person) :: len(people)]:
        found = {name: door(query) for name, door in opened.items()}
        assert found["page"], query
        assert found == dict.fromkeys(found, found["page"]), query


def test_whoever_may_read_nothing_finds_nothing_behind_any_door(library: Cast) -> None:
    for name, door in doors(make_user("stranger"), Client()).items():
        assert door("pump") == [], name
