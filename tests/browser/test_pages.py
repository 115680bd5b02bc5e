"""Every page at desk and phone width, light and dark: accessible, and nothing sticks out."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from providers.models import ChatModel
from tests.browser.conftest import SignIn, ask, ask_to_the_end
from tests.browser.test_road import QUESTION
from tests.live import LiveProduct
from vault.models import Vault

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
WIDE, PHONE = (1440, 900), (390, 844)
LOOKS = [(WIDE, "light"), (PHONE, "dark")]
PAGES = (
    "/",
    "/search?q=heron",
    "/search?q=heron&kind=note&after=2020-01-01",
    "/search?q=nothing-like-this",
    "/search/why?vault=pond&note=Pump&q=mill",
    "/lab?q=heron&compare=1&b_mode=keyword&effects=1",
    "/lab/evaluation/pond/",
    "/vaults/",
    "/vaults/pond/",
    "/vaults/new",
    "/vaults/pond/settings",
    "/vaults/pond/index",
    "/vaults/pond/context",
    "/vaults/pond/notes/Birds/Heron.md?span=37-88",
    "/usage",
)


def troubles_of(page: Page) -> list[str]:
    """What axe finds, and whether the page is wider than its window."""
    found = [
        f"{violation['id']}: {node['target']}"
        for violation in Axe().run(page).response["violations"]
        for node in violation["nodes"]
    ]
    overflow = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    return [*found, *([f"{overflow} px too wide"] if overflow > 0 else [])]


def test_pages_are_accessible_in_every_look(
    sign_in: SignIn, owner: User, pond: Vault, product: LiveProduct
) -> None:
    page = sign_in(owner)
    found: dict[str, list[str]] = {}
    for (width, height), scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for path in PAGES:
            page.goto(f"{product.url}{path}")
            if troubles := troubles_of(page):
                found[f"{path} {width} {scheme}"] = troubles
    assert found == {}


def test_an_answer_is_accessible_with_its_passage_open_and_its_steps(
    sign_in: SignIn, owner: User, pond: Vault, searching_model: ChatModel
) -> None:
    page = sign_in(owner)
    answer = ask_to_the_end(page, QUESTION)
    assert troubles_of(page) == []
    assert lonely_numbers(page) == []
    chip, card = answer.locator("a.cite").first, page.get_by_role("dialog", name="Passage")
    chip.focus()
    expect(card).to_be_visible()
    assert troubles_of(page) == []
    page.keyboard.press("Enter")
    expect(card.get_by_role("link", name="Open at the passage")).to_be_focused()
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()
    expect(chip).to_be_focused()
    page.get_by_text("How this was found").click()
    expect(page.get_by_text(re.compile("candidates?"), exact=False).last).to_be_in_viewport()
    assert troubles_of(page) == []
    _search_again(page, searching_model)
    _end_without_an_answer(page, searching_model)


def lonely_numbers(page: Page) -> list[int]:
    """The widths of the last answer, in pixels, at which a number begins a line."""
    widths: list[int] = page.evaluate(
        """() => {
          const prose = [...document.querySelectorAll(".answer [data-prose]")].pop();
          const chips = [...prose.querySelectorAll("a.cite")];
          const begins = (chip) => {
            const block = chip.closest("p, li, blockquote").getBoundingClientRect();
            return chip.getBoundingClientRect().left - block.left < 8;
          };
          const found = [];
          for (let width = 160; width < 640; width += 7) {
            prose.style.width = `${width}px`;
            if (chips.some(begins)) found.push(width);
          }
          prose.style.width = "";
          return found;
        }"""
    )
    return widths


def _end_without_an_answer(page: Page, model: ChatModel) -> None:
    """Settings, an answer that failed, and one that the notes do not hold."""
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    page.get_by_role("link", name="Chat settings").first.click()
    settings = page.get_by_role("dialog", name="Chat settings")
    expect(settings).to_be_visible()
    assert troubles_of(page) == []
    page.keyboard.press("Escape")
    expect(settings).to_be_hidden()
    page.emulate_media(color_scheme="light")
    ChatModel.objects.filter(pk=model.pk).update(name="say:He waits.|fail:rate_limited")
    ask_to_the_end(page, "Whom does the heron wait for?", ends="failed")
    assert troubles_of(page) == []
    # Whether such a question finds nothing or something that bears nothing out: no answer.
    ChatModel.objects.filter(pk=model.pk).update(name="say:A grandmaster of the capital did.")
    page.locator("#chat-ask [name=mode]").select_option("notes_only")
    page.emulate_media(color_scheme="dark")
    ask_to_the_end(page, "Who won the chess championship of Mongolia in 1931?")
    expect(page.get_by_text("The nearest notes, which may be about")).to_be_visible()
    assert troubles_of(page) == []


def _search_again(page: Page, model: ChatModel) -> None:
    """A further search waits for its reader, through a reload, and is seen afterwards."""
    page.locator("#chat-ask [name=tool_use]").select_option("ask")
    page.locator("[name=model][form=chat-ask]").select_option(label=model.label)
    answer = ask(page, "Where does the kingfisher nest?")
    step = answer.locator("[data-step]")
    expect(step).to_have_attribute("data-state", "asked")
    page.reload()
    expect(step.get_by_role("button", name="Allow", exact=True)).to_be_visible()
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.emulate_media(color_scheme="dark")
    assert troubles_of(page) == []
    step.get_by_role("button", name="Allow", exact=True).press("Enter")
    expect(answer).to_have_attribute("data-status", "done")
    answer.get_by_text("Further searches").first.click()
    expect(step).to_have_attribute("data-state", "done")
    expect(step).to_contain_text("kingfisher mill")
    assert troubles_of(page) == []


def test_the_door_is_accessible(sign_in: SignIn, owner: User, product: LiveProduct) -> None:
    page = sign_in(owner)
    page.context.clear_cookies()
    for (width, height), scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.goto(f"{product.url}/accounts/login/")
        assert troubles_of(page) == []


def test_search_is_used_by_keyboard_and_its_state_is_in_the_address(
    sign_in: SignIn, owner: User, pond: Vault
) -> None:
    page = sign_in(owner)
    page.keyboard.press("Control+k")
    page.wait_for_url(re.compile("/search"))
    page.wait_for_load_state("load")
    field, hits = page.locator("#q"), page.locator("#results .hit")
    expect(field).to_be_focused()
    page.keyboard.type("kingfisher mill")
    page.wait_for_url(re.compile("q=kingfisher.+mill"))  # of the first word alone: not yet
    expect(page.get_by_role("link", name="Kingfisher").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(hits.first).to_be_focused()
    page.keyboard.press("k")
    expect(field).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(hits.first).to_be_focused()
    page.keyboard.press("/")  # On a hit the way back to the field, in the field a letter.
    expect(field).to_be_focused()
    expect(field).to_have_value("kingfisher mill")
    page.keyboard.press("ArrowDown")
    expect(hits.first).to_be_focused()
    page.keyboard.press("j")
    expect(hits.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/vaults/pond/notes/"))
    page.go_back()
    expect(field).to_have_value("kingfisher mill")


def test_without_scripts_a_question_is_asked_and_its_answer_read(
    sign_in: SignIn, owner: User, pond: Vault, product: LiveProduct
) -> None:
    page = sign_in(owner)
    context = page.context.browser.new_context(java_script_enabled=False)  # type: ignore[union-attr]
    context.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    plain = context.new_page()
    plain.goto(product.url)
    plain.get_by_label("Your question").fill(QUESTION)
    plain.get_by_role("button", name="Send").click()
    plain.wait_for_url(re.compile(r"/c/"))
    answer = plain.locator(".answer").last
    expect(answer).to_have_attribute("data-status", "done")  # until then it loads itself anew
    expect(answer).to_contain_text("Ottokar")
    plain.locator("a.cite").first.click()
    expect(plain.locator("mark.cited").first).to_be_visible()
    context.close()
