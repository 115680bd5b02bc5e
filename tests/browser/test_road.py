"""The main road in a real browser: ask, read, check, come back, stop; and who may not."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from playwright.sync_api import expect

from chat.models import Conversation, Message, Run
from providers.models import ChatModel
from tests.browser.conftest import SignIn, ask, ask_to_the_end
from tests.live import LiveProduct
from vault.models import Vault

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
QUESTION = "What is the name of the grey heron of pond seven?"


def test_a_fact_of_one_note_is_answered_and_its_citation_opens_the_sentence(
    sign_in: SignIn, owner: User, pond: Vault
) -> None:
    page = sign_in(owner)
    answer = ask(page, QUESTION)
    sources = page.locator("[data-right] .source")
    expect(sources.filter(has_text="Heron").first).to_be_visible()
    expect(answer).to_have_attribute("data-status", "done")
    expect(answer).to_contain_text("Ottokar")

    sentence = answer.locator("p, li, blockquote").filter(has_text="Ottokar").first
    chip = sentence.locator("a.cite").first
    chip.hover()
    expect(page.get_by_role("dialog", name="Passage")).to_contain_text("Ottokar")
    expect(page.get_by_role("link", name="Open at the passage")).to_be_visible()
    chip.click()
    page.wait_for_url(re.compile(r"/vaults/pond/notes/Birds/Heron\.md"))
    mark = page.locator("mark.cited")
    expect(mark.first).to_be_in_viewport()
    assert "The grey heron of pond seven is called Ottokar." in " ".join(mark.all_inner_texts())


def test_sources_stand_there_before_the_first_word(
    sign_in: SignIn, owner: User, pond: Vault, slow_model: ChatModel
) -> None:
    page = sign_in(owner)
    page.evaluate(
        """() => {
          window.seen = [];
          new MutationObserver(() => {
            const prose = [...document.querySelectorAll('.answer [data-prose]')].pop();
            if (!prose) return;
            const cards = document.querySelectorAll('[data-right] .source').length;
            window.seen.push([cards, prose.textContent.trim().length]);
          }).observe(document.body, {childList: true, subtree: true, characterData: true});
        }"""
    )
    answer = ask(page, QUESTION)
    expect(answer.locator("[data-prose]")).to_contain_text("word20")
    seen = page.evaluate("() => window.seen")
    assert any(cards > 0 and letters == 0 for cards, letters in seen)
    assert all(cards > 0 for cards, letters in seen if letters > 0)


def test_an_answer_goes_on_through_a_reload(
    sign_in: SignIn, owner: User, pond: Vault, slow_model: ChatModel
) -> None:
    page = sign_in(owner)
    answer = ask(page, QUESTION)
    prose = answer.locator("[data-prose]")
    expect(prose).to_contain_text("word10")
    page.wait_for_url(re.compile(r"/c/[0-9a-f-]{36}"))
    page.reload()
    expect(prose).to_contain_text("word10")
    page.context.set_offline(True)
    banner = page.get_by_text("No connection. What you typed is kept")
    expect(banner).to_be_visible()
    page.context.set_offline(False)
    expect(banner).to_be_hidden()
    expect(answer).to_have_attribute("data-status", "done")
    words = prose.inner_text().split()
    assert words == [f"word{number}" for number in range(1, 201)]


def take_long(model: ChatModel) -> None:
    """Let an answer that is to be broken off not end before a busy machine gets to it."""
    ChatModel.objects.filter(pk=model.pk).update(name="pause:0.05|words:2000")


def test_a_stopped_answer_keeps_what_was_written(
    sign_in: SignIn, owner: User, pond: Vault, slow_model: ChatModel
) -> None:
    take_long(slow_model)
    page = sign_in(owner)
    answer = ask(page, QUESTION)
    expect(answer.locator("[data-prose]")).to_contain_text("word10")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("You stopped this answer")).to_be_visible()
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    message = Message.objects.get(role="assistant")
    assert message.status == Message.Status.STOPPED
    assert message.text.startswith("word1 word2")
    assert "word2000" not in message.text


def test_a_killed_web_process_leaves_an_interrupted_answer_that_can_be_asked_again(
    sign_in: SignIn, owner: User, pond: Vault, slow_model: ChatModel, product: LiveProduct
) -> None:
    take_long(slow_model)
    page = sign_in(owner)
    answer = ask(page, QUESTION)
    expect(answer.locator("[data-prose]")).to_contain_text("word60")
    page.get_by_label("Your question").fill("a question that I was still typing")
    product.kill("serve")
    Run.objects.update(lease_until=Now())  # it runs out by itself, a quarter of a minute later
    product.start("serve")
    page.reload()
    expect(page.get_by_label("Your question")).to_have_value("a question that I was still typing")
    expect(answer).to_have_attribute("data-status", "interrupted")
    expect(answer.locator("[data-prose]")).to_contain_text("word20")
    ChatModel.objects.filter(pk=slow_model.pk).update(name="words:9")
    page.get_by_role("button", name="Regenerate").click()
    expect(answer).to_have_attribute("data-status", "done")


def test_somebody_without_rights_sees_neither_vault_nor_title_nor_conversation(
    sign_in: SignIn, owner: User, outsider: User, pond: Vault, product: LiveProduct
) -> None:
    first = sign_in(owner)
    ask_to_the_end(first, QUESTION)
    conversation = Conversation.objects.get()

    page = sign_in(outsider)
    forbidden = (
        f"/c/{conversation.pk}",
        "/vaults/pond/",
        "/vaults/pond/notes/Birds/Heron.md",
        f"/api/chat/conversations/{conversation.pk}",
    )
    for path in forbidden:
        reply = page.request.get(f"{product.url}{path}")
        missing = page.request.get(f"{product.url}{path}x".replace("/x", "x/"))
        assert reply.status == 404, path
        assert missing.status == 404
        assert "Heron" not in reply.text()
    for path in ("/", "/vaults/", "/search?q=heron+Ottokar"):
        page.goto(f"{product.url}{path}")
        content = page.content()
        assert "vaults/pond" not in content
        assert "Birds/Heron" not in content
        assert "Herons stand" not in content
        assert "Pond" not in page.locator("body").inner_text()
    page.goto(product.url)
    answer = ask(page, QUESTION)
    expect(answer).to_have_attribute("data-status", re.compile("done|failed"))
    assert "Ottokar" not in page.content()
