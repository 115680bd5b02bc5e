"""A small world for tests of the chat: a fake model, fixed passages, a signed-in socket."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import psycopg
from asgiref.sync import sync_to_async
from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.urls import path

from chat.consumers import ChatConsumer
from chat.core.events import Event, RunIds, to_wire
from chat.core.support import Meanings
from chat.offers import Catalogue
from chat.providing import Providing
from chat.rights import Caller
from chat.runs import Runs
from chat.writing import Pace
from providers.calibration import counter_for
from providers.core.protocols import Vectors
from providers.limits import limit_notices
from providers.models import ChatModel, Provider
from providers.registry import available_chat_models, chat_provider, default_chat_model
from providers.usage import arecord_usage
from providers.vault_models import available_vault_models
from retrieval.core.types import Arm, Knobs, Passage, Retrieval
from vault.core.types import Scope
from vault.models import Note, Vault

PUMP = "The pump failed in March. It was repaired in three hours by Ann.\n\nThe seal was worn."
UPDATED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
# Seconds to wait for what a socket says: what is heard at once costs none of them.
PATIENCE = 60
# Quick enough for a test, slow enough that several words share a frame.
QUICK = Pace(frame=0.01, flush=0.05, gather=0.01, lease=5.0, outage=0.3)


async def no_meanings(_texts: Sequence[str]) -> None:
    """No model is at hand that compares texts."""


@dataclass
class FixedRetrieval:
    """Finds the same passages whatever is asked, in the vaults of the scope alone.

    `by_question` has others for some questions; while `gate` is closed a search goes on.
    """

    passages: tuple[Passage, ...] = ()
    by_question: dict[str, tuple[Passage, ...]] = field(default_factory=dict)
    gate: asyncio.Event | None = None
    meanings: Meanings = no_meanings
    cancelled: int = 0
    scopes: list[Scope] = field(default_factory=list)
    knobs: list[Knobs] = field(default_factory=list)

    async def __call__(
        self,
        question: str,
        *,
        history: Sequence[Any],
        scope: Scope,
        knobs: Knobs,
        user_id: int | None = None,
        model: ChatModel | None = None,
    ) -> Retrieval:
        self.scopes.append(scope)
        self.knobs.append(knobs)
        await self._pass_gate()
        vaults = Vault.objects.filter(pk__in=scope.vault_ids)
        slugs = [slug async for slug in vaults.values_list("slug", flat=True)]
        fixed = self.by_question.get(question, self.passages)
        found = tuple(p for p in fixed if p.vault_slug in slugs)
        return Retrieval(
            queries=(question,),
            passages=found,
            arms=(
                Arm("keyword", ran=True, found=len(found)),
                Arm("meaning", ran=False, reason="no model"),
            ),
            timings={"total": 0.01},
            searched_vaults=tuple(slugs),
            notices=("Search by meaning was skipped: no model.",),
        )

    async def compare(self, texts: Sequence[str]) -> Vectors | None:
        """What `meanings` says by now."""
        return await self.meanings(texts)

    async def _pass_gate(self) -> None:
        if self.gate is None:
            return
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise


@dataclass
class World:
    """The parts a test may turn."""

    model: ChatModel
    retrieval: FixedRetrieval
    runs: Runs

    async def socket(self, user: User, **consumer: Any) -> Socket:
        """A socket of `user`, signed in and connected."""
        client = await sync_to_async(signed_in)(user)
        socket = Socket(self, client, **consumer)
        connected, _ = await socket.connect(timeout=PATIENCE)
        assert connected
        return socket


class Socket(WebsocketCommunicator):  # type: ignore[misc]
    """A socket that speaks JSON and waits long enough on a busy machine."""

    def __init__(self, world: World, client: Client, **consumer: Any) -> None:
        self.client = client
        app = ChatConsumer.as_asgi(get_runs=lambda: world.runs, **consumer)
        cookie = client.cookies[settings.SESSION_COOKIE_NAME].value if client.cookies else ""
        headers = [(b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode())]
        stack = AuthMiddlewareStack(URLRouter([path("ws/chat/", app)]))
        super().__init__(stack, "/ws/chat/", headers=headers)

    async def say(self, **frame: Any) -> None:
        await self.send_json_to(frame)

    async def hear(self) -> dict[str, Any]:
        frame: dict[str, Any] = await self.receive_json_from(timeout=PATIENCE)
        return frame

    async def hear_type(self, kind: str) -> dict[str, Any]:
        """The next frame of this type; others before it are passed over."""
        while (frame := await self.hear())["type"] != kind:
            pass
        return frame

    async def hear_to_the_end(self) -> list[dict[str, Any]]:
        """Frames up to the last event of a run."""
        frames = [await self.hear()]
        while frames[-1]["type"] not in {"done", "stopped", "error", "refused"}:
            frames.append(await self.hear())
        return frames

    async def hear_close(self) -> int:
        """The code the server closes with; what it still sends before is passed over."""
        while (output := await self.receive_output(timeout=PATIENCE))["type"] != "websocket.close":
            pass
        return int(output["code"])


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def caller(user: User) -> Caller:
    """`user` behind a fresh session."""
    return Caller(user_id=user.pk, session_key=signed_in(user).session.session_key)


def make_model(script: str = "cite", **fields: Any) -> ChatModel:
    """A fake chat model that plays `script`."""
    provider, _ = Provider.objects.get_or_create(
        slug="fake", defaults={"name": "Fake", "kind": "fake", "needs_key": False}
    )
    return ChatModel.objects.create(
        provider=provider, name=script, label=fields.pop("label", "Fake model"), **fields
    )


def make_passage(vault: Vault, *, number: int = 1, text: str = PUMP, **fields: Any) -> Passage:
    """A passage of a note that exists."""
    title = fields.pop("title", f"Pump {number}")
    note = Note.objects.create(
        vault=vault,
        path=f"Notes/{title}.md",
        title=title,
        body=text,
        content_hash="0" * 64,
        file_modified=UPDATED,
    )
    passage = Passage(
        number=number,
        chunk_ids=(),
        note_id=note.pk,
        vault_slug=vault.slug,
        vault_name=vault.name,
        path=note.path,
        title=title,
        heading_path=(title, "Failure"),
        text=text,
        start=0,
        end=len(text),
        tokens=20,
        score=1.0,
        arms=("keyword 1",),
        updated=UPDATED,
        day=UPDATED.date(),
    )
    return replace(passage, **fields)


def make_providing(retrieval: FixedRetrieval) -> Providing:
    return Providing(
        catalogue=Catalogue(
            available_chat_models, default_chat_model, Knobs, available_vault_models
        ),
        chat_provider=chat_provider,
        retrieve=retrieval,
        record_usage=arecord_usage,
        counter_for=counter_for,
        limit_notices=limit_notices,
        meanings=retrieval.compare,
    )


def wire(events: Sequence[Event], ids: RunIds) -> list[dict[str, Any]]:
    return [to_wire(event, ids) for event in events]


def allow_connections(*, allowed: bool) -> None:
    """Let the database take new connections, or none."""
    place = connections["default"].get_connection_params()
    name = place["dbname"]
    host = {key: place[key] for key in ("host", "port", "user", "password") if key in place}
    with psycopg.connect(dbname="postgres", autocommit=True, **host) as elsewhere:
        elsewhere.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS {allowed}')
