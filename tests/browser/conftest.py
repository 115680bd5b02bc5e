"""A browser, a running product, and two people with different rights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from providers.models import ChatModel, Provider
from providers.presets import load_presets
from tests.cast import PASSWORD, make_user
from tests.live import LiveProduct, run_command
from vault.fields import Vector
from vault.models import Chunk, ChunkVector, Vault
from vault.note_vectors import write_note_vectors
from vault.staleness import fingerprint, pending_chunks

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
# Machines that run tests are busy: this is patience, not a measure of speed.
PATIENCE = 60_000
expect.set_options(timeout=PATIENCE)
# What each note says stands in no other note: a test sees at once what was found.
NOTES = {
    "Birds/Heron.md": (
        "---\ntags: [birds]\n---\n# Heron\n\nHerons stand still for hours.\n\n"
        "## Names\n\nThe grey heron of pond seven is called Ottokar. He arrived in March.\n\n"
        "See also [[Kingfisher]].\n"
    ),
    "Birds/Kingfisher.md": "# Kingfisher\n\nThe kingfisher nests in the bank below the mill.\n",
    "Pump.md": "# Pump\n\nThe pump of pond seven is serviced every ninth week by the mill.\n",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium for the tests of one module.

    Playwright's event loop stays in this thread for as long as it is open, and Django
    refuses to touch the database beside one unless told that nothing runs in it.
    """
    if not Path(CHROMIUM).exists():
        pytest.fail(f"{CHROMIUM} is missing: apt-get install chromium (see .ci/run)")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        with sync_playwright() as playwright:
            started = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            yield started
            started.close()


@pytest.fixture
def owner(transactional_db: None) -> User:
    load_presets()
    return make_user("owner")


@pytest.fixture
def outsider(transactional_db: None) -> User:
    return make_user("outsider")


@pytest.fixture(scope="session")
def known_vectors() -> dict[str, Vector]:
    """By their text the vectors that the real model made: loading it costs seconds, and
    every test embeds the same notes."""
    return {}


@pytest.fixture
def pond(owner: User, tmp_path: Path, known_vectors: dict[str, Vector]) -> Vault:
    """The vault "Pond", read and embedded by the real parts."""
    folder = tmp_path / "Pond"
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    call_command("add_vault", folder, slug="pond", name="Pond", owner=owner.email)
    call_command("sync", "pond", stdout=StringIO(), stderr=StringIO())
    vault = Vault.objects.get(slug="pond")
    if known_vectors:
        embed_again(vault, known_vectors)
    else:
        run_command("embed")  # a process of its own: this one never loads the model
        made = ChunkVector.objects.select_related("chunk")
        known_vectors.update((each.chunk.vector_text(), each.vector) for each in made)
    return vault


def embed_again(vault: Vault, known: Mapping[str, Vector]) -> None:
    """Give the passages of the vault vectors that are known. (Nothing here may wait for an
    embedder: the loop of the browser runs in this thread.)"""
    model = vault.embedding_model
    assert model is not None
    ChunkVector.objects.bulk_create(
        ChunkVector(
            vault=vault, chunk=chunk, embedding_model=model, embed_hash=chunk.embed_hash,
            fingerprint=fingerprint(model), vector=known[chunk.vector_text()],
        )
        for chunk in Chunk.objects.filter(vault=vault)
    )  # fmt: skip
    write_note_vectors(vault.pk, model)
    assert not pending_chunks(vault.pk, model).exists()


@pytest.fixture
def slow_model(owner: User) -> ChatModel:
    """A model that takes about ten seconds to write, one word after the other."""
    provider = Provider.objects.create(
        slug="script", name="Script", kind="fake", needs_key=False, position=0
    )
    return ChatModel.objects.create(
        provider=provider, name="pause:0.05|words:200", label="Slow script", is_default=True
    )


@pytest.fixture
def searching_model(owner: User) -> ChatModel:
    """A model that searches once more before it cites all that was found."""
    provider = Provider.objects.create(
        slug="script", name="Script", kind="fake", needs_key=False, position=9
    )
    return ChatModel.objects.create(
        provider=provider, name="pause:0.2|tool:search:kingfisher mill|cite", label="Searcher"
    )


@pytest.fixture(scope="session")
def started(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveProduct]:
    """One web process for all these tests: a start costs more than most of them."""
    live = LiveProduct(tmp_path_factory.mktemp("browser"))
    with django_db_blocker.unblock():
        yield live
        live.stop()


@pytest.fixture
def product(transactional_db: None, started: LiveProduct) -> LiveProduct:
    """The product, up, whatever an earlier test did to it."""
    if "serve" not in started.processes:
        started.start("serve")
    return started


SignIn = Callable[[User], Page]


def ask(page: Page, text: str) -> Locator:
    """Ask, and give the new answer, once it has its place: those before it may have ended."""
    answers = page.locator(".answer")
    before = answers.count()
    field = page.get_by_label("Your question")
    field.fill(text)
    field.press("Enter")
    expect(answers).to_have_count(before + 1)
    return answers.nth(before)


def ask_to_the_end(page: Page, text: str, *, ends: str = "done") -> Locator:
    """Ask, and wait until the answer has ended and stands there as a reload would show it."""
    answer = ask(page, text)
    expect(answer).to_have_attribute("data-status", ends)
    return answer


@pytest.fixture
def sign_in(browser: Browser, product: LiveProduct) -> Iterator[SignIn]:
    """Opens a browser of its own for a user. Errors of pages fail the test at its end."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []

    def enter(user: User) -> Page:
        context = browser.new_context(
            viewport={"width": 1280, "height": 800},
            reduced_motion="reduce",  # a colour or a place on its way is no state to look at
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: watch(request.url))
        page.goto(f"{product.url}/accounts/login/")
        page.get_by_label("Email", exact=False).first.fill(user.email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("Your question").wait_for()
        page.wait_for_load_state("load")
        return page

    def watch(url: str) -> None:
        if not url.startswith((product.url, product.url.replace("http", "ws"), "data:", "blob:")):
            troubles.append(f"a request left the product: {url}")

    yield enter
    for context in contexts:
        context.close()
    assert troubles == []
