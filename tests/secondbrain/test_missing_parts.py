"""What is missing is named behind every door, and what is left still answers alike."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from providers.models import EmbeddingModel
from secondbrain.mcp_arguments import ToolRefused
from secondbrain.mcp_tools import Agent, call_tool
from tests.cast import Cast
from tests.retrieval.library import embed, make_embedding_model, write_markdown
from vault.lexemes import refresh_lexemes
from vault.models import Lexeme, LexemeFrequency, LexicalCorpus
from vault.tokens import create_token, find_token

pytestmark = pytest.mark.django_db

QUERY = "blue pump"


@pytest.fixture
def library(cast: Cast) -> Cast:
    write_markdown(cast.vault, "Pumps.md", "# Pumps\n\nThe blue pump stands in the cellar.")
    write_markdown(cast.vault, "Valves.md", "# Valves\n\nThe red valve is beside the pump.")
    write_markdown(cast.vault, "Garden.md", "# Garden\n\nTomatoes need water and sun.")
    embed(cast.vault, make_embedding_model())
    refresh_lexemes(force=True)
    return cast


def page(cast: Cast, query: str) -> tuple[list[int], str]:
    """Notes found, and all that the page says."""
    client = Client()
    client.force_login(cast.owner)
    reply = client.get("/search", {"q": query})
    assert reply.status_code == 200
    result = reply.context.get("result")
    return [hit.note_id for hit in result.hits] if result else [], reply.content.decode()


def rest(cast: Cast, query: str) -> tuple[list[int], dict[str, Any]]:
    client = Client()
    client.force_login(cast.owner)
    reply = client.get("/api/search", {"q": query})
    assert reply.status_code in (200, 400)
    data = reply.json()
    return [row["note_id"] for row in data.get("results", ())], data


def agents(cast: Cast, query: str) -> tuple[list[int], dict[str, Any]]:
    token = find_token(create_token(cast.owner))
    assert token is not None
    agent = Agent(user_id=cast.owner.pk, token_id=token.pk)
    data = async_to_sync(call_tool)(agent, "search", {"query": query, "limit": 20})
    return [int(row["section"].split("@")[0]) for row in data["results"]], data


def said(cast: Cast, words: str, *, arm: str = "meaning") -> list[int]:
    """The notes that all doors find for QUERY, each of them saying `words`."""
    (first, html), (second, told), (third, reply) = (
        page(cast, QUERY),
        rest(cast, QUERY),
        agents(cast, QUERY),
    )
    assert first == second == third
    assert words in html
    assert words in told["arms"][arm]["reason"]
    assert any(words in notice for notice in reply["notices"])
    return first


def test_every_door_says_that_the_embedder_is_off(library: Cast) -> None:
    library.vault.refresh_from_db()
    assert library.vault.embedding_model is not None
    provider = library.vault.embedding_model.provider
    provider.enabled = False
    provider.save()
    assert len(said(library, "switched off")) == 2


def test_every_door_says_that_no_model_serves(library: Cast) -> None:
    library.vault.embedding_model = None
    library.vault.save()
    assert len(said(library, "no embedding model")) == 2


def test_every_door_says_that_vectors_are_missing(library: Cast) -> None:
    EmbeddingModel.objects.update(revision="another")
    assert len(said(library, "no vectors yet")) == 2


def test_without_counts_of_words_the_same_notes_are_found(library: Cast) -> None:
    before = page(library, QUERY)[0]
    for table in (LexemeFrequency, Lexeme, LexicalCorpus):
        table.objects.all().delete()
    found, told = rest(library, QUERY)
    assert found[0] == before[0]
    assert set(found) == set(before)
    assert told["arms"]["keyword"]["ran"]


def test_without_any_indexed_word_meaning_answers_alone(library: Cast) -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE vault_chunk SET text_config = 'simple', content = '', "
                       "heading_text = '', made_tokens = '', embedded_text = ''")  # fmt: skip
    refresh_lexemes(force=True)
    found, told = rest(library, "where is the cellar pump")
    assert found
    assert told["arms"]["meaning"]["ran"]
    assert told["arms"]["keyword"]["found"] == 0


ANYTHING = st.text(st.characters(codec="utf-8"), max_size=80) | st.text(
    alphabet="\"'-&|!():*<>\\%_#@/.,\x00 abя中ก́:[]", max_size=60
).map(lambda text: text * 40)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=ANYTHING)
def test_any_string_of_any_length_is_answered_behind_every_door(library: Cast, query: str) -> None:
    pages = page(library, query)[0]
    scripts, told = rest(library, query)
    try:
        tools = agents(library, query)[0]
    except ToolRefused as refused:
        # A filter that no note fits: REST says the same.
        assert str(refused) in str(told)
        assert pages == scripts == []
        return
    assert tools[: len(pages)] == pages
    assert scripts[: len(pages)] == pages
