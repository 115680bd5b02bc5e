"""Streams that providers really sent (cases 54 to 57 and 62), answered to the end."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async

from chat.core.asking import Ask
from chat.core.titles import title_from_model, title_from_question
from chat.models import Message
from providers.models import ChatModel, Provider
from tests.cases.ingested import DATA
from tests.cast import Cast
from tests.chat.world import World, caller
from tests.contracts.server import Reply, json_reply, serving

pytestmark = [pytest.mark.asyncio, pytest.mark.django_db(transaction=True)]
REASONING = ("ulvane", "wemrick", "yarmond", "zolmond", "xelmont", "think>")


def stream(path: str) -> Reply:
    return Reply([(DATA / path).read_bytes()])


def make_row(kind: str) -> ChatModel:
    provider = Provider.objects.create(
        slug="field", name="Field", kind=kind, base_url_variable="FIELD_URL", key_variable="KEY"
    )
    return ChatModel.objects.create(provider=provider, name="fake")


async def answered(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch, *replies: Reply, kind: str
) -> tuple[Message, list[dict[str, Any]]]:
    """The stored answer to what a server replies, and the events that were told."""
    monkeypatch.setenv("KEY", "sk-test-000000")
    async with serving(*replies) as server:
        root = server.url.removesuffix("/v1") if kind == "anthropic" else server.url
        monkeypatch.setenv("FIELD_URL", root)
        model = await sync_to_async(make_row)(kind)
        me = await sync_to_async(caller)(people.mate)
        turn = await world.runs.start(Ask(text="Why?", model=model.pk), caller=me)
        events = [event async for event in world.runs.follow(turn.ids.run)]
    message = await Message.objects.select_related("parent").aget(pk=turn.ids.message)
    assert message.parent is not None
    assert message.parent.text == "Why?"
    return message, [{"type": event.type, **event.data} for event in events]


def kind_of(path: str) -> str:
    return "anthropic" if "anthropic" in path else "openai"


@pytest.mark.parametrize("name", ["split", "field", "orphan", "anthropic-thinking"])
async def test_reasoning_never_becomes_a_part_of_the_answer(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = f"54-think-tags/{name}.sse"
    message, events = await answered(world, people, monkeypatch, stream(path), kind=kind_of(path))
    assert message.status == Message.Status.DONE
    assert message.text.strip()
    told = message.text + str(events[-1]) + str(message.citations)
    assert not [word for word in REASONING if word in told]


async def test_tags_in_code_are_the_answers_own(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = stream("54-think-tags/literal.sse")
    message, _events = await answered(world, people, monkeypatch, reply, kind="openai")
    assert message.status == Message.Status.DONE
    assert "`<think>`" in message.text


@pytest.mark.parametrize(
    ("path", "text", "usage"),
    [
        ("stream", "One two three.", (11, 3)),
        ("usage-everywhere", "Hi!", (5, 2)),
        ("no-usage", "No usage at all.", None),
    ],
)
async def test_odd_chunks_cost_nothing_and_usage_is_counted_once(
    world: World,
    people: Cast,
    monkeypatch: pytest.MonkeyPatch,
    *,
    path: str,
    text: str,
    usage: tuple[int, int] | None,
) -> None:
    reply = stream(f"55-empty-deltas-and-usage-chunk/{path}.sse")
    message, _events = await answered(world, people, monkeypatch, reply, kind="openai")
    assert (message.status, message.text) == (Message.Status.DONE, text)
    if usage is not None:
        assert (message.usage["input_tokens"], message.usage["output_tokens"]) == usage


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("56-finish-reason-length/length", "done", ""),
        ("56-finish-reason-length/anthropic-max", "done", ""),
        ("56-finish-reason-length/empty-length", "failed", "no_answer"),
        ("56-finish-reason-length/empty-stop", "failed", "no_answer"),
        ("54-think-tags/unclosed", "failed", "no_answer"),
        ("56-finish-reason-length/filter", "failed", "filtered"),
        ("56-finish-reason-length/anthropic-refusal", "failed", "filtered"),
    ],
)
async def test_every_ending_has_its_own_state(
    world: World,
    people: Cast,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    status: str,
    code: str,
) -> None:
    reply = stream(f"{name}.sse")
    message, events = await answered(world, people, monkeypatch, reply, kind=kind_of(name))
    assert (message.status, message.error_code) == (status, code)
    assert message.cut_short is (status == "done")
    assert events[-1]["type"] == ("done" if status == "done" else "error")
    if status == "failed":
        assert message.error
        assert message.error_mend


@pytest.mark.parametrize(
    "name", ["anthropic-overloaded", "cut", "cut-mid-json", "error-object", "not-json"]
)
async def test_trouble_in_the_stream_keeps_the_text_and_names_no_key(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = f"57-provider-error-mid-stream/{name}.sse"
    message, events = await answered(world, people, monkeypatch, stream(path), kind=kind_of(path))
    assert message.status == Message.Status.FAILED
    if name != "not-json":
        assert message.text.startswith("The seal")
        assert message.text.count("The seal") == 1
    assert [event["type"] for event in events].count("error") == 1
    assert events[-1]["type"] == "error"
    assert len(message.error) < 300
    assert "sk-test" not in str(events) + message.error + message.error_mend


async def test_a_refused_key_is_named_by_nothing(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = json.loads((DATA / "57-provider-error-mid-stream/server.json").read_text())["401"]
    reply = json_reply(said["body"], status=said["status"])
    message, events = await answered(world, people, monkeypatch, reply, kind="openai")
    assert message.error_code == "unauthorized"
    assert "sk-test" not in str(events) + message.error + message.error_mend


async def test_text_that_was_cut_at_every_byte_is_whole(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = (DATA / "62-utf8-split-across-reads/reads.jsonl").read_text().splitlines()
    reads = [base64.b64decode(json.loads(line)["read"]) for line in lines]
    message, events = await answered(world, people, monkeypatch, Reply([*reads]), kind="openai")
    assert message.text == "Насос 好的 👩‍👩‍👧‍👦 naïve 🇺🇦."
    assert "\ufffd" not in str(events)


async def test_halves_of_a_character_and_zeros_do_no_harm(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = stream("62-utf8-split-across-reads/escapes.sse")
    message, _events = await answered(world, people, monkeypatch, reply, kind="openai")
    assert message.status == Message.Status.DONE
    assert "\x00" not in message.text
    assert message.text.endswith(" ok end")


async def test_titles_are_as_the_field_case_wants_them() -> None:
    rows = json.loads((DATA / "60-title-generation/titles.json").read_text())
    for row in rows:
        title, wanted = title_from_model(row["model_output"]), row["want"]
        if wanted.startswith("fallback or"):
            assert title is None or (len(title) <= 80 and "\n" not in title), row
        elif wanted.startswith("fallback"):
            assert title is None, row
        else:
            kept = wanted in {"kept", "shown as text"}
            assert title == (row["model_output"] if kept else wanted), row
    question = rows[-1]["user"]
    assert question.startswith(title_from_question(question).removesuffix("…"))
    assert len(title_from_question(question)) <= 200
