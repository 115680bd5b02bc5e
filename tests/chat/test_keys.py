"""The key hunt: keys, tokens and passwords are planted everywhere, and then everything that
the product says, shows, logs or stores is searched for them."""

from __future__ import annotations

import io
import logging
import traceback
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from asgiref.sync import sync_to_async
from django.contrib import admin
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from chat.core.asking import Ask
from providers.core.errors import ProviderError
from providers.models import ChatModel, Provider
from providers.probes import probe_provider
from providers.refreshing import refresh_models
from tests.cast import PASSWORD, Cast, make_user
from tests.chat.world import World, caller
from tests.contracts.server import ModelServer, Reply, json_reply, serving
from tests.contracts.wires import OPENAI
from vault.tokens import create_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

FROM_ENVIRONMENT = "sk-env-Quorvex7fP2mZ81kLwT4"
STORED = "plainlooking-Zelmira-9ab3c5d7e"
URL_PASSWORD = "hunter-Orvenna-4431"
METRICS = "metrics-Tavrik-5512-token"


@dataclass
class Planted:
    """What must not be found, and all that was said so far."""

    secrets: tuple[str, ...]
    said: dict[str, str]

    def found(self) -> list[str]:
        return [
            f"{secret[:12]}… in {place}"
            for place, text in self.said.items()
            for secret in self.secrets
            if secret in text
        ]


def plant(
    people: Cast, one: ModelServer, other: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, ...]:
    """Three providers and a token; returns every secret."""
    monkeypatch.setenv("HUNT_KEY", FROM_ENVIRONMENT)
    monkeypatch.setenv("HUNT_URL", one.url)
    monkeypatch.setenv("HUNT_OTHER_URL", other.url)
    monkeypatch.setenv("HUNT_LOGIN", f"http://boss:{URL_PASSWORD}@127.0.0.1:9/v1")
    for slug, fields in {
        "environment": {"key_variable": "HUNT_KEY", "base_url_variable": "HUNT_URL"},
        "stored": {"key": STORED, "base_url_variable": "HUNT_OTHER_URL"},
        "login": {"key": STORED, "base_url_variable": "HUNT_LOGIN"},
    }.items():
        provider = Provider.objects.create(slug=slug, name=slug.title(), kind="openai", **fields)
        ChatModel.objects.create(provider=provider, name=f"model-{slug}")
    return (FROM_ENVIRONMENT, STORED, URL_PASSWORD, METRICS, PASSWORD, create_token(people.mate))


def echo(key: str) -> tuple[Reply, ...]:
    """What careless servers say: the key, in an error, in a page, in the answer's stream."""
    said = f"bad key {key} of Authorization: Bearer {key} at /v1?key={key}"
    return (
        json_reply({"error": {"message": said}}, status=401),
        Reply([said.encode()], 200, {"content-type": "text/html"}),
        OPENAI.reply(OPENAI.begin, OPENAI.text("x"), OPENAI.error(said)),
        json_reply({"error": {"message": said}}, status=400),
    )


def call_everything() -> Iterator[tuple[str, str]]:
    """Probes, lists and commands, with what they said or raised."""
    for provider in Provider.objects.all():
        yield "probe", str(probe_provider(provider))
        try:
            yield "list", str(refresh_models(provider))
        except ProviderError as error:
            shown = "".join(traceback.format_exception(error))
            yield "error", f"{error} {error!r} {error.mend} {shown} {vars(error)}"
        yield "repr", f"{provider!r} {vars(provider).get('name')}"
    out = io.StringIO()
    for command in ("doctor", "load_presets", "check"):
        try:
            call_command(command, stdout=out, stderr=out)
        except SystemExit as error:
            out.write(f"{command}: {error}")
    yield "commands", out.getvalue()


def use_the_admin(client: Client) -> Iterator[tuple[str, str]]:
    """A key is entered, a provider tested and cloned, and every page looked at."""
    stored = Provider.objects.get(slug="stored")
    change = reverse("admin:providers_provider_change", args=[stored.pk])
    fields = {
        "name": "Stored",
        "slug": "stored",
        "kind": "openai",
        "enabled": "on",
        "position": "1",
        "base_url_variable": "HUNT_OTHER_URL",
        "needs_key": "on",
        "new_key": STORED,
    }
    yield "saved", client.post(change, fields, follow=True).content.decode()
    yield "refused form", client.post(change, {**fields, "kind": "none"}).content.decode()
    changelist = reverse("admin:providers_provider_changelist")
    everything = [str(pk) for pk in Provider.objects.values_list("pk", flat=True)]
    for action in ("test_connection", "refresh", "clone"):
        posted = {"action": action, "_selected_action": everything}
        yield action, client.post(changelist, posted, follow=True).content.decode()
    yield (
        "history",
        client.get(reverse("admin:providers_provider_history", args=[stored.pk])).content.decode(),
    )
    for model in admin.site._registry:
        name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        yield name, client.get(reverse(f"{name}_changelist")).content.decode()
        row = model._default_manager.first()
        if row is not None:
            page = client.get(reverse(f"{name}_change", args=[row.pk]), follow=True)
            yield f"{name} {row.pk}", page.content.decode()


def look_at_pages(client: Client, conversation: str) -> Iterator[tuple[str, str]]:
    paths = ["/", "/usage", "/conversations", "/search?q=key", "/metrics", "/readyz", "/admin/"]
    paths += ["/api/chat/options", "/api/chat/settings", f"/api/chat/conversations/{conversation}"]
    paths += ["/api/schema/"]
    for path in paths:
        reply = client.get(path, follow=True)
        yield path, reply.content.decode() + str(dict(reply.headers))
    kept = f"/c/{conversation}"
    for path in (kept, f"{kept}/export", f"{kept}/export?as=json", "/conversations/export"):
        reply = client.get(path)
        assert reply.status_code in {200, 404}, path
        body = b"".join(reply) if reply.streaming else reply.content
        yield path, _unpacked(body)


def _unpacked(body: bytes) -> str:
    """The text of a page, or of every file in an archive."""
    if not zipfile.is_zipfile(io.BytesIO(body)):
        return body.decode()
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return "\n".join(archive.read(name).decode() for name in archive.namelist())


def dump_of_every_table() -> Iterator[tuple[str, str]]:
    """As a backup would hold it, column by column."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            name = connection.ops.quote_name(table)
            cursor.execute(f"SELECT string_agg(t::text, ' ') FROM {name} t")
            row = cursor.fetchone()
            yield f"table {table}", (row[0] or "") if row else ""


async def test_no_key_is_ever_said_shown_logged_or_stored(
    world: World,
    people: Cast,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    settings.METRICS_TOKEN = METRICS
    async with serving(*echo(FROM_ENVIRONMENT)) as one, serving(*echo(STORED)) as other:
        secrets = await sync_to_async(plant)(people, one, other, monkeypatch)
        planted = Planted(secrets, {})
        me = await sync_to_async(caller)(people.mate)
        conversation = None
        async for model in ChatModel.objects.filter(name__startswith="model-").order_by("pk"):
            for _reply in range(3):
                ask = Ask(text="Which key?", model=model.pk, conversation=conversation)
                turn = await world.runs.start(ask, caller=me)
                conversation = turn.ids.conversation
                events = [event async for event in world.runs.follow(turn.ids.run)]
                planted.said[f"events {turn.ids.run}"] = str(events)
        assert any(FROM_ENVIRONMENT in str(request.headers) for request in one.received)
        assert any(STORED in str(request.headers) for request in other.received)
        boss = await sync_to_async(make_user)("root", is_superuser=True)
        await sync_to_async(_search_everything)(planted, people, boss, str(conversation))
    planted.said["log"] = caplog.text
    assert len(planted.said) > 60
    assert "openai" in caplog.text, "nothing was logged at DEBUG"
    assert planted.found() == []
    # The hunt itself works: what is shown on purpose is found.
    shown = " ".join(planted.said.values())
    assert "…LwT4" in shown
    assert "Which key?" in shown


def _search_everything(planted: Planted, people: Cast, boss: object, conversation: str) -> None:
    for place, text in call_everything():
        planted.said[f"{place} {len(planted.said)}"] = text
    client = Client()
    client.force_login(boss)  # type: ignore[arg-type]
    mate = Client()
    mate.force_login(people.mate)
    for who, pages in (
        ("root", use_the_admin(client)),
        ("root", look_at_pages(client, conversation)),
        ("mate", look_at_pages(mate, conversation)),
        ("", dump_of_every_table()),
    ):
        planted.said |= {f"{who} {place}": text for place, text in pages}
