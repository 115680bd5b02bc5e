"""The chat page as a browser without scripts sees it, and who may see what."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from chat.models import Conversation, Message
from providers.models import UsageLimit, UsageRecord
from providers.presets import load_presets
from tests.cast import Cast, make_user, make_vault
from tests.chat.pages import add_answer, add_turn, browser, make_conversation, make_note

FRAGMENT = {"HX-Request": "true"}

# Every page that names a conversation, and the method that it takes.
OF_A_CONVERSATION = [
    ("conversation", "get"),
    ("organise", "get"),
    ("organise", "post"),
    ("delete_conversation", "post"),
    ("restore_conversation", "post"),
    ("keep_branch", "get"),
    ("keep_branch", "post"),
]
WITHOUT_CONVERSATION = [
    ("home", "get"),
    ("conversations", "get"),
    ("chat_settings", "post"),
    ("ask", "post"),
]


def page(client: Client, name: str, *args: object, **data: str) -> str:
    response = client.get(reverse(name, args=args), data)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize(("name", "method"), WITHOUT_CONVERSATION)
def test_who_is_not_signed_in_is_sent_to_sign_in(db: None, name: str, method: str) -> None:
    response = getattr(Client(), method)(reverse(name))
    assert response.status_code == 302
    assert response["Location"].startswith(reverse("account_login"))


def test_the_start_page_asks_the_database_for_each_thing_once(
    cast: Cast, django_assert_max_num_queries: Any
) -> None:
    load_presets()
    for slug in ("attic", "garden"):
        make_vault(slug, owner=cast.owner)
    client = browser(cast.owner)
    page(client, "home")
    with django_assert_max_num_queries(20):
        page(client, "home")


@pytest.mark.parametrize(("name", "method"), OF_A_CONVERSATION)
def test_a_conversation_is_nobody_elses(cast: Cast, name: str, method: str) -> None:
    conversation = make_conversation(cast.owner)
    address = reverse(name, args=[conversation.pk])
    assert getattr(browser(cast.owner), method)(address).status_code in {200, 302, 422}
    again = make_conversation(cast.owner)
    address = reverse(name, args=[again.pk])
    for stranger in (cast.mate, cast.outsider):
        assert getattr(browser(stranger), method)(address).status_code == 404
    assert Conversation.objects.filter(pk=again.pk, title=again.title).exists()


def test_missing_and_foreign_conversations_look_alike(cast: Cast) -> None:
    foreign = make_conversation(cast.outsider)
    client = browser(cast.owner)
    answers = [client.get(reverse("conversation", args=[key])) for key in (foreign.pk, uuid4())]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert "About the pump" not in answers[0].content.decode()


def test_the_first_page_says_what_the_vaults_hold_and_what_one_could_ask(cast: Cast) -> None:
    make_note(cast.vault, title="Boiler")
    make_note(cast.foreign_vault, title="Payroll")
    shown = page(browser(cast.mate), "home")
    assert "1 note" in shown
    assert "Boiler" in shown
    assert "Payroll" not in shown
    assert cast.foreign_vault.name not in shown


@pytest.mark.parametrize(
    ("used", "told"),
    [(100, ""), (900, "90 % of the limit of mate@example.com"), (1000, "is used up: 1,000 of")],
)
def test_a_limit_that_is_nearly_used_up_is_told_before_asking(
    cast: Cast, used: int, told: str
) -> None:
    UsageLimit.objects.create(user=cast.mate, period="day", most_tokens=1_000)
    spent = {"purpose": "answer", "provider": "fake", "model": "cite", "input_tokens": used}
    UsageRecord.objects.create(user=cast.mate, **spent)
    shown = page(browser(cast.mate), "home")
    assert told in shown
    assert ("the limit of mate@example.com" in shown.lower()) is bool(told)
    assert ("choose the quotes without a model" in shown) is (used == 1000)
    assert "the limit of" not in page(browser(cast.owner), "home")


def test_who_has_no_vault_is_told_how_to_get_one(cast: Cast) -> None:
    shown = page(browser(make_user("newcomer")), "home")
    assert "No vault is shared with you yet" in shown
    assert reverse("vault-new") not in shown
    assert reverse("vault-new") in page(browser(make_user("root", is_superuser=True)), "home")


def test_a_conversation_is_readable_without_scripts(cast: Cast) -> None:
    note = make_note(cast.vault)
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "When did it fail?", "It failed **in March**. [1]", note=note)
    shown = page(browser(cast.owner), "conversation", conversation.pk)
    assert "When did it fail?" in shown
    assert "<strong>in March</strong>" in shown
    assert 'class="cite"' in shown
    assert f"/vaults/{cast.vault.slug}/notes/Pump.md?span=" in shown
    assert "The pump failed in March." in shown


def test_titles_questions_and_passages_are_text_whatever_they_hold(cast: Cast) -> None:
    nasty = '<script>alert(1)</script>"><img src=x onerror=alert(2)>'
    note = make_note(cast.vault, title=nasty, body=nasty, path="x.md")
    conversation = make_conversation(cast.owner, title=nasty)
    add_turn(conversation, nasty, f"{nasty} [1]", note=note)
    shown = page(browser(cast.owner), "conversation", conversation.pk)
    assert "<script>alert" not in shown
    assert "<img" not in shown


def test_passages_of_a_vault_that_was_taken_away_are_not_shown(cast: Cast) -> None:
    note = make_note(cast.vault, body="The secret of the pump.")
    conversation = make_conversation(cast.mate)
    add_turn(conversation, "What?", "This. [1]", note=note)
    assert "The secret of the pump." in page(browser(cast.mate), "conversation", conversation.pk)
    cast.vault.members.filter(user=cast.mate).delete()
    shown = page(browser(cast.mate), "conversation", conversation.pk)
    assert "The secret of the pump." not in shown
    assert "1 passage is not shown" in shown


def test_an_answer_of_a_vault_that_was_taken_away_is_withheld(cast: Cast) -> None:
    note = make_note(cast.vault)
    conversation = make_conversation(cast.mate)
    add_turn(conversation, "What?", "It is the wemrick. [1]", note=note)
    client = browser(cast.mate)
    assert "wemrick" in page(client, "conversation", conversation.pk)
    assert "About the pump" in page(client, "conversations", q="wemrick")
    cast.vault.members.filter(user=cast.mate).delete()
    shown = page(client, "conversation", conversation.pk)
    assert "wemrick" not in shown
    assert "from a vault you may no longer read" in shown
    assert "You stopped" not in shown
    assert "No passage of the notes fits" not in shown
    assert "About the pump" not in page(client, "conversations", q="wemrick")
    told = client.get(f"/api/chat/conversations/{conversation.pk}").content.decode()
    assert "wemrick" not in told
    assert "from a vault you may no longer read" in told


@pytest.mark.parametrize(
    ("code", "words"),
    [("rights_changed", "You lost the right"), ("suspended", "This account was suspended")],
)
def test_an_answer_that_was_ended_for_its_rights_says_that(
    cast: Cast, code: str, words: str
) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "Why?", "", status=Message.Status.STOPPED, error_code=code)
    shown = page(browser(cast.owner), "conversation", conversation.pk)
    assert words in shown
    for wrong in ("You stopped", "What was written is kept", "No passage of the notes fits"):
        assert wrong not in shown


def test_a_stopped_answer_without_a_word_keeps_nothing(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "Why?", "", status=Message.Status.STOPPED)
    shown = page(browser(cast.owner), "conversation", conversation.pk)
    assert "You stopped this answer before its first word." in shown
    assert "What was written is kept" not in shown


def test_an_answer_without_a_word_has_one_button_to_try_again_and_nothing_to_rate(
    cast: Cast,
) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "Why?", "", status=Message.Status.INTERRUPTED)
    shown = page(browser(cast.owner), "conversation", conversation.pk)
    assert "Your question is kept: try again." in shown
    assert "Try again</button>" in shown
    assert not any(word in shown for word in ("Regenerate", "Continue</button>", "Not helpful"))


def test_an_answer_says_when_it_was_given_and_links_to_itself(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "Why?", "Because.")
    answer = Message.objects.get(role="assistant")
    shown = page(browser(cast.owner), "conversation", conversation.pk)
    assert f'href="/c/{conversation.pk}#m-{answer.pk}"' in shown
    assert f'datetime="{answer.created.isoformat()}"' in shown


def test_a_failed_answer_says_how_to_mend_it_after_a_reload(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(
        conversation, "Why?", "", status="failed", error="No.", error_mend="Check the base URL."
    )
    assert "Check the base URL." in page(browser(cast.owner), "conversation", conversation.pk)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Message.Status.STOPPED, "You stopped this answer"),
        (Message.Status.INTERRUPTED, "The server went down"),
        (Message.Status.FAILED, "The key was refused."),
    ],
)
def test_an_answer_that_did_not_end_well_says_so_and_can_be_had_again(
    cast: Cast, status: str, words: str
) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "Why?", "Because", status=status, error="The key was refused.")
    shown = page(browser(cast.owner), "conversation", conversation.pk)
    assert words in shown
    assert "Because" in shown
    assert "Regenerate" in shown


def test_a_cut_answer_says_that_it_is_cut(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    add_turn(conversation, "Why?", "Because", cut_short=True)
    assert "length limit" in page(browser(cast.owner), "conversation", conversation.pk)


def test_older_versions_of_an_answer_can_be_read(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    first = add_turn(conversation, "Why?", "The first version")
    assert first.parent is not None
    add_answer(first.parent, "The second version")
    client = browser(cast.owner)
    newest = page(client, "conversation", conversation.pk)
    assert "The second version" in newest
    assert "The first version" not in newest
    assert "2 of 2" in newest
    older = page(client, "conversation", conversation.pk, at=str(first.pk))
    assert "The first version" in older
    assert "1 of 2" in older


def test_a_turn_alone_is_what_the_page_shows_of_it(cast: Cast) -> None:
    note = make_note(cast.vault)
    conversation = make_conversation(cast.owner)
    answer = add_turn(conversation, "When?", "In March. [1]", note=note)
    client = browser(cast.owner)
    alone = page(client, "turn", conversation.pk, answer.pk)
    whole = page(client, "conversation", conversation.pk)
    start, end = alone.index('<div class="prose"'), alone.index("</footer>")
    assert "In March." in alone[start:end]
    assert alone[start : alone.index("</div>", start)] in whole
    assert "<html" not in alone
    assert client.get(reverse("turn", args=[conversation.pk, uuid4()])).status_code == 404
    assert (
        browser(cast.mate).get(reverse("turn", args=[conversation.pk, answer.pk])).status_code
        == 404
    )


def test_the_list_holds_the_readers_own_conversations_alone(cast: Cast) -> None:
    make_conversation(cast.owner, title="Mine")
    make_conversation(cast.mate, title="Of the mate")
    listed = page(browser(cast.owner), "conversations")
    assert "Mine" in listed
    assert "Of the mate" not in listed
    assert "<html" not in listed


def test_the_list_is_filtered_by_title_and_by_what_was_said(cast: Cast) -> None:
    make_conversation(cast.owner, title="Boiler")
    said = make_conversation(cast.owner, title="Something else")
    add_turn(said, "Does the valve leak?", "Yes.")
    client = browser(cast.owner)
    assert "Boiler" in page(client, "conversations", q="boil")
    assert "Something else" in page(client, "home", q="VALVE")
    assert "No conversation has" in page(client, "conversations", q="nothing like it")


def test_the_open_conversation_is_marked_in_the_list(cast: Cast) -> None:
    conversation = make_conversation(cast.owner)
    client = browser(cast.owner)
    assert 'aria-current="page" title="About' in page(client, "conversation", conversation.pk)
    listed = page(client, "conversations", current=str(conversation.pk))
    assert "aria-current" in listed
    assert "aria-current" not in page(client, "conversations")


def test_the_panel_is_the_chat_without_a_page_around_it(cast: Cast) -> None:
    shown = page(browser(cast.owner), "home", panel="1")
    assert "data-chat" in shown
    assert "<html" not in shown
    assert "<main" not in shown


def test_every_other_page_has_the_bubble_that_opens_the_chat(cast: Cast) -> None:
    client = browser(cast.owner)
    bubble = 'class="bubble"'
    assert bubble in client.get(reverse("account_change_password")).content.decode()
    assert bubble not in page(client, "home")
    assert bubble not in Client().get(reverse("account_login")).content.decode()


@pytest.mark.parametrize(
    ("cookie", "attribute"),
    [("dark", 'data-theme="dark"'), ("light", 'data-theme="light"'), ('x"><b>', ""), ("", "")],
)
def test_the_theme_is_right_in_the_first_byte(cast: Cast, cookie: str, attribute: str) -> None:
    client = browser(cast.owner)
    client.cookies["theme"] = cookie
    opening = page(client, "home").split("<head>")[0]
    assert (attribute in opening) if attribute else ("data-theme" not in opening)
    assert "<b>" not in opening


def test_a_question_in_the_address_waits_in_the_field(cast: Cast) -> None:
    shown = page(browser(cast.owner), "home", text="What is <b>?")
    assert ">What is &lt;b&gt;?</textarea>" in shown


def ticked(shown: str) -> list[str]:
    return re.findall(r'name="vaults" value="([a-z]+)" checked', shown)


def test_a_vault_in_the_address_is_the_one_that_is_asked(cast: Cast) -> None:
    make_vault("second", owner=cast.owner)
    client = browser(cast.owner)
    assert ticked(page(client, "home")) == ["second", "team"]
    assert ticked(page(client, "home", vault="team")) == ["team"]
    assert ticked(page(client, "home", vault="foreign")) == ["second", "team"]


def test_a_conversation_keeps_the_vaults_it_began_with(cast: Cast) -> None:
    make_vault("second", owner=cast.owner)
    conversation = make_conversation(cast.owner)
    Conversation.objects.filter(pk=conversation.pk).update(vaults=["second"])
    assert ticked(page(browser(cast.owner), "conversation", conversation.pk)) == ["second"]
    Conversation.objects.filter(pk=conversation.pk).update(vaults=["gone"])
    shown = page(browser(cast.owner), "conversation", conversation.pk)
    assert (ticked(shown), "No vault" in shown) == ([], True)
