"""What surrounds every page: sign-in, headers, the description of the API."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from secondbrain.settings import CACHES
from tests.cast import PASSWORD, make_user
from vault.models import ApiToken
from vault.tokens import create_token, find_token

pytestmark = pytest.mark.django_db


def sign_in(client: Client, password: str = PASSWORD) -> int:
    fields = {"login": "owner@example.com", "password": password}
    return client.post("/accounts/login/", fields).status_code


def test_people_sign_in_with_their_address(client: Client) -> None:
    make_user("owner")
    assert sign_in(client, "not the password") == 200
    assert client.get("/").status_code == 302
    assert sign_in(client) == 302
    assert client.get("/").status_code == 200


def test_many_tries_from_behind_a_proxy_keep_nobody_else_out(client: Client, settings: Any) -> None:
    def tried(address: str) -> int:
        fields = {"login": "owner@example.com", "password": "not the password"}
        headers = {"X-Forwarded-For": address}
        return client.post("/accounts/login/", fields, headers=headers).status_code

    make_user("owner")
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    cache.clear()
    assert 429 in {tried("203.0.113.7") for _ in range(40)}
    assert tried("198.51.100.9") == 200
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 0
    assert 429 in {tried(f"203.0.113.{last}") for last in range(40)}
    cache.clear()


def test_who_tries_many_passwords_does_not_push_the_count_out_of_the_cache() -> None:
    cached: Any = CACHES["default"]
    assert cached["OPTIONS"] == {"MAX_ENTRIES": 10_000}


def test_nobody_signs_up_alone(client: Client) -> None:
    page = client.get("/accounts/signup/").content.decode()
    assert "<form" not in page or 'name="password1"' not in page


def test_a_suspended_person_is_out_at_once(client: Client) -> None:
    user = make_user("owner")
    assert sign_in(client) == 302
    user.is_active = False
    user.save()
    assert client.get("/").status_code == 302


def test_the_admin_is_behind_the_same_door(client: Client) -> None:
    reply = client.get("/admin/", follow=True)
    assert reply.request["PATH_INFO"] == "/accounts/login/"
    make_user("owner")
    sign_in(client)
    assert client.get("/admin/").status_code in {302, 403}


@pytest.mark.parametrize("path", ["/accounts/login/", "/", "/admin/", "/search"])
def test_every_page_forbids_foreign_code(client: Client, path: str) -> None:
    client.force_login(make_user("root", is_superuser=True))
    reply = client.get(path)
    policy = reply.headers["Content-Security-Policy"]
    assert "script-src 'self'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["X-Frame-Options"] == "DENY"


def test_a_script_that_asks_often_writes_rarely(django_assert_num_queries: Any) -> None:
    value = create_token(make_user("owner"), name="script")
    find_token(value)
    with django_assert_num_queries(1):
        find_token(value)
    long_ago = timezone.now() - timedelta(minutes=2)
    ApiToken.objects.update(last_used=long_ago)
    find_token(value)
    assert ApiToken.objects.filter(last_used__gt=long_ago).exists()


def test_a_token_stands_for_its_user_until_that_user_is_suspended(client: Client) -> None:
    user = make_user("owner")
    value = create_token(user, name="script")
    headers = {"Authorization": f"Bearer {value}"}
    assert client.get("/api/vaults", headers=headers).status_code == 200
    assert not ApiToken.objects.filter(digest__contains=value).exists()
    assert ApiToken.objects.get().last_used is not None
    user.is_active = False
    user.save()
    assert client.get("/api/vaults", headers=headers).status_code == 401


@pytest.mark.parametrize("value", ["", "sb_wrong", "\x00", "ü" * 300])
def test_a_wrong_token_is_refused_with_what_to_do(client: Client, value: str) -> None:
    reply = client.get("/api/vaults", headers={"Authorization": f"Bearer {value}"})
    assert reply.status_code == 401
    assert "Make a new one" in reply.json()["detail"]


def test_the_api_describes_itself(client: Client) -> None:
    client.force_login(make_user("owner"))
    schema = json.loads(client.get("/api/schema/?format=json").content)
    assert "/api/search" in schema["paths"]
    assert "/api/chat/conversations" in schema["paths"]


def test_a_page_that_is_not_there_says_so_in_our_look(client: Client) -> None:
    client.force_login(make_user("owner"))
    reply = client.get("/no/such/page")
    assert reply.status_code == 404
    assert "SecondBrain" in reply.content.decode()
