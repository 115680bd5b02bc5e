"""A conversation as its reader sees it."""

from __future__ import annotations

import json

from chat.core.events import Event, EventType
from chat.ledger import append_events
from chat.models import Conversation
from chat.rights import WITHHELD_TEXT, has_lost_sources
from chat.threads import thread
from tests.cast import Cast
from tests.chat.test_history import add_source, begin, conversation_of, end
from tests.chat.world import PUMP
from vault.models import VaultMember


def test_the_thread_shows_what_was_answered_and_from_what(cast: Cast) -> None:
    turn = begin(cast)
    source = add_source(turn, cast)
    end(turn, "The pump failed in March [1].")
    question, answer = thread(conversation_of(turn), cast.mate)
    assert question["text"] == "When did the pump fail?"
    assert 'class="cite"' in answer["html"]
    assert answer["citations"][0]["quote"] == "The pump failed in March."
    assert answer["sources"][0]["url"].endswith(f"?span=0-{len(PUMP)}&source={source.pk}")
    assert answer["hidden_sources"] == []
    assert not answer["replaced"]


def test_no_number_that_does_not_exist_is_in_the_text_of_an_answer(cast: Cast) -> None:
    turn = begin(cast)
    add_source(turn, cast)
    end(turn, "It failed in March[1], see [Source 9] and `x[9]`.")
    answer = thread(conversation_of(turn), cast.mate)[1]
    assert answer["text"] == "It failed in March[1], see and `x[9]`."


def test_the_thread_of_a_running_answer_says_where_to_go_on(cast: Cast) -> None:
    turn = begin(cast)
    said = [Event(1, EventType.SOURCES, {}), Event(2, EventType.DELTA, {"text": "So far"})]
    append_events(turn.ids.run, said, lease_seconds=15)
    answer = thread(conversation_of(turn), cast.mate)[1]
    assert (answer["status"], answer["text"], answer["seq"]) == ("running", "So far", 2)
    assert answer["run"] == str(turn.ids.run)


def test_sources_of_a_vault_that_may_not_be_read_any_more_are_hidden(cast: Cast) -> None:
    turn = begin(cast)
    add_source(turn, cast)
    end(turn, "The pump failed in March [1].")
    cast.vault.members.filter(user=cast.mate).delete()
    answer = thread(conversation_of(turn), cast.mate)[1]
    assert answer["sources"] == answer["citations"] == []
    assert answer["hidden_sources"] == [1]
    assert answer["withheld"]
    assert answer["text"] == answer["html"] == ""
    assert answer["error"]["text"] == WITHHELD_TEXT
    assert "March" not in json.dumps(answer)


def test_an_answer_that_was_told_what_may_not_be_read_any_more_is_withheld_too(cast: Cast) -> None:
    turn = begin(cast)
    add_source(turn, cast)
    end(turn, "The pump failed in March [1].")
    then = begin(cast, text="Say that again", conversation=turn.ids.conversation)
    end(then, "It failed in March.")
    assert not has_lost_sources(cast.mate, then.ids.message)
    cast.vault.members.filter(user=cast.mate).delete()
    assert has_lost_sources(cast.mate, then.ids.message)
    assert "failed in March" not in json.dumps(thread(conversation_of(turn), cast.mate))
    later = begin(cast, text="And now?", conversation=turn.ids.conversation)
    end(later, "Nothing is known.")
    assert [message.content for message in later.history] == [
        "When did the pump fail?",
        "Say that again",
    ]
    shown = [message["text"] for message in thread(conversation_of(turn), cast.mate)]
    assert shown[1::2] == ["", "", "Nothing is known."]
    VaultMember.objects.create(vault=cast.vault, user=cast.mate)
    again = [message["text"] for message in thread(conversation_of(turn), cast.mate)]
    assert again[1] == "The pump failed in March [1]."


def test_a_deleted_vault_hides_its_sources_too(cast: Cast) -> None:
    turn = begin(cast)
    add_source(turn, cast)
    end(turn)
    cast.vault.delete()
    assert thread(conversation_of(turn), cast.mate)[1]["hidden_sources"] == [1]


def test_the_branch_that_was_chosen_is_active_and_others_are_replaced(cast: Cast) -> None:
    first = begin(cast)
    end(first, "The old answer.")
    again = begin(cast, text="", conversation=first.ids.conversation, again=first.ids.message)
    end(again, "The new answer.")
    conversation = conversation_of(first)

    def shown(**at: object) -> list[tuple[str, bool, bool]]:
        messages = thread(conversation, cast.mate, **at)  # type: ignore[arg-type]
        return [(m["text"], m["active"], m["replaced"]) for m in messages[1:]]

    assert shown() == [("The old answer.", False, True), ("The new answer.", True, False)]
    assert shown(at=first.ids.message) == [
        ("The old answer.", True, False),
        ("The new answer.", False, True),
    ]
    Conversation.objects.update(leaf=first.ids.message)
    conversation.refresh_from_db()
    assert shown()[0] == ("The old answer.", True, False)
    assert shown(at=conversation.pk) == shown(), "a message that is not there chooses nothing"
