"""The product asked by OpenAI's own client."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import openai
import pytest
import pytest_asyncio
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.handlers.asgi import ASGIHandler
from django.test import AsyncClient
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from chat.models import Conversation, Message, Run
from providers.core.errors import RateLimited
from providers.core.types import TextDelta, Usage
from providers.models import UsageLimit
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.test_sse import bearer
from tests.chat.world import World, make_model
from vault.models import VaultMember
from vault.tokens import create_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]

QUESTION = [{"role": "user", "content": "When did the pump fail?"}]
URL = "/v1/chat/completions"


def client_of(token: str) -> AsyncOpenAI:
    """OpenAI's client, whose calls end in this process."""
    from httpx2 import ASGITransport

    application: Any = ASGIHandler()
    http = DefaultAsyncHttpxClient(transport=ASGITransport(app=application))
    return AsyncOpenAI(
        api_key=token, base_url="http://localhost/v1", http_client=http, max_retries=0
    )


async def client_for(user: User) -> AsyncOpenAI:
    return client_of(await sync_to_async(create_token)(user))


@pytest_asyncio.fixture
async def client(world: World, people: Cast) -> AsyncIterator[Any]:
    """The team mate's. Untyped: a test sends what the types forbid."""
    async with await client_for(people.mate) as made:
        yield made


async def ask(client: Any, **fields: Any) -> Any:
    return await client.chat.completions.create(
        **{"model": "secondbrain", "messages": QUESTION, **fields}
    )


async def test_models_are_listed_by_provider_and_name(client: Any, world: World) -> None:
    await sync_to_async(make_model)("words:3", label="Another")
    names = [model.id async for model in client.models.list()]
    assert names[0] == "secondbrain"
    assert sorted(names[1:]) == ["fake/cite", "fake/words:3"]
    assert (await client.models.retrieve("fake/words:3")).owned_by == "Fake"
    with pytest.raises(openai.NotFoundError) as missing:
        await client.models.retrieve("fake/word:3")
    assert missing.value.code == "model_not_found"
    assert "Did you mean fake/words:3" in missing.value.message


async def test_an_answer_comes_with_its_sources(client: Any, people: Cast) -> None:
    reply = await ask(client)
    choice = reply.choices[0]
    assert choice.message.content.startswith("The pump failed in March.")
    assert choice.finish_reason == "stop"
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply.usage.completion_tokens > 0
    (source,) = reply.sources
    assert (source["n"], source["cited"], source["vault"]) == (1, True, "team")
    assert source["url"].startswith("http://localhost")
    assert choice.message.annotations[0].url_citation.title == "Pump 1"
    assert reply.notices == ["Search by meaning was skipped: no model."]


async def test_a_stream_says_the_same_in_pieces(client: Any) -> None:
    whole = await ask(client)
    stream = await ask(client, stream=True, stream_options={"include_usage": True})
    chunks = [chunk async for chunk in stream]
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens == whole.usage.total_tokens
    last = chunks[-2]
    assert last.choices[0].finish_reason == "stop"
    assert [source["cited"] for source in last.sources] == [True]
    assert {chunk.id for chunk in chunks} == {last.id}
    plain = [chunk async for chunk in await ask(client, stream=True)]
    assert all(chunk.choices and chunk.usage is None for chunk in plain)


async def test_the_model_that_was_named_answers(client: Any, world: World) -> None:
    await sync_to_async(make_model)("say:Otherwise.", label="Another")
    named = await ask(client, model="fake/say:Otherwise.")
    assert (named.model, named.answered_by) == ("fake/say:Otherwise.", "Another")
    short = await ask(client, model="say:Otherwise.")
    assert short.answered_by == "Another"
    with pytest.raises(openai.NotFoundError) as missing:
        await ask(client, model="gpt-9")
    assert (missing.value.code, missing.value.param) == ("model_not_found", "model")


async def test_the_conversation_so_far_is_told_and_deleted_after_a_day(
    client: Any, people: Cast
) -> None:
    FakeChat.requests.clear()
    history = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": "Who is Ann?"},
        {"role": "assistant", "content": "She repairs pumps."},
    ]
    reply = await ask(client, messages=[*history, *QUESTION])
    (asked,) = FakeChat.requests
    assert [m.content for m in asked.messages[:2]] == ["Who is Ann?", "She repairs pumps."]
    assert "Answer like a pirate." in asked.system
    kept = await Conversation.objects.aget(pk=reply.conversation)
    assert (kept.owner_id, kept.temporary) == (people.mate.pk, True)
    assert await kept.messages.acount() == 4


async def test_a_conversation_is_kept_and_gone_on_with_by_its_header(
    client: Any, people: Cast
) -> None:
    first = await client.chat.completions.with_raw_response.create(
        model="secondbrain", messages=QUESTION, extra_headers={"X-Conversation": "keep"}
    )
    place = first.headers["x-conversation"]
    kept = await Conversation.objects.aget(pk=place)
    assert (kept.temporary, kept.title) == (False, "When did the pump fail?")
    FakeChat.requests.clear()
    following = [
        *QUESTION,
        {"role": "assistant", "content": "?"},
        {"role": "user", "content": "Who?"},
    ]
    second = await ask(client, messages=following, extra_headers={"X-Conversation": place})
    assert second.conversation == place
    assert await kept.messages.acount() == 4
    told = next(r for r in FakeChat.requests if "Who?" in r.messages[-1].content)
    assert [m.role for m in told.messages] == ["user", "assistant", "user"]
    assert told.messages[1].content.startswith("The pump failed")


async def test_footnotes_are_written_for_clients_without_a_place_for_sources(client: Any) -> None:
    reply = await ask(client, metadata={"footnotes": "true", "vaults": "team"})
    text = reply.choices[0].message.content
    assert "\n\n[1] [Pump 1 > Failure](http://localhost" in text
    assert text.endswith("team/Notes/Pump 1.md")


async def test_vaults_and_conversations_of_others_are_refused_as_missing_ones_are(
    client: Any, people: Cast
) -> None:
    async with await client_for(people.outsider) as stranger:
        for slug in ("team", "nowhere"):
            with pytest.raises(openai.BadRequestError) as refused:
                await ask(stranger, metadata={"vaults": slug})
            assert f"No vault “{slug}”. Did you mean foreign?" in refused.value.message
    place = (await ask(client)).conversation
    async with await client_for(people.owner) as other:
        for number in (place, str(uuid4())):
            with pytest.raises(openai.NotFoundError) as missing:
                await ask(other, extra_headers={"X-Conversation": number})
            assert missing.value.code == "not_found"


async def test_a_limit_is_an_error_that_no_client_tries_again(client: Any, people: Cast) -> None:
    await UsageLimit.objects.acreate(user=people.mate, period="day", most_tokens=0)
    for stream in (False, True):
        with pytest.raises(openai.RateLimitError) as refused:
            await ask(client, stream=stream)
        assert refused.value.code == "limit_reached"
        assert refused.value.response.headers["x-should-retry"] == "false"
        assert "never limited" in refused.value.message


async def test_a_model_that_fails_is_an_error_before_a_word_and_within_a_stream(
    client: Any,
) -> None:
    FakeChat.play(RateLimited("Too many calls."))
    with pytest.raises(openai.RateLimitError) as refused:
        await ask(client, stream=True)
    assert refused.value.code == "rate_limited"
    FakeChat.play(TextDelta("It failed "), RateLimited("Too many calls."))
    heard = ""
    with pytest.raises(openai.APIError) as broken:
        async for chunk in await ask(client, stream=True):
            heard += chunk.choices[0].delta.content or ""
    assert heard.strip() == "It failed"
    assert broken.value.code == "rate_limited"


async def test_bad_bodies_and_strangers_are_refused_in_openais_form(
    client: Any, people: Cast
) -> None:
    token, bodies = (
        await bearer(people.mate),
        [
            (b"{", 400, "bad_request"),
            (b'{"messages": []}', 400, "bad_request"),
            (b'{"model": "secondbrain", "messages": [], "n": 3}', 400, "unsupported_parameter"),
            (b" " * 1_000_001, 413, "too_large"),
        ],
    )
    for body, status, code in bodies:
        reply = await AsyncClient().post(URL, body, content_type="application/json", headers=token)
        assert reply.status_code == status
        error = json.loads(reply.content)["error"]
        assert (error["code"], error["type"]) == (code, "invalid_request_error")
    assert not await Message.objects.aexists()
    async with client_of("sb_nonsense") as stranger:
        with pytest.raises(openai.AuthenticationError) as refused:
            await ask(stranger)
    assert refused.value.code == "invalid_api_key"
    people.mate.is_active = False
    await people.mate.asave()
    for call in (ask(client), client.models.retrieve("secondbrain")):
        with pytest.raises(openai.AuthenticationError):
            await call


async def test_who_leaves_a_stream_ends_the_answer(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("One. "), asyncio.Event())
    reply, heard = await stream_for(people.mate), asyncio.Event()

    async def read() -> None:
        async for chunk in reply.streaming_content:
            if b"One." in chunk:
                heard.set()

    reading = asyncio.create_task(read())
    await heard.wait()
    reading.cancel()
    run = await Run.objects.select_related("message").aget()
    async for event in world.runs.follow(run.pk):
        last = event
    assert last.type == "stopped"
    assert (await Message.objects.aget(pk=run.message_id)).text.strip() == "One."


async def stream_for(user: User) -> Any:
    """A stream of an answer as Django's own client gets it: piece by piece."""
    body = json.dumps({"model": "secondbrain", "messages": QUESTION, "stream": True})
    return await AsyncClient().post(
        URL, body, content_type="application/json", headers=await bearer(user)
    )


async def test_a_right_that_ends_in_mid_answer_ends_the_stream(client: Any, people: Cast) -> None:
    going_on = asyncio.Event()
    FakeChat.play(TextDelta("One. "), going_on, TextDelta("Two."), Usage())
    reply = await stream_for(people.mate)
    await VaultMember.objects.filter(user=people.mate).adelete()
    said = "".join([chunk.decode() async for chunk in reply.streaming_content])
    assert '"code": "rights_changed"' in said
    assert "Two." not in said
    assert "[DONE]" not in said
