"""Search in one's own messages."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chat.models import Conversation
from chat.searching import find_messages
from tests.cast import Cast
from tests.chat.pages import add_turn, browser, make_conversation, make_note

# What Django makes of the condition, with a word to look for.
WORDS = (
    "EXPLAIN SELECT id FROM chat_message WHERE "
    "to_tsvector('simple'::regconfig, COALESCE(LEFT(text, 200000), '')) @@ "
    "to_tsquery('simple'::regconfig, 'pump')"
)


def found(cast: Cast, wanted: str) -> list[str]:
    return [str(hit.conversation) for hit in find_messages(cast.owner, wanted)]


@pytest.mark.parametrize(
    "wanted",
    [
        "repaired",
        "REPAIRED hours",
        "hours repaired",
        "repai",
        "INV/2026/00037",
        "three ho",
        "repiared",
        "泵",
        "100%",
    ],
)
def test_a_message_is_found_by_its_words_parts_and_slips(cast: Cast, wanted: str) -> None:
    conversation = make_conversation(cast.owner, title="Pump")
    add_turn(conversation, "And?", "It was repaired in three hours, INV/2026/00037, 100% 水泵.")
    add_turn(make_conversation(cast.owner, title="Other"), "Birds?", "Herons stand still.")
    assert found(cast, wanted) == ["Pump"]


def test_a_hit_opens_at_its_message(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    first = add_turn(conversation, "When?", "The wemrick failed in March.")
    add_turn(conversation, "And?", "Nothing.")
    page = browser(cast.owner).get(reverse("conversations"), {"q": "wemrick"}).content.decode()
    address = reverse("conversation", args=[conversation.pk])
    assert f'href="{address}?at={first.pk}#m-{first.pk}"' in page
    assert "<mark>wemrick</mark>" in page
    shown = browser(cast.owner).get(address, {"at": str(first.pk)}).content.decode()
    assert f'id="m-{first.pk}"' in shown


def test_titles_are_found_and_wildcards_and_nul_are_plain_characters(cast: Cast) -> None:
    make_conversation(cast.owner, title="100% sure")
    make_conversation(cast.owner, title="1000 pumps")
    assert found(cast, "100%\x00") == ["100% sure"]
    assert found(cast, "  ") == []


def test_only_what_is_ones_own_and_listed_is_found(cast: Cast) -> None:
    hidden: list[dict[str, Any]] = [{"owner": cast.mate}, {"owner": cast.owner, "temporary": True}]
    for fields in hidden:
        made = Conversation.objects.create(title="wemrick", **fields)
        add_turn(made, "The wemrick?", "The wemrick.")
    assert found(cast, "wemrick") == []
    archived = Conversation.objects.create(owner=cast.owner, title="x", archived=True)
    add_turn(archived, "Who?", "The wemrick.")
    assert found(cast, "wemrick") == ["x"]


def test_what_may_not_be_read_any_more_is_not_guessed_letter_by_letter(cast: Cast) -> None:
    note = make_note(cast.vault)
    made = Conversation.objects.create(owner=cast.mate, title="Pump")
    add_turn(made, "What?", "It is the wemrick. [1]", note=note)
    assert find_messages(cast.mate, "wemr")
    cast.vault.members.filter(user=cast.mate).delete()
    for wanted in ("wemr", "wemrick", "wemrikc"):
        assert find_messages(cast.mate, wanted) == []


def test_without_trigrams_a_slip_finds_nothing_and_words_still_do(cast: Cast) -> None:
    add_turn(make_conversation(cast.owner, title="Pump"), "And?", "It was repaired.")
    with connection.cursor() as cursor:
        cursor.execute("DROP EXTENSION pg_trgm CASCADE")
    assert found(cast, "repiared") == []
    assert found(cast, "repaired") == ["Pump"]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=st.text(max_size=80))
def test_any_text_can_be_searched_for(cast: Cast, wanted: str) -> None:
    assert find_messages(cast.owner, wanted) == []


def test_the_index_of_words_is_used(cast: Cast) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(WORDS)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "chat_message_words" in plan
