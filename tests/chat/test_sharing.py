"""Links to conversations, and that nobody learns by them what they may not read."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from chat.core.asking import Ask, BadAsk, Refused
from chat.core.sharing import ShareWish
from chat.history import open_turn
from chat.models import Conversation, Message, ShareLink
from chat.organising import put_away
from chat.sharing import (
    HIDDEN_ANSWER,
    HIDDEN_QUESTION,
    NO_SHARE,
    NOT_COPIED,
    Shared,
    continue_link,
    make_link,
    open_link,
    own_link,
    restore_link,
    revoke,
    token_of,
)
from chat.threads import thread
from retrieval.models import RetrievalRun
from tests.cast import Cast, make_user, make_vault
from tests.chat.pages import add_turn, browser, make_conversation, make_note
from vault.models import Vault, VaultMember

SECRET = "# Wemrick\n\nThe wemrick of pond seven is serviced every ninth week by the old mill."


@pytest.fixture
def secret_vault(cast: Cast) -> Vault:
    """A vault that the owner reads, and nobody else."""
    return make_vault("wemricks", owner=cast.owner)


@pytest.fixture
def talk(cast: Cast, secret_vault: Vault) -> Conversation:
    """An answer from the team's vault, one from the secret one, one that was told the second."""
    conversation = make_conversation(cast.owner)
    open_note = make_note(cast.vault)
    hidden_note = make_note(secret_vault, title="Wemrick", body=SECRET)
    add_turn(
        conversation, "When did the pump fail?", "The pump failed in March. [1]", note=open_note
    )
    second = add_turn(
        conversation, "And the other?", "The wemrick, every ninth. [1]", note=hidden_note
    )
    add_turn(
        conversation,
        "Is the wemrick of pond seven serviced every ninth week by the old mill?",
        "Yes, the wemrick is.",
        told=[str(second.pk)],
    )
    return conversation


def texts(shared: Shared) -> list[str]:
    return [message["text"] for message in shared.messages]


def link_to(conversation: Conversation, **wish: Any) -> str:
    return token_of(make_link(conversation.owner, conversation.pk, ShareWish(**wish)))


def test_each_reader_sees_only_what_rests_on_vaults_they_may_read(
    cast: Cast, talk: Conversation
) -> None:
    token = link_to(talk)
    assert texts(open_link(cast.owner, token))[1::2] == [
        "The pump failed in March. [1]",
        "The wemrick, every ninth. [1]",
        "Yes, the wemrick is.",
    ]
    seen = open_link(cast.mate, token)
    assert texts(seen) == [
        "When did the pump fail?",
        "The pump failed in March. [1]",
        "And the other?",
        "",
        HIDDEN_QUESTION,
        "",
    ]
    assert [m["error"]["text"] for m in seen.messages[1::2]] == ["", HIDDEN_ANSWER, HIDDEN_ANSWER]
    assert seen.messages[1]["sources"][0]["title"] == "Pump"
    assert seen.messages[3]["hidden_sources"] == [1]
    told = json.dumps(seen.messages)
    for word in ("emrick", "pond seven", "ninth", "mill"):
        assert word not in told
    for outsider_word in ("March", "Pump.md", "emrick"):
        assert outsider_word not in json.dumps(open_link(cast.outsider, token).messages)


def test_the_page_says_no_more_than_that(cast: Cast, talk: Conversation) -> None:
    address = reverse("shared", args=[link_to(talk)])
    page = browser(cast.mate).get(address).content.decode()
    assert "The pump failed in March." in page
    assert "Source you cannot open" in page
    assert HIDDEN_ANSWER in page
    for word in ("emrick", "pond seven", "ninth"):
        assert word not in page
    assert "Wemrick" in browser(cast.owner).get(address).content.decode()


def test_what_somebody_gains_or_loses_counts_at_the_next_opening(
    cast: Cast, talk: Conversation, secret_vault: Vault
) -> None:
    token = link_to(talk)
    VaultMember.objects.create(vault=secret_vault, user=cast.mate, role=VaultMember.Role.READER)
    assert "Yes, the wemrick is." in texts(open_link(cast.mate, token))
    secret_vault.members.filter(user=cast.mate).delete()
    cast.vault.members.filter(user=cast.mate).delete()
    assert texts(open_link(cast.mate, token))[1::2] == ["", "", ""]


def test_an_answer_told_through_many_others_is_withheld(cast: Cast, secret_vault: Vault) -> None:
    conversation = make_conversation(cast.owner)
    before = add_turn(conversation, "?", "wemrick", note=make_note(secret_vault, body=SECRET))
    for _ in range(4):
        before = add_turn(conversation, "?", "wemrick again", told=[str(before.pk)])
    assert set(texts(open_link(cast.mate, link_to(conversation)))[1::2]) == {""}


def test_the_names_of_vaults_that_were_searched_do_not_reach_others(
    cast: Cast, secret_vault: Vault
) -> None:
    run = RetrievalRun.objects.create(
        question="?", queries=["?"], mode="hybrid", vaults=["team", "wemricks"]
    )
    conversation = make_conversation(cast.owner)
    nothing = "The notes hold nothing about this. Searched: Team, Wemricks."
    answer = add_turn(conversation, "Who?", nothing, retrieval_run=run, mode="notes_only")
    token = link_to(conversation)
    assert texts(open_link(cast.owner, token))[1] == nothing
    assert texts(open_link(cast.mate, token))[1] == ""
    Message.objects.filter(pk=answer.pk).update(retrieval_run=None)
    assert texts(open_link(cast.mate, token))[1] == "", "also once the search is forgotten"


def test_a_title_that_repeats_hidden_words_is_not_shown(cast: Cast, secret_vault: Vault) -> None:
    conversation = make_conversation(cast.owner, title=SECRET.split("\n")[-1])
    add_turn(conversation, "And?", "x", note=make_note(secret_vault, body=SECRET))
    token = link_to(conversation)
    assert open_link(cast.mate, token).title == "A shared conversation"
    assert "emrick" in open_link(cast.owner, token).title


def test_what_is_its_owners_alone_is_not_told(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(
        conversation,
        "Why?",
        "",
        status="failed",
        error="The key of http://10.0.0.7/v1 was refused.",
        notices=["Budget nearly used"],
        usage={"input_tokens": 77},
    )
    (_, answer) = open_link(cast.mate, link_to(conversation)).messages
    assert (answer["usage"], answer["notices"]) == ({}, [])
    told = json.dumps(answer)
    assert "could not be written" in told
    for own in ("10.0.0.7", "Budget", "input_tokens"):
        assert own not in told


def test_one_answer_is_shared_without_the_others(cast: Cast, talk: Conversation) -> None:
    first = Message.objects.get(text__startswith="The pump failed")
    shared = open_link(cast.mate, link_to(talk, message=first.pk, only_answer=True))
    assert texts(shared) == ["When did the pump fail?", "The pump failed in March. [1]"]
    assert shared.title == "When did the pump fail?"
    last = open_link(cast.owner, link_to(talk, only_answer=True))
    assert texts(last)[1] == "Yes, the wemrick is."
    hidden = open_link(cast.mate, link_to(talk, only_answer=True))
    assert texts(hidden) == [HIDDEN_QUESTION, ""]
    assert hidden.title == "A shared conversation"


def test_what_is_asked_later_is_not_shared(cast: Cast, talk: Conversation) -> None:
    token = link_to(talk)
    add_turn(talk, "A later question", "A later answer")
    assert len(open_link(cast.owner, token).messages) == 6


def test_a_link_is_for_those_it_names(cast: Cast, talk: Conversation) -> None:
    group = Group.objects.create(name="Engineers")
    engineer = make_user("engineer")
    engineer.groups.add(group)
    token = link_to(talk, audience="named", names=("MATE@example.com", "engineers"))
    for welcome in (cast.mate, engineer, cast.owner):
        assert open_link(welcome, token).link.audience == "named"
    with pytest.raises(Refused, match="Nothing is shared with you"):
        open_link(cast.outsider, token)


def test_a_link_for_readers_opens_for_those_who_may_read_all_of_it(
    cast: Cast, talk: Conversation, secret_vault: Vault
) -> None:
    token = link_to(talk, audience="readers")
    assert open_link(cast.owner, token).is_whole
    with pytest.raises(Refused):
        open_link(cast.mate, token)
    VaultMember.objects.create(vault=secret_vault, user=cast.mate, role=VaultMember.Role.READER)
    assert open_link(cast.mate, token).is_whole


def ends(link: ShareLink) -> dict[str, Any]:
    return {
        "expired": lambda: ShareLink.objects.update(expires=timezone.now() - timedelta(1)),
        "revoked": lambda: revoke(link),
        "deleted": lambda: put_away(link.conversation),
        "suspended": lambda: User.objects.filter(pk=link.owner_id).update(is_active=False),
    }


@pytest.mark.parametrize("how", ["expired", "revoked", "deleted", "suspended"])
def test_a_link_that_is_over_looks_like_one_that_never_was(
    cast: Cast, talk: Conversation, how: str
) -> None:
    link = make_link(cast.owner, talk.pk, ShareWish())
    address = reverse("shared", args=[token_of(link)])
    client = browser(cast.mate)
    assert client.get(address).status_code == 200
    ends(link)[how]()
    over, never = client.get(address), client.get(reverse("shared", args=["x" * 43]))
    assert over.status_code == never.status_code == 404
    assert over.content == never.content
    assert NO_SHARE in over.content.decode()
    assert client.post(reverse("continue_share", args=[token_of(link)])).status_code == 404


def test_a_revoked_link_can_be_opened_again(cast: Cast, talk: Conversation) -> None:
    link = make_link(cast.owner, talk.pk, ShareWish())
    client = browser(cast.owner)
    page = client.post(reverse("revoke_share", args=[link.pk]), follow=True).content.decode()
    undo = reverse("restore_share", args=[link.pk])
    assert f'action="{undo}"' in page
    client.post(undo)
    assert open_link(cast.mate, token_of(link))
    revoke(link)
    restore_link(link)
    with pytest.raises(Refused):
        own_link(cast.mate, link.pk)


def test_the_table_holds_no_token_and_another_key_shows_none(
    cast: Cast, talk: Conversation
) -> None:
    link = make_link(cast.owner, talk.pk, ShareWish())
    token = token_of(link)
    assert len(token) == 43
    assert token not in json.dumps(list(ShareLink.objects.values()), default=str)
    with override_settings(SECRET_KEY="another key of this server"):
        assert token_of(link) == ""
        assert open_link(cast.mate, token).link == link
        page = browser(cast.owner).get(reverse("shares")).content.decode()
        assert "cannot be shown again" in page


def test_what_cannot_be_shared_says_why(cast: Cast, talk: Conversation) -> None:
    empty = make_conversation(cast.owner)
    with pytest.raises(BadAsk, match="no answer to share"):
        make_link(cast.owner, empty.pk, ShareWish())
    with pytest.raises(BadAsk, match="temporary"):
        temporary = Conversation.objects.create(owner=cast.owner, temporary=True)
        make_link(cast.owner, temporary.pk, ShareWish())
    with pytest.raises(BadAsk, match="called “nobody"):
        names = ("nobody@example.com",)
        make_link(cast.owner, talk.pk, ShareWish(audience="named", names=names))
    with pytest.raises(Refused):
        make_link(cast.mate, talk.pk, ShareWish())
    with pytest.raises(Refused):
        other = add_turn(make_conversation(cast.owner), "?", "x")
        make_link(cast.owner, talk.pk, ShareWish(message=other.pk))
    running = open_turn(cast.owner, Ask("Why?"), owner_process="here", lease_seconds=60)
    with pytest.raises(Refused, match="still being written"):
        make_link(cast.owner, running.ids.conversation, ShareWish())


def test_who_continues_gets_a_copy_of_what_they_may_read(cast: Cast, talk: Conversation) -> None:
    copied = continue_link(cast.mate, link_to(talk))
    assert copied.owner == cast.mate
    copy = thread(copied, cast.mate)
    assert [message["text"] for message in copy] == [
        "When did the pump fail?",
        "The pump failed in March. [1]",
        "And the other?",
        "",
        HIDDEN_QUESTION,
        "",
    ]
    assert copy[1]["sources"][0]["title"] == "Pump"
    assert copy[3]["error"]["text"] == NOT_COPIED
    kept = json.dumps(list(copied.messages.values()), default=str)
    assert "emrick" not in kept
    cast.vault.members.filter(user=cast.mate).delete()
    assert thread(copied, cast.mate)[1]["withheld"], "the copy follows its reader's rights"
    turn = open_turn(
        cast.mate, Ask("And now?", conversation=copied.pk), owner_process="x", lease_seconds=9
    )
    assert "March" not in str(turn.history)


def test_a_copy_keeps_steps_and_judged_citations_and_no_search_of_a_closed_vault(
    cast: Cast, secret_vault: Vault
) -> None:
    talk = make_conversation(cast.owner)
    note = make_note(cast.vault)
    judged = {
        "n": 1,
        "sentence": "The pump failed in March.",
        "quote_start": 0,
        "quote_end": 6,
        "weak": True,
    }
    answer = add_turn(
        talk,
        "When did the pump fail?",
        "The pump failed in March. [1]",
        note=note,
        tool_use="ask",
        sources_added=True,
        citations=[judged],
    )
    searched = {1: [cast.vault.slug], 2: [cast.vault.slug, secret_vault.slug], 3: None}
    for number, vaults in searched.items():
        run = RetrievalRun.objects.create(question="x", vaults=vaults) if vaults else None
        answer.steps.create(
            number=number,
            tool="search",
            what="wemrick",
            why="the cause is missing",
            state="done",
            decision="allow",
            said="Ask Ann.",
            found=[1],
            milliseconds=5,
            retrieval_run=run,
        )
    shared = open_link(cast.mate, link_to(talk)).messages[1]
    copied = thread(continue_link(cast.mate, link_to(talk)), cast.mate)[1]
    blank = {"what": "", "why": "", "said": "", "milliseconds": 0, "retrieval_run": None}
    done = {"tool": "search", "state": "done", "decision": "allow", "found": [1]}
    for seen in (shared, copied):
        assert seen["steps"] == [{"number": number, **done, **blank} for number in (1, 3)]
        assert [c["weak"] for c in seen["citations"]] == [True]
        assert (seen["tool_use"], seen["sources_added"]) == ("ask", True)
    own = thread(continue_link(cast.owner, link_to(talk)), cast.owner)[1]
    assert [step["number"] for step in own["steps"]] == [1, 2, 3]


def test_the_page_copies_and_says_so(cast: Cast, talk: Conversation) -> None:
    client = browser(cast.mate)
    address = reverse("continue_share", args=[link_to(talk)])
    page = client.post(address, follow=True).content.decode()
    assert "your own copy" in page
    assert Conversation.objects.filter(owner=cast.mate).count() == 1


def test_a_link_is_made_and_shown_on_the_page(cast: Cast, talk: Conversation) -> None:
    client = browser(cast.owner)
    address = reverse("share", args=[talk.pk])
    asked = client.get(address, {"message": str(talk.messages.all()[1].pk)}).content.decode()
    assert "The conversation up to this answer" in asked
    made = client.post(address, {"audience": "signed_in", "days": "7"}).content.decode()
    token = token_of(ShareLink.objects.get())
    assert f"http://testserver/s/{token}" in made
    listed = client.get(reverse("shares")).content.decode()
    assert f"http://testserver/s/{token}" in listed
    assert "About the pump" in listed
    assert token not in browser(cast.mate).get(reverse("shares")).content.decode()


def test_a_wish_that_cannot_be_granted_comes_back_with_its_words(
    cast: Cast, talk: Conversation
) -> None:
    sent = {"audience": "named", "names": "nobody@example.com", "days": "7"}
    response = browser(cast.owner).post(reverse("share", args=[talk.pk]), sent)
    assert response.status_code == 422
    page = response.content.decode()
    assert "is called “nobody@example.com”" in page
    assert 'value="nobody@example.com"' in page
