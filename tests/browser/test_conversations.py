"""What people do with conversations, in a browser: branches, search, sharing, files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from chat.models import Conversation
from providers.models import ChatModel, Provider, UsageLimit, UsageRecord
from tests.browser.conftest import SignIn, ask_to_the_end
from tests.browser.test_pages import troubles_of
from tests.cast import make_vault
from tests.chat.pages import add_turn, make_conversation, make_note
from vault.models import Note, Vault, VaultMember

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]


@pytest.fixture
def brief_model(owner: User) -> ChatModel:
    """A model that always says the same."""
    provider = Provider.objects.create(
        slug="script", name="Script", kind="fake", needs_key=False, position=0
    )
    return ChatModel.objects.create(
        provider=provider, name="say:Otters swim.", label="Brief script", is_default=True
    )


@pytest.fixture
def secret(owner: User, outsider: User) -> Vault:
    """A vault of the owner's; the outsider reads another one of theirs, the vault "Open"."""
    opened = make_vault("open", owner=owner)
    VaultMember.objects.create(vault=opened, user=outsider, role=VaultMember.Role.READER)
    return make_vault("secret", owner=owner)


def expect_questions(page: Page, *texts: str) -> None:
    expect(page.locator("[data-turn] [data-question]")).to_have_text(list(texts))


def test_a_question_is_edited_as_a_branch_and_the_arrows_lead_back(
    sign_in: SignIn, owner: User, brief_model: ChatModel
) -> None:
    page = sign_in(owner)
    ask_to_the_end(page, "What do otters do?")
    ask_to_the_end(page, "And beavers?")
    page.get_by_label("Your question").press("ArrowUp")
    edited = page.get_by_label("The question, edited").last
    expect(edited).to_be_focused()
    edited.fill("And voles?")
    edited.press("Enter")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    expect_questions(page, "What do otters do?", "And voles?")
    expect(page.locator(".answer").last).to_have_attribute("data-status", "done")
    earlier = page.get_by_role("button", name="Earlier version")
    later = page.get_by_role("button", name="Later version")
    earlier.click()
    expect(page.get_by_text("1 of 2")).to_be_visible()
    expect_questions(page, "What do otters do?", "And beavers?")
    expect(later).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    expect(earlier).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_text("1 of 2")).to_be_visible()
    page.reload()
    expect(page.get_by_text("1 of 2")).to_be_visible()
    expect_questions(page, "What do otters do?", "And beavers?")
    ask_to_the_end(page, "And then?")
    assert Conversation.objects.get().messages.count() == 8

    page.get_by_role("link", name="Organise this conversation").click()
    page.get_by_role("link", name="Keep only this branch").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 question")
    dialog.get_by_role("button", name="Keep only this branch").click()
    expect(page.get_by_text("of 2")).to_have_count(0)
    assert Conversation.objects.get().messages.count() == 6


def test_a_cut_answer_goes_on_in_a_version_of_its_own_and_limits_are_told_before_asking(
    sign_in: SignIn, owner: User, brief_model: ChatModel
) -> None:
    cut = {"name": "say:Otters swim and|stop:length", "label": "Cut script"}
    ChatModel.objects.create(provider=brief_model.provider, **cut)
    more = {"name": "say:dive for fish.", "label": "More script"}
    ChatModel.objects.create(provider=brief_model.provider, **more)
    limit = UsageLimit.objects.create(user=owner, period="day", most_tokens=100_000)
    spent = {"purpose": "answer", "provider": "script", "model": "x", "input_tokens": 90_000}
    UsageRecord.objects.create(user=owner, **spent)
    page = sign_in(owner)
    notice = page.locator("[data-limit]")
    expect(notice).to_contain_text("90 % of the limit of owner@example.com is used")
    models = page.locator("#chat-choices [name=model]")
    models.select_option(label="Quotes only (no model)")
    expect(notice).to_be_hidden()

    models.select_option(label="Cut script")
    expect(notice).to_be_visible()
    ask_to_the_end(page, "What do otters do?")
    expect(page.get_by_text("ended at the model's length limit")).to_be_visible()
    assert troubles_of(page) == []
    models.select_option(label="More script")
    page.get_by_role("button", name="Continue").click()
    prose = page.locator(".answer [data-prose]")
    expect(prose).to_have_text("Otters swim and dive for fish.")
    expect(page.get_by_text("2 of 2")).to_be_visible()
    expect(page.locator(".answer")).to_have_attribute("data-status", "done")
    page.get_by_role("button", name="Earlier version").click()
    expect(prose).to_have_text("Otters swim and")
    assert Conversation.objects.get().messages.count() == 3

    limit.most_tokens = 90_000
    limit.save()
    ask_to_the_end(page, "And beavers?", ends="failed")
    expect(page.locator("[data-outcome]").last).to_contain_text("is used up: 90,")
    expect(notice).to_contain_text("choose the quotes without a model")
    expect_questions(page, "What do otters do?", "And beavers?")
    assert troubles_of(page) == []


def test_a_search_in_messages_opens_at_the_message_and_what_is_deleted_comes_back(
    sign_in: SignIn, owner: User
) -> None:
    conversation = make_conversation(owner, title="Long talk")
    for nth in range(12):
        text = "The wemrick nests here." if nth == 3 else "Nothing.\n\n" * 12
        add_turn(conversation, f"Question {nth}?", text)
    page = sign_in(owner)
    page.get_by_role("searchbox").fill("wemrick")
    hit = page.locator(".hit")
    expect(hit.locator("mark")).to_have_text("wemrick")
    hit.click()
    page.wait_for_url("**/c/*")
    answer = page.locator(".answer").filter(has_text="The wemrick nests here.")
    expect(answer).to_be_in_viewport()
    expect(page.locator(".answer").last).not_to_be_in_viewport()

    page.get_by_role("link", name="Organise this conversation").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_text("is back")).to_be_visible()


def test_what_is_shared_shows_nothing_of_a_vault_its_reader_lacks(
    sign_in: SignIn, owner: User, outsider: User, secret: Vault, tmp_path: Path
) -> None:
    conversation = make_conversation(owner, title="Otters and more")
    opened = Vault.objects.get(slug="open")
    add_turn(conversation, "Where?", "Otters swim in March. [1]", note=make_note(opened))
    hidden = make_note(secret, title="Wemrick", body="The wemrick nests in the old mill.")
    add_turn(conversation, "And who?", "It is the wemrick. [1]", note=hidden)
    page = sign_in(owner)
    page.goto(page.url.rstrip("/") + f"/c/{conversation.pk}")
    page.get_by_role("link", name="Share this conversation").click()
    page.get_by_role("dialog").get_by_role("button", name="Make a link").click()
    address = page.get_by_label("Link", exact=True).input_value()

    theirs = sign_in(outsider)
    theirs.goto(address)
    expect(theirs.locator(".answer").first).to_contain_text("Otters swim in March.")
    chip = theirs.locator("a.cite").first
    chip.hover()
    expect(theirs.get_by_role("dialog", name="Passage")).to_be_visible()
    expect(theirs.locator(".answer").last).to_contain_text("rests on notes you may not read")
    expect(theirs.get_by_text("Source you cannot open")).to_have_count(1)
    assert "emrick" not in theirs.content()
    assert troubles_of(theirs) == []
    theirs.get_by_role("button", name="Continue").click()
    expect(theirs.get_by_text("your own copy")).to_be_visible()
    assert "emrick" not in theirs.content()

    file = export_as_json(page, tmp_path)
    theirs.goto(address.split("/s/")[0] + "/conversations/files")
    theirs.get_by_label("A JSON file").set_input_files(file)
    theirs.get_by_role("button", name="Import").click()
    expect(theirs.get_by_text("1 conversation was added.")).to_be_visible()
    expect(theirs.get_by_text("1 answer is withheld")).to_be_visible()
    theirs.goto(address.split("/s/")[0])
    theirs.get_by_role("link", name="Otters and more").first.click()
    expect(theirs.locator(".answer").first).to_contain_text("Otters swim in March.")
    assert "emrick" not in theirs.content()

    Note.objects.filter(vault=opened).delete()
    theirs.goto(address)
    expect_number_leads_to_its_card(theirs)

    page.goto(address.split("/s/")[0] + "/shares")
    page.get_by_role("button", name="Take back").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    theirs.goto(address)
    expect(theirs.get_by_text("Nothing is shared with you at this address.")).to_be_visible()


def expect_number_leads_to_its_card(page: Page) -> None:
    """The first answer's, whose note is gone: by key, by mouse, and in another tab."""
    chip = page.locator("a.cite").first
    chip.press("Enter")
    passage = page.get_by_role("dialog", name="Passage")
    expect(passage.locator("blockquote")).to_be_focused()
    page.keyboard.press("Tab")
    expect(chip).to_be_focused()
    expect(passage).to_be_hidden()
    chip.click()
    card = page.locator(".source:target")
    expect(card).to_contain_text("The note is gone since")
    expect(card).to_be_in_viewport()
    page.reload()
    expect(card).to_be_in_viewport()
    wide = page.viewport_size
    page.set_viewport_size({"width": 1000, "height": 700})  # the passages are in a drawer
    expect(card).to_be_hidden()
    chip.click()
    expect(card).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    page.set_viewport_size(wide or {"width": 1280, "height": 800})


def export_as_json(page: Page, folder: Path) -> Path:
    """The open conversation as a file, by its dialog."""
    page.get_by_role("button", name="Close").last.click()
    page.get_by_role("link", name="Organise this conversation").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    assert json.loads(path.read_text())["format"] == "secondbrain.conversations"
    return path
