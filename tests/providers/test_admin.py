"""The admin of providers: keys go in and never come out, tests are real, copies are whole."""

from __future__ import annotations

import socket
from decimal import Decimal
from html import unescape

import pytest
from auditlog.models import LogEntry
from django.conf import settings
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from providers import circuits
from providers.core.circuit import FAILURES_TO_OPEN
from providers.models import ChatModel, EmbeddingModel, Provider, UsageLimit, UsageRecord
from tests.cast import make_user
from tests.contracts.server import json_reply, serving_in_a_thread
from tests.providers.rows import (
    make_chat_model,
    make_embedding_model,
    make_provider,
    make_rerank_model,
)
from tests.providers.usage_rows import make_record

pytestmark = pytest.mark.django_db
KEY = "sk-planted-1234567890abcdef"
LIST = "admin:providers_provider_changelist"
CHANGE = "admin:providers_provider_change"


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(make_user("root", is_superuser=True))
    return client


def post_form(admin: Client, provider: Provider, **changes: object) -> str:
    data = {
        "slug": provider.slug,
        "name": provider.name,
        "kind": provider.kind,
        "base_url": provider.base_url,
        "base_url_variable": "",
        "key_variable": "",
        "needs_key": "on",
        "enabled": "on",
        "position": 100,
        **changes,
    }
    reply = admin.post(reverse(CHANGE, args=[provider.pk]), data, follow=True)
    assert reply.status_code == 200
    return unescape(reply.content.decode())


def run(admin: Client, action: str, *providers: Provider) -> list[str]:
    data = {"action": action, "_selected_action": [provider.pk for provider in providers]}
    reply = admin.post(reverse(LIST), data)
    said = [str(message) for message in get_messages(reply.wsgi_request)]
    # The next page shows them, and then they are gone.
    admin.get(reverse(LIST))
    return said


def test_a_key_is_stored_encrypted_and_never_shown(admin: Client) -> None:
    provider = make_provider()
    page = post_form(admin, provider, new_key=f" {KEY} ")
    provider.refresh_from_db()
    assert provider.key == KEY
    assert provider.edited
    column = Provider.objects.filter(pk=provider.pk).extra(select={"raw": "key"}).values("raw")
    assert KEY not in str(column[0])
    pages = [page, admin.get(reverse(CHANGE, args=[provider.pk])).content.decode()]
    history = reverse("admin:providers_provider_history", args=[provider.pk])
    pages.append(admin.get(history).content.decode())
    for text in pages:
        assert KEY not in text
        assert KEY[:12] not in text
    assert "…cdef (stored)" in pages[1]


def test_the_audit_log_knows_that_a_key_changed_but_not_the_key(admin: Client) -> None:
    provider = make_provider()
    post_form(admin, provider, new_key=KEY)
    entry = LogEntry.objects.filter(object_pk=str(provider.pk)).latest("timestamp")
    assert entry.changes["key"][1] == "…cdef"
    assert KEY not in str(entry.changes)


def test_an_empty_key_field_keeps_the_key_and_a_tick_removes_it(admin: Client) -> None:
    provider = make_provider(key=KEY)
    post_form(admin, provider, name="Renamed")
    provider.refresh_from_db()
    assert (provider.name, provider.key) == ("Renamed", KEY)
    post_form(admin, provider, remove_key="on")
    provider.refresh_from_db()
    assert provider.key == ""


def test_another_host_does_not_get_the_key(admin: Client) -> None:
    provider = make_provider(key=KEY)
    post_form(admin, provider, base_url="https://models.example.com/v2/")
    provider.refresh_from_db()
    assert (provider.key, provider.base_url) == (KEY, "https://models.example.com/v2")
    page = post_form(admin, provider, base_url="https://elsewhere.example.com/v1")
    provider.refresh_from_db()
    assert provider.key == ""
    assert "the stored key was removed" in page


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("127.0.0.1:9/v1", "must begin with http:// or https://"),
        ("ftp://x", "must begin with http:// or https://"),
        ("http://user:pw@127.0.0.1:9/v1", "has a user name or password in it"),
        ("https://", "has no host"),
        ("http://h/${SECRET_KEY} x", "has a space"),
    ],
)
def test_a_base_url_that_cannot_be_called_is_refused(admin: Client, url: str, reason: str) -> None:
    page = post_form(admin, make_provider(), base_url=url)
    assert reason in page
    assert Provider.objects.get().base_url == "https://models.example.com/v1"


def test_the_list_says_what_is_missing(admin: Client) -> None:
    make_provider(key_variable="ACME_KEY")
    make_provider("local", kind="local_e5", needs_key=False)
    page = unescape(admin.get(reverse(LIST)).content.decode())
    assert "it has no key: set ACME_KEY or enter it in the admin" in page
    assert "not needed" in page


def test_a_key_of_the_environment_is_named_by_its_variable(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_provider(key_variable="ACME_KEY")
    monkeypatch.setenv("ACME_KEY", KEY)
    page = unescape(admin.get(reverse(LIST)).content.decode())
    assert "…cdef (ACME_KEY)" in page
    assert KEY not in page


def test_an_unreadable_key_is_said_and_the_page_still_opens(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_provider(key=KEY)
    other = b"b3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXItMTI="
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", [other])
    page = unescape(admin.get(reverse(LIST)).content.decode())
    assert "stored, but unreadable" in page
    assert "restore the old encryption key" in page


def test_test_connection_calls_each_default_model(admin: Client) -> None:
    provider = make_provider(kind="fake")
    make_chat_model(provider, "say:ready", is_default=True)
    make_chat_model(provider, "fail:overloaded")
    make_embedding_model(provider)
    make_rerank_model(provider)
    said = run(admin, "test_connection", provider)
    assert [text.rpartition(" (")[0] for text in said] == [
        "Acme, say:ready: answered “ready”",
        "Acme, vec: returned a vector of 64 dimensions",
        "Acme, rank: ranked 2 texts",
    ]


def test_test_connection_shows_the_exact_failure_and_the_mend(admin: Client) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    provider = make_provider(base_url=f"http://127.0.0.1:{port}/v1", key=KEY)
    make_chat_model(provider, "big")
    (refused,) = run(admin, "test_connection", provider)
    assert f"127.0.0.1:{port} is 127.0.0.1, a private address" in refused
    assert f"add 127.0.0.1:{port} to ALLOWED_PRIVATE_ENDPOINTS" in refused
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "ALLOWED_PRIVATE_ENDPOINTS", [f"127.0.0.1:{port}"])
        (unreachable,) = run(admin, "test_connection", provider)
    assert "cannot be reached" in unreachable
    assert "Check the base URL and that the server runs." in unreachable
    assert KEY not in refused + unreachable


def test_test_connection_says_when_there_is_nothing_to_call(admin: Client) -> None:
    without_key, without_model = make_provider(), make_provider("bare", kind="fake")
    said = run(admin, "test_connection", without_key, without_model)
    assert said == [
        "Acme: it has no key: enter it in the admin",
        "Bare: it has no model that is switched on",
    ]


def test_the_quotes_only_model_passes_its_test(admin: Client) -> None:
    provider = make_provider(kind="extractive", needs_key=False)
    make_chat_model(provider, "extractive")
    (said,) = run(admin, "test_connection", provider)
    assert "answered “These are the notes’ own words" in said


def test_a_clone_has_the_models_but_not_the_key(admin: Client) -> None:
    provider = make_provider(key=KEY)
    make_chat_model(provider, input_price=Decimal("1.5"))
    make_embedding_model(provider)
    run(admin, "clone", provider)
    run(admin, "clone", provider)
    copies = Provider.objects.exclude(pk=provider.pk)
    assert {copy.slug for copy in copies} == {"acme-2", "acme-3"}
    assert all(copy.key == "" for copy in copies)
    assert ChatModel.objects.filter(input_price=Decimal("1.5")).count() == 3
    assert EmbeddingModel.objects.count() == 3
    provider.refresh_from_db()
    assert provider.key == KEY


def test_one_default_a_provider(admin: Client) -> None:
    provider = make_provider()
    old = make_chat_model(provider, "old", is_default=True)
    new = make_chat_model(provider, "new")
    data = {
        "provider": provider.pk,
        "name": "new",
        "label": "",
        "is_default": "on",
        "enabled": "on",
        "context_window": 8192,
        "max_output_tokens": 2048,
        "input_price": 0,
        "output_price": 0,
    }
    reply = admin.post(reverse("admin:providers_chatmodel_change", args=[new.pk]), data)
    assert reply.status_code == 302
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.is_default, new.is_default) == (False, True)
    # Both are the admin's choice now: a reload of the presets leaves them.
    assert (old.edited, new.edited) == (True, True)


def test_every_list_and_form_of_the_app_opens(admin: Client) -> None:
    provider = make_provider()
    rows = [
        provider,
        make_chat_model(provider),
        make_embedding_model(provider),
        make_rerank_model(provider),
        UsageRecord.objects.create(purpose="answer", provider="acme", model="big"),
    ]
    for row in rows:
        name = f"admin:providers_{row._meta.model_name}"
        assert admin.get(reverse(f"{name}_changelist")).status_code == 200
        assert admin.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200


def test_use_cannot_be_changed(admin: Client) -> None:
    record = UsageRecord.objects.create(purpose="answer", provider="acme", model="big")
    assert admin.get(reverse("admin:providers_usagerecord_add")).status_code == 403
    url = reverse("admin:providers_usagerecord_delete", args=[record.pk])
    assert admin.post(url, {"post": "yes"}).status_code == 403
    assert UsageRecord.objects.filter(pk=record.pk).exists()


def test_a_provider_that_is_left_alone_says_until_when_and_a_test_calls_it_again(
    admin: Client,
) -> None:
    provider = make_provider(kind="fake", needs_key=False)
    make_chat_model(provider, "say:ready")
    for _ in range(FAILURES_TO_OPEN):
        circuits.note_failure(provider, reason="It answered 500.")
    page = unescape(admin.get(reverse(LIST)).content.decode())
    assert "it failed and is not called until" in page
    assert "It answered 500." in page
    (said,) = run(admin, "test_connection", provider)
    assert "ready" in said
    assert circuits.trouble_of(provider) == ""
    assert "is not called until" not in admin.get(reverse(LIST)).content.decode()


def test_a_failed_test_of_a_connection_leaves_the_circuit_as_it_is(admin: Client) -> None:
    provider = make_provider(kind="fake", needs_key=False)
    make_chat_model(provider, "fail:overloaded")
    for _ in range(FAILURES_TO_OPEN):
        circuits.note_failure(provider, reason="It answered 500.")
    run(admin, "test_connection", provider)
    assert circuits.trouble_of(provider) != ""


def test_limits_are_made_here_and_show_what_is_used(admin: Client) -> None:
    add = reverse("admin:providers_usagelimit_add")
    ann = make_user("ann")
    refused = admin.post(add, {"user": ann.pk, "period": "day", "enabled": "on"})
    assert "Enter the most tokens, the most cost, or both." in refused.content.decode()
    fields = {"period": "day", "enabled": "on", "most_tokens": 5_000}
    admin.post(add, {"user": ann.pk, **fields})
    admin.post(add, {"per_person": "on", **fields})
    make_record(ann, input_tokens=1_200, output_tokens=34)
    page = admin.get(reverse("admin:providers_usagelimit_changelist")).content.decode()
    assert "1,234 of 5,000 tokens" in page
    assert "counted for each person" in page
    assert LogEntry.objects.get_for_objects(UsageLimit.objects.all()).count() == 2


def test_the_list_of_models_is_refreshed_and_told(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = make_provider(base_url="", base_url_variable="ACME_URL", needs_key=False)
    make_chat_model(provider, "old")
    listed = json_reply({"data": [{"id": "new"}, {"id": "text-embedding-x"}]})
    with serving_in_a_thread(listed) as server:
        monkeypatch.setenv("ACME_URL", server.url)
        first = run(admin, "refresh", provider)
        second = run(admin, "refresh", provider)
    by_hand = "Acme: 1 not for chat; enter by hand what you need of: text-embedding-x"
    assert first == [
        "Acme: 1 new, switched off until you switch them on: new",
        "Acme: 1 not listed any more, kept as they are: old",
        by_hand,
    ]
    assert second == ["Acme: its chat models are as before", by_hand]


def test_a_refresh_that_fails_says_how_to_mend_it(admin: Client) -> None:
    (said,) = run(admin, "refresh", make_provider(needs_key=True))
    assert said.startswith("Acme: it has no key: enter it in the admin")
    assert "Set the provider's key" in said


def test_a_long_list_is_told_shortly(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = make_provider(base_url="", base_url_variable="ACME_URL", needs_key=False)
    entries = [{"id": f"model-{number:03}"} for number in range(300)]
    with serving_in_a_thread(json_reply({"data": entries})) as server:
        monkeypatch.setenv("ACME_URL", server.url)
        (said,) = run(admin, "refresh", provider)
    assert said.startswith("Acme: 300 new")
    assert said.endswith("model-019, …")


def test_models_are_switched_on_and_off_and_say_why_they_cannot_be_used(admin: Client) -> None:
    model = make_chat_model(make_provider(needs_key=False), enabled=False)
    models = reverse("admin:providers_chatmodel_changelist")
    assert "it is switched off" in admin.get(models).content.decode()
    admin.post(models, {"action": "switch_on", "_selected_action": [model.pk]})
    model.refresh_from_db()
    assert (model.enabled, model.edited) == (True, True)
    assert "it is switched off" not in admin.get(models).content.decode()
    admin.post(models, {"action": "switch_off", "_selected_action": [model.pk]})
    model.refresh_from_db()
    assert not model.enabled
