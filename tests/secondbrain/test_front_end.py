"""What the browser gets: small, our own, and nothing that a strict policy would stop."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.core.cache import cache
from django.template import Context, Template
from django.test import Client, RequestFactory
from django.urls import reverse

from secondbrain.templatetags.look import ICONS, icon, initials, theme
from tests.cast import PASSWORD, Cast

ROOT = Path(__file__).resolve().parents[2]
APPS = ("secondbrain", "chat", "retrieval", "vault", "providers")
MOST_CSS = 40 * 1024
MOST_SCRIPT = 60 * 1024
MOST_MODULES = 10


@pytest.fixture(autouse=True)
def fresh_rate_limits() -> None:
    """Tries are counted in the cache: each test begins with none."""
    cache.clear()


def assets(suffix: str) -> list[Path]:
    return sorted(p for app in APPS for p in (ROOT / app / "static").rglob(f"*{suffix}"))


def templates() -> list[Path]:
    return sorted((ROOT / "templates").rglob("*.html"))


def loaded(app: str, suffix: str) -> list[Path]:
    """What a page of `app` loads of ours: what every page shares and what the app adds.

    The admin's own sheet is loaded by the admin alone, which loads none of an app, and the
    script of shared answers by their pages alone.
    """
    return [
        path
        for path in assets(suffix)
        if path.name not in {"admin.css", "shared.js"}
        and path.relative_to(ROOT).parts[0] in {"secondbrain", app}
    ]


@pytest.mark.parametrize("app", APPS)
def test_the_css_of_a_page_stays_small(app: str) -> None:
    assert 0 < sum(path.stat().st_size for path in loaded(app, ".css")) < MOST_CSS


def test_every_variable_that_is_used_is_defined() -> None:
    text = "\n".join(path.read_text() for path in assets(".css"))
    used = set(re.findall(r"var\((--[a-z0-9-]+)", text))
    assert used <= set(re.findall(r"(--[a-z0-9-]+)\s*:", text))


@pytest.mark.parametrize("app", APPS)
def test_the_scripts_of_a_page_stay_small_and_few(app: str) -> None:
    assert sum(path.stat().st_size for path in loaded(app, ".js")) < MOST_SCRIPT
    assert len(loaded(app, ".js")) <= MOST_MODULES


@pytest.mark.parametrize("path", templates(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_template_keeps_to_the_strict_policy(path: Path) -> None:
    """No inline style or code, nothing from elsewhere: `script-src 'self'; style-src 'self'`."""
    text = path.read_text()
    assert not re.search(r"<style\b", text)
    assert not re.search(r"\sstyle\s*=", text)
    assert not re.search(r"\son[a-z]+\s*=\s*[\"']", text)
    assert "javascript:" not in text
    for opening in re.findall(r"<script\b[^>]*>", text):
        assert "src=" in opening or "application/json" in opening
    assert not re.search(r"(?:src|href|action)\s*=\s*[\"'](?:https?:)?//", text)


@pytest.mark.parametrize("path", assets(".css") + assets(".js"), ids=lambda path: path.name)
def test_nothing_is_loaded_from_elsewhere(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"(?:url\(|@import|import\(?|from)\s*[\"']?(?:https?:)?//", text)
    assert "eval(" not in text
    assert "innerHTML +=" not in text


@pytest.mark.parametrize("path", assets(".js"), ids=lambda path: path.name)
def test_modules_import_what_is_there(path: Path) -> None:
    for target in re.findall(r"from \"(\.[^\"]+)\"", path.read_text()):
        static = path.parents[len(path.parts) - 1 - path.parts.index("static") - 1]
        wanted = (path.parent / target).resolve()
        if not wanted.exists():  # in another app's folder: relative to the address
            relative = Path(static.name, *path.relative_to(static).parts[:-1], target)
            assert finders.find(str(_flat(relative)).removeprefix("static/")), target


def _flat(path: Path) -> Path:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return Path(*parts)


def test_every_icon_that_a_template_uses_exists() -> None:
    used = {
        name
        for path in templates()
        for name in re.findall(r"{% icon \"([a-z-]+)\"", path.read_text())
    }
    assert used
    assert used <= set(ICONS)


def test_an_icon_is_decoration_or_has_a_name() -> None:
    assert 'aria-hidden="true"' in icon("ask")
    named = icon("ask", '"><b>')
    assert 'role="img"' in named
    assert "<b>" not in named


def test_an_unknown_icon_is_an_error() -> None:
    with pytest.raises(KeyError):
        icon("no-such-icon")


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Ada Lovelace", "AL"),
        ("ada@example.com", "AD"),
        ("ada.lovelace@example.com", "AL"),
        ("Ж", "Ж"),
        ("", "?"),
        ("  ", "?"),
    ],
)
def test_two_letters_stand_for_a_person(name: str, letters: str) -> None:
    assert initials(name) == letters


def test_only_known_themes_are_forced() -> None:
    request = RequestFactory().get("/")
    for cookie, expected in [("dark", "dark"), ("light", "light"), ("purple", "")]:
        request.COOKIES["theme"] = cookie
        assert theme(Context({"request": request})) == expected
    assert theme(Context({})) == ""


def test_tags_work_in_a_template() -> None:
    shown = Template("{% load look %}{% icon 'add' %}{{ 'Ada Byron'|initials }}").render(Context())
    assert shown.startswith("<svg")
    assert shown.endswith("AB")


def test_pages_are_sent_with_the_strict_policy(db: None) -> None:
    policy = Client().get(reverse("account_login"))["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "style-src 'self'" in policy
    assert "unsafe" not in policy


def sign_in(client: Client, password: str, **data: str) -> str:
    response = client.post(
        reverse("account_login"),
        {"login": "owner@example.com", "password": password, **data},
        follow=True,
    )
    return response.content.decode()


def test_a_wrong_password_is_explained_and_the_address_kept(cast: Cast) -> None:
    shown = sign_in(Client(), "wrong")
    assert 'role="alert"' in shown
    assert 'value="owner@example.com"' in shown
    assert "wrong" not in shown.partition('name="password"')[2].partition(">")[0]


def test_signing_in_leads_to_the_first_question(cast: Cast) -> None:
    assert "What would you like to know?" in sign_in(Client(), PASSWORD)


def test_a_session_lasts_only_as_long_as_was_asked_for(cast: Cast) -> None:
    brief, lasting = Client(), Client()
    sign_in(brief, PASSWORD)
    sign_in(lasting, PASSWORD, remember="on")
    assert brief.session.get_expire_at_browser_close()
    assert not lasting.session.get_expire_at_browser_close()


def test_signing_out_asks_first(cast: Cast) -> None:
    client = Client()
    sign_in(client, PASSWORD)
    assert "Sign out?" in client.get(reverse("account_logout")).content.decode()
    client.post(reverse("account_logout"))
    assert client.get(reverse("home")).status_code == 302


def test_too_many_tries_are_told_how_long_to_wait(cast: Cast) -> None:
    client = Client()
    shown = [sign_in(client, "wrong") for _ in range(12)]
    assert any("Too many" in text for text in shown)


@pytest.mark.parametrize(
    "name",
    [
        "account_login",
        "account_reset_password",
        "account_reset_password_done",
        "account_signup",
        "account_inactive",
    ],
)
def test_pages_before_sign_in_are_in_our_look(db: None, name: str) -> None:
    shown = Client().get(reverse(name)).content.decode()
    assert 'class="brand"' in shown
    assert 'class="page slim"' in shown


@pytest.mark.parametrize("name", ["account_change_password", "account_logout", "mfa_index"])
def test_account_pages_are_in_our_look(cast: Cast, name: str) -> None:
    client = Client()
    sign_in(client, PASSWORD)
    shown = client.get(reverse(name)).content.decode()
    assert 'class="topbar"' in shown
    assert "<h1>" in shown


def test_a_missing_page_says_where_to_go(db: None) -> None:
    response = Client().get("/no/such/page")
    assert response.status_code == 404
    assert "There is nothing here" in response.content.decode()
