"""Every address of the product, asked by each of four people."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest
from django.contrib import admin
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from chat.models import Message
from retrieval.models import RetrievalRun
from tests.architecture.permissions import PEOPLE, ROWS, SIGN_IN, STREAMS, Row
from tests.architecture.things import World, make_world
from tests.cast import make_cast, make_user
from tests.conftest import Written
from vault.models import SyncRun

# Addresses of libraries, which have their own tests: sign-in, admin.
FOREIGN = ("account_", "mfa_", "socialaccount_", "openid_connect_", "admin:")


def own_names(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
            yield from own_names(pattern.url_patterns, inner)
        elif pattern.name:
            yield prefix + pattern.name


@pytest.fixture(scope="module")
def kept_world(kept_rows: Written) -> World:
    with kept_rows():
        return make_world(make_cast())


@pytest.fixture
def world(db: None, kept_world: World) -> World:
    """The same for every test; what a test does to it is undone."""
    return kept_world


def call(row: Row, world: World, who: str) -> HttpResponse:
    client = Client(raise_request_exception=False)
    if who != "anonymous":
        client.force_login(getattr(world.cast, who))
    url = reverse(row.name, kwargs=row.kwargs(world))
    is_api_post = row.method in {"post", "put"} and row.name.startswith("api-")
    options = {"content_type": "application/json"} if is_api_post else {}
    response: HttpResponse = getattr(client, row.method)(url, data=row.data, **options)
    if response.streaming:  # a file is open until it was read
        assert b"".join(response)
    return response


def test_every_address_is_in_the_table() -> None:
    names = {
        name for name in own_names(get_resolver().url_patterns) if not name.startswith(FOREIGN)
    }
    assert names == {row.name for row in (*ROWS, *STREAMS)}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_person_gets_what_the_table_says(row: Row, world: World) -> None:
    for who, expected in zip(PEOPLE, row.expected, strict=True):
        if expected is None:
            continue
        reply = call(row, world, who)
        assert reply.status_code == expected, f"{who}: {reply.status_code}"
        if expected == SIGN_IN and who == "anonymous":
            assert "/accounts/login/" in reply.headers["Location"]
        if expected in {404, 401} or who == "outsider":
            shown = b"" if reply.streaming else reply.content
            assert b"Ottokar" not in shown
            assert b"Heron" not in shown


@pytest.mark.parametrize("row", [row for row in ROWS if row.expected[2] == 404], ids=str)
def test_forbidden_and_missing_are_told_apart_by_nothing(row: Row, world: World) -> None:
    forbidden = call(row, world, "outsider")
    missing_kwargs = {
        name: {int: 999_999_999, uuid.UUID: uuid.uuid4()}.get(type(value), "no-such-thing")
        for name, value in row.kwargs(world).items()
    }
    missing = call(
        Row(row.name, row.expected, row.method, lambda _: missing_kwargs, row.data),
        world,
        "outsider",
    )
    assert missing.status_code == forbidden.status_code
    assert without_token(missing.content) == without_token(forbidden.content)


def without_token(content: bytes) -> bytes:
    """The page less its CSRF token, which is new on every page."""
    return re.sub(rb'(csrf[^>]*value="|X-CSRFToken[^,}]*)[^"&,}]*', rb"\1", content)


def admin_pages(client: Client) -> Iterator[tuple[str, int, bytes]]:
    """Every list of the admin, and the page of its first row."""
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        page = client.get(reverse(f"{name}_changelist"))
        yield f"{name} list", page.status_code, page.content
        row = model._default_manager.first()
        if row is not None:
            page = client.get(reverse(f"{name}_change", args=[row.pk]))
            yield f"{name} row", page.status_code, page.content


def test_the_admin_is_no_way_around_rights(world: World) -> None:
    run = RetrievalRun.objects.create(
        question="Who is Ottokar?", queries=["Ottokar"], mode="hybrid"
    )
    Message.objects.filter(pk=world.answer.pk).update(retrieval_run=run)
    SyncRun.objects.create(
        vault=world.cast.vault, warnings=[{"path": "Birds/Heron.md", "reason": "odd", "line": 1}]
    )
    client = Client()
    client.force_login(make_user("root", is_superuser=True))
    for name, status, content in admin_pages(client):
        assert status == 200, name
        assert b"Ottokar" not in content, name
        assert b"Heron" not in content, name


def test_nobody_but_staff_gets_into_the_admin(world: World) -> None:
    for who in (world.cast.owner, world.cast.outsider, None):
        client = Client()
        if who is not None:
            client.force_login(who)
        for name, status, _content in admin_pages(client):
            assert status == 302, name
