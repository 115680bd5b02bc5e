"""Every address of the product, asked by each of four people.

A route that is not in the table fails: whoever adds one says here who may use it. The
socket's commands have the same table in tests/chat/.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib import admin
from django.db import connections
from django.http import HttpResponse
from django.test import AsyncClient, Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from chat.core.sharing import ShareWish
from chat.models import (
    Conversation,
    Folder,
    Message,
    PromptPreset,
    Run,
    ShareLink,
    Step,
    UnansweredQuestion,
)
from chat.runs import runs_here
from chat.sharing import make_link, token_of
from providers.presets import load_presets
from retrieval.core.types import Knobs
from retrieval.evaluation import add_question, start_run
from retrieval.models import EvalRun, RetrievalRun
from tests.cast import Cast, make_cast, make_user
from vault.models import Note, SyncRun, VaultMember

# Addresses of libraries, which have their own tests: sign-in, admin.
FOREIGN = ("account_", "mfa_", "socialaccount_", "openid_connect_", "admin:")
SIGN_IN = 302
MATE = {"name": "mate@example.com", "role": "reader"}
PEOPLE = ("owner", "mate", "outsider", "anonymous")


@dataclass(frozen=True)
class Row:
    """An address, how it is called, and the status each of PEOPLE gets.

    None: not called here, because it would begin an answer; tests/chat/ does.
    """

    name: str
    expected: tuple[int | None, int | None, int | None, int | None]
    method: str = "get"
    kwargs: Callable[[World], dict[str, Any]] = field(default=lambda world: {})
    data: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.method} {self.name}"


@dataclass(frozen=True)
class World:
    """The owner's things, by which everybody's rights are tried."""

    cast: Cast
    note: Note
    mate: VaultMember
    reading: SyncRun
    conversation: Conversation
    question: Message
    answer: Message
    eval_run: EvalRun
    question_id: int
    folder: Folder
    link: ShareLink
    preset: PromptPreset
    unanswered: UnansweredQuestion


def of_answer(world: World) -> dict[str, Any]:
    return {"conversation_id": world.conversation.pk, "message_id": world.answer.pk}


def of_unanswered(world: World) -> dict[str, Any]:
    return {**in_vault(world), "question_id": world.unanswered.pk}


def of_unanswered_api(world: World) -> dict[str, Any]:
    return {**in_vault(world), "question": world.unanswered.pk}


def preset_id(world: World) -> dict[str, Any]:
    return {"preset_id": world.preset.pk}


def in_vault(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug}


def of_note(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "path": world.note.path}


def golden_question(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "question_id": world.question_id}


def evaluation_run(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "run_id": world.eval_run.pk}


def of_run(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "run_id": world.reading.pk}


def note_id(world: World) -> dict[str, Any]:
    return {"note_id": world.note.pk}


def of_member(world: World) -> dict[str, Any]:
    return {"slug": world.cast.vault.slug, "member_id": world.mate.pk}


def conversation_id(world: World) -> dict[str, Any]:
    return {"conversation_id": world.conversation.pk}


def conversation(world: World) -> dict[str, Any]:
    return {"conversation": world.conversation.pk}


def message(world: World) -> dict[str, Any]:
    return {"conversation": world.conversation.pk, "message": world.answer.pk}


def of_step_api(world: World) -> dict[str, Any]:
    return {**message(world), "step": 1}


def of_step(world: World) -> dict[str, Any]:
    return {**of_answer(world), "number": 1}


def turn(world: World) -> dict[str, Any]:
    return {"conversation_id": world.conversation.pk, "message_id": world.answer.pk}


def marked(world: World) -> dict[str, Any]:
    return {"conversation_id": world.conversation.pk, "name": "pin"}


def by_token(world: World) -> dict[str, Any]:
    return {"token": token_of(world.link)}


def of_link(world: World) -> dict[str, Any]:
    return {"link_id": world.link.pk}


def api_link(world: World) -> dict[str, Any]:
    return {"link": world.link.pk}


def api_folder(world: World) -> dict[str, Any]:
    return {"folder": world.folder.pk}


def in_folder(world: World) -> dict[str, Any]:
    return {"folder_id": world.folder.pk}


ROWS = (
    # Health and descriptions say nothing about anybody's notes.
    Row("healthz", (200, 200, 200, 200)),
    Row("readyz", (200, 200, 200, 200)),
    Row("metrics", (404, 404, 404, 404)),
    Row("schema", (200, 200, 200, 401)),
    Row("api-docs", (200, 200, 200, 401)),
    # Everybody's own first page, list and settings.
    Row("home", (200, 200, 200, SIGN_IN)),
    Row("conversations", (200, 200, 200, SIGN_IN)),
    Row("chat_settings", (302, 302, 302, SIGN_IN), "post"),
    Row("search", (200, 200, 200, SIGN_IN)),
    Row("search-why", (404, 404, 404, SIGN_IN)),
    # Search is measured and tuned by those who own a vault.
    Row("lab", (200, 404, 200, SIGN_IN)),
    Row("evaluations", (302, 200, 302, SIGN_IN)),
    Row("evaluation", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("evaluation-markdown", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("evaluation-start", (302, 404, 404, SIGN_IN), "post", in_vault),
    Row("evaluation-add", (400, 404, 404, SIGN_IN), "post", in_vault),
    Row("evaluation-remove", (302, 404, 404, SIGN_IN), "post", golden_question),
    Row("evaluation-run", (200, 404, 404, SIGN_IN), kwargs=evaluation_run),
    Row("evaluation-state", (200, 404, 404, SIGN_IN), kwargs=evaluation_run),
    Row("evaluation-cancel", (302, 404, 404, SIGN_IN), "post", evaluation_run),
    Row("vaults", (200, 200, 200, SIGN_IN)),
    Row("usage", (200, 200, 200, SIGN_IN)),
    Row("api-search", (200, 200, 200, 401), data={"q": "heron"}),
    Row("api-vaults", (200, 200, 200, 401)),
    Row("api-index-status", (200, 200, 200, 401)),
    Row("feedback", (302, 404, 404, SIGN_IN), "post", of_answer, {"verdict": "up"}),
    Row("follow_ups", (200, 404, 404, SIGN_IN), kwargs=of_answer),
    Row("golden", (302, 404, 404, SIGN_IN), "post", of_answer),
    Row("api-feedback", (200, 404, 404, 401), "put", message, {"is_helpful": True}),
    Row("api-golden", (409, 404, 404, 401), "post", message),
    Row("api-follow-ups", (200, 404, 404, 401), kwargs=message),
    Row("unanswered", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("end_unanswered", (302, 404, 404, SIGN_IN), "post", of_unanswered),
    Row("api-unanswered", (200, 404, 404, 401), kwargs=in_vault),
    Row("api-end-unanswered", (200, 404, 404, 401), "post", of_unanswered_api),
    Row("presets", (200, 200, 200, SIGN_IN)),
    Row("new_preset", (200, 200, 200, SIGN_IN)),
    Row("api-complete", (200, 200, 200, 401), data={"kind": "tag"}),
    Row("api-presets", (200, 200, 200, 401)),
    Row("api-preset", (200, 404, 404, 401), kwargs=lambda world: {"preset": world.preset.pk}),
    Row("edit_preset", (200, 404, 404, SIGN_IN), kwargs=preset_id),
    Row("delete_preset", (200, 404, 404, SIGN_IN), kwargs=preset_id),
    Row("fill_preset", (302, 404, 404, SIGN_IN), kwargs=preset_id),
    Row("api-chat-options", (200, 200, 200, 401)),
    Row("api-chat-settings", (200, 200, 200, 401)),
    Row("api-conversations", (200, 200, 200, 401)),
    # A vault: readers read, editors sync, owners decide. Missing is forbidden.
    Row("vault", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-state", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-report", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-tree", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-sync", (302, 404, 404, SIGN_IN), "post", in_vault),
    Row("vault-upload", (400, 403, 400, SIGN_IN), "post"),
    Row("vault-new", (200, 403, 200, SIGN_IN)),
    Row("vault-folder", (403, 403, 403, SIGN_IN), "post"),
    Row("vault-connect", (400, 403, 400, SIGN_IN), "post"),
    Row("vault-replace", (302, 404, 404, SIGN_IN), "post", in_vault),
    Row("vault-problems", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-runs", (200, 200, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-run", (200, 200, 404, SIGN_IN), kwargs=of_run),
    Row("vault-reindex", (302, 404, 404, SIGN_IN), "post", in_vault, {"failed": "1"}),
    Row("vault-answer", (302, 404, 404, SIGN_IN), "post", in_vault, {"answer": "look"}),
    Row("vault-answer", (302, 404, 404, SIGN_IN), "post", in_vault, {"answer": "delete"}),
    Row("vault-settings", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-delete", (400, 404, 404, SIGN_IN), "post", in_vault),
    Row("vault-restore", (404, 404, 404, SIGN_IN), "post", in_vault),
    Row("api-vault", (200, 404, 404, 401), kwargs=in_vault),
    Row("api-restore-vault", (404, 404, 404, 401), "post", in_vault),
    Row("api-facts", (200, 200, 404, 401), kwargs=in_vault),
    Row("api-facts", (409, 404, 404, 401), "post", in_vault, {"text": "x", "origin": "y"}),
    Row("api-fact", (404, 404, 404, 401), "delete", lambda world: in_vault(world) | {"fact_id": 1}),
    Row("vault-index", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-generations", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-model", (400, 404, 404, SIGN_IN), "post", in_vault),
    Row("vault-switch", (302, 404, 404, SIGN_IN), "post", in_vault, {"action": "discard"}),
    Row("vault-context", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-context-state", (200, 404, 404, SIGN_IN), kwargs=in_vault),
    Row("vault-context-change", (302, 404, 404, SIGN_IN), "post", in_vault, {"action": "off"}),
    Row("vault-members", (302, 404, 404, SIGN_IN), "post", in_vault, MATE),
    Row("vault-member", (302, 404, 404, SIGN_IN), "post", of_member, {"role": "editor"}),
    Row("note", (200, 200, 404, SIGN_IN), kwargs=of_note),
    Row("vault-file", (404, 404, 404, SIGN_IN), kwargs=of_note),
    Row("api-note", (200, 200, 404, 401), kwargs=note_id),
    Row("api-similar", (200, 200, 404, 401), kwargs=note_id),
    Row("api-section", (200, 200, 404, 401), kwargs=note_id, data={"path": "Heron"}),
    # A conversation belongs to one person.
    Row("conversation", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    Row("turn", (200, 404, 404, SIGN_IN), kwargs=turn),
    Row("organise", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    Row("mark_conversation", (302, 404, 404, SIGN_IN), "post", marked),
    Row("choose_branch", (404, 404, 404, SIGN_IN), "post", conversation_id),
    Row("keep_branch", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    Row("folder", (200, 404, 404, SIGN_IN), kwargs=in_folder),
    Row("export_conversation", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    Row("export_conversations", (200, 200, 200, SIGN_IN)),
    Row("conversation_files", (200, 200, 200, SIGN_IN)),
    Row("share", (200, 404, 404, SIGN_IN), kwargs=conversation_id),
    # A link opens for those it names, and to the others it is as if it were not.
    Row("shares", (200, 200, 200, SIGN_IN)),
    Row("shared", (200, 200, 404, SIGN_IN), kwargs=by_token),
    Row("continue_share", (302, 302, 404, SIGN_IN), "post", by_token),
    Row("revoke_share", (302, 404, 404, SIGN_IN), "post", of_link),
    Row("restore_share", (302, 404, 404, SIGN_IN), "post", of_link),
    Row("delete_conversation", (302, 404, 404, SIGN_IN), "post", conversation_id),
    Row("restore_conversation", (302, 404, 404, SIGN_IN), "post", conversation_id),
    Row("api-conversation", (200, 404, 404, 401), kwargs=conversation),
    Row("api-chat-search", (200, 200, 200, 401), data={"q": "Ottokar"}),
    Row("api-folders", (200, 200, 200, 401)),
    Row("api-folder", (405, 405, 405, 401), kwargs=api_folder),
    Row("api-keep-branch", (200, 404, 404, 401), "post", conversation),
    Row("api-restore", (200, 404, 404, 401), "post", conversation),
    Row("api-export", (200, 404, 404, 401), kwargs=conversation),
    Row("api-share", (201, 404, 404, 401), "post", conversation),
    Row("api-export-all", (200, 200, 200, 401)),
    Row("api-import", (415, 415, 415, 401), "post"),
    Row("api-shares", (200, 200, 200, 401)),
    Row("api-share-link", (405, 405, 405, 401), kwargs=api_link),
    Row("api-restore-share", (204, 404, 404, 401), "post", api_link),
    Row("api-shared", (200, 200, 404, 401), kwargs=by_token),
    Row("api-continue-share", (201, 201, 404, 401), "post", by_token),
    Row("api-stop", (None, 404, 404, 401), "post", message),
    Row("api-step", (409, 404, 404, 401), "post", of_step_api, {"decision": "allow"}),
    Row("stop_answer", (None, 404, 404, SIGN_IN), "post", turn),
    Row("decide_step", (302, 404, 404, SIGN_IN), "post", of_step, {"decision": "allow"}),
    Row("ask", (None, None, None, SIGN_IN), "post", data={"text": "Who?"}),
)

# Streams: asked with the asynchronous client, on committed rows.
STREAMS = (
    Row("api-events", (200, 404, 404, 401), kwargs=message),
    Row("api-ask", (None, 404, 404, 401), "post", conversation, {"text": "And now?"}),
    Row("v1-models", (200, 200, 200, 401)),
    Row("v1-model", (200, 200, 200, 401), kwargs=lambda world: {"model": "secondbrain"}),
    Row("v1-completions", (400, 400, 400, 401), "post", data={"messages": []}),
)


def own_names(patterns: list[URLPattern | URLResolver], prefix: str = "") -> Iterator[str]:
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            inner = f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix
            yield from own_names(pattern.url_patterns, inner)
        elif pattern.name:
            yield prefix + pattern.name


@pytest.fixture
def world(cast: Cast) -> World:
    return make_world(cast)


@pytest.fixture
def committed_world(transactional_db: None) -> World:
    return make_world(make_cast())


def make_world(cast: Cast) -> World:
    load_presets()
    note = Note.objects.create(
        vault=cast.vault,
        path="Birds/Heron.md",
        title="Heron",
        body="# Heron\n\nThe heron is called Ottokar.\n",
        headings=[{"level": 1, "text": "Heron", "start": 0, "line": 1}],
        content_hash="0" * 64,
        file_modified=timezone.now(),
    )
    talk = Conversation.objects.create(owner=cast.owner, title="About Ottokar")
    question = Message.objects.create(conversation=talk, role="user", text="Who is Ottokar?")
    answer = Message.objects.create(
        conversation=talk, parent=question, role="assistant", text="A heron."
    )
    Step.objects.create(message=answer, number=1, tool="search", state="done")
    Run.objects.create(
        conversation=talk,
        message=answer,
        state=Run.State.ENDED,
        owner_process="ended",
        lease_until=timezone.now(),
    )
    mate = VaultMember.objects.get(vault=cast.vault, user=cast.mate)
    golden = add_question(cast.vault, "Who is Ottokar?", expected=[note])
    run = start_run(cast.vault, knobs=Knobs(), user=cast.owner, label="Ottokar")
    folder = Folder.objects.create(owner=cast.owner, name="Ottokar and the Heron")
    wish = ShareWish(audience="named", names=(cast.mate.email,))
    link = make_link(cast.owner, talk.pk, wish)
    reading = SyncRun.objects.create(vault=cast.vault, counts={"created": 1})
    preset = PromptPreset.objects.create(name="nest", text="Who nests?", owner=cast.owner)
    missing = UnansweredQuestion.objects.create(
        vault=cast.vault,
        question="Where is Ottokar?",
        cause=UnansweredQuestion.Cause.NOTHING_FOUND,
        last_asked=timezone.now(),
    )
    things = (run, golden.pk, folder, link, preset, missing)
    return World(cast, note, mate, reading, talk, question, answer, *things)


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


@pytest.mark.django_db(transaction=True)
@pytest.mark.asyncio
@pytest.mark.parametrize("row", STREAMS, ids=str)
async def test_each_person_gets_what_the_table_says_of_a_stream(
    row: Row, committed_world: World
) -> None:
    url = reverse(row.name, kwargs=row.kwargs(committed_world))
    for who, expected in zip(PEOPLE, row.expected, strict=True):
        if expected is None:
            continue
        client = AsyncClient()
        if who != "anonymous":
            await client.aforce_login(getattr(committed_world.cast, who))
        options = {"content_type": "application/json"} if row.method == "post" else {}
        reply = await getattr(client, row.method)(url, data=row.data, **options)
        assert reply.status_code == expected, who
    await runs_here().drain(0)
    await sync_to_async(connections.close_all)()


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
