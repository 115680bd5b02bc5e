"""Every call goes through the limits and the circuit, and the circuit hears how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import cast

import pytest
from django.core.cache import cache

from providers import circuits
from providers.core.circuit import FAILURES_TO_OPEN, Circuit
from providers.core.errors import (
    CircuitOpen,
    CutOff,
    EgressRefused,
    LimitReached,
    NoTools,
    Overloaded,
    ProtocolError,
    ProviderError,
    RateLimited,
    Unauthorized,
)
from providers.core.protocols import Vectors
from providers.core.types import (
    ChatMessage,
    ChatRequest,
    RankedText,
    StreamPart,
    TextDelta,
    ToolSpec,
    Usage,
)
from providers.guard import GuardedChat, GuardedEmbedder, GuardedReranker
from providers.models import ChatModel, Provider, UsageLimit
from providers.testing import FakeChat, HashEmbedder, OverlapReranker, Step
from tests.providers.rows import make_provider

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]
REQUEST = ChatRequest("big", (ChatMessage("user", "Hello"),))
WELL: tuple[Step, ...] = (TextDelta("Hello."), Usage(1, 1))


@pytest.fixture
def provider(transactional_db: None) -> Iterator[Provider]:
    yield make_provider(kind="fake")
    cache.clear()


async def ask(provider: Provider, *steps: Step) -> list[StreamPart]:
    chat = GuardedChat(FakeChat(script=steps), ChatModel(provider=provider), user_id=None)
    return [part async for part in chat.stream(REQUEST)]


async def fail(provider: Provider, error: ProviderError, *, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(type(error)):
            await ask(provider, error)


def open_half(provider: Provider) -> None:
    """A circuit whose time is over: the next call is a probe."""
    circuits._keep(provider, Circuit(failures=5, openings=1, open_until=1.0, reason="down"))


async def test_parts_pass_through_unchanged(provider: Provider) -> None:
    assert await ask(provider, *WELL) == list(WELL)


async def test_after_several_failures_nothing_is_sent_any_more(provider: Provider) -> None:
    await fail(provider, Overloaded("500"), times=FAILURES_TO_OPEN)
    FakeChat.requests.clear()
    with pytest.raises(CircuitOpen, match=r"not called until .* The last failure: 500"):
        await ask(provider, *WELL)
    assert not FakeChat.requests


async def test_a_cut_in_the_middle_counts_too(provider: Provider) -> None:
    for _ in range(FAILURES_TO_OPEN):
        with pytest.raises(CutOff):
            await ask(provider, TextDelta("Hel"), CutOff("cut"))
    with pytest.raises(CircuitOpen):
        await ask(provider, *WELL)


async def test_one_long_retry_after_is_enough(provider: Provider) -> None:
    await fail(provider, RateLimited("429", retry_after=120))
    with pytest.raises(CircuitOpen) as refused:
        await ask(provider, *WELL)
    assert refused.value.retry_after == pytest.approx(120, abs=5)


async def test_a_short_retry_after_counts_as_one_failure(provider: Provider) -> None:
    await fail(provider, RateLimited("429", retry_after=2), times=FAILURES_TO_OPEN - 1)
    assert await ask(provider, *WELL) == list(WELL)


async def test_a_refusal_is_an_answer(provider: Provider) -> None:
    await fail(provider, Overloaded("500"), times=FAILURES_TO_OPEN - 1)
    await fail(provider, Unauthorized("401"))
    await fail(provider, Overloaded("500"), times=FAILURES_TO_OPEN - 1)
    assert await ask(provider, *WELL) == list(WELL)


async def test_a_call_that_never_left_says_nothing(provider: Provider) -> None:
    await fail(provider, Overloaded("500"), times=FAILURES_TO_OPEN - 1)
    await fail(provider, EgressRefused("no"))
    await fail(provider, Overloaded("500"))
    with pytest.raises(CircuitOpen):
        await ask(provider, *WELL)


async def test_a_probe_opens_the_way_for_others_at_its_first_word(provider: Provider) -> None:
    open_half(provider)
    gate = asyncio.Event()
    probe = GuardedChat(
        FakeChat(script=[TextDelta("Hel"), gate, *WELL]), ChatModel(provider=provider), user_id=None
    )
    stream = cast("AsyncGenerator[StreamPart, None]", probe.stream(REQUEST))
    async with aclosing(stream) as parts:
        assert await anext(parts) == TextDelta("Hel")
        assert await ask(provider, *WELL) == list(WELL)


async def test_while_a_probe_waits_for_its_first_word_others_are_refused(
    provider: Provider,
) -> None:
    open_half(provider)
    probe = GuardedChat(
        FakeChat(script=[asyncio.Event()]), ChatModel(provider=provider), user_id=None
    )
    task = asyncio.ensure_future(anext(probe.stream(REQUEST)))
    while cache.get(circuits._probe_key(provider)) is None:
        await asyncio.sleep(0.01)
    with pytest.raises(CircuitOpen, match="being tried again"):
        await ask(provider, *WELL)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await ask(provider, *WELL) == list(WELL)


@pytest.fixture
def nothing_left(provider: Provider) -> UsageLimit:
    return UsageLimit.objects.create(most_tokens=0)


@pytest.mark.usefixtures("nothing_left")
async def test_over_a_limit_nothing_is_sent(provider: Provider) -> None:
    FakeChat.requests.clear()
    with pytest.raises(LimitReached, match="everybody together is used up"):
        await ask(provider, *WELL)
    assert not FakeChat.requests


async def test_a_refusal_of_tools_is_remembered(provider: Provider) -> None:
    model = await ChatModel.objects.acreate(provider=provider, name="no-tools|say:Fine.")
    chat = GuardedChat(FakeChat(), model, user_id=None)
    plain = replace(REQUEST, model=model.name)
    with pytest.raises(NoTools):
        [part async for part in chat.stream(replace(plain, tools=(ToolSpec("x", "", {}),)))]
    kept = await ChatModel.objects.aget(pk=model.pk)
    assert kept.can_call_tools is False
    assert TextDelta("Fine.") in [part async for part in chat.stream(plain)]


class FailingEmbedder(HashEmbedder):
    """Fails as told."""

    failure: ProviderError = Overloaded("500")

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        raise self.failure


class FailingReranker(OverlapReranker):
    async def rerank(self, query: str, texts: Sequence[str], *, top_n: int) -> list[RankedText]:
        raise Overloaded("500")


async def test_embedders_and_rerankers_share_the_circuit_of_their_provider(
    provider: Provider,
) -> None:
    embedder = GuardedEmbedder(FailingEmbedder(), provider)
    reranker = GuardedReranker(FailingReranker(), provider)
    for _ in range(FAILURES_TO_OPEN - 1):
        with pytest.raises(Overloaded):
            await embedder.embed_queries(["a"])
    with pytest.raises(Overloaded):
        await reranker.rerank("a", ["b"], top_n=1)
    for call in (
        embedder.embed_passages(["a"]),
        GuardedReranker(OverlapReranker(), provider).rerank("a", ["b"], top_n=1),
        ask(provider, *WELL),
    ):
        with pytest.raises(CircuitOpen):
            await call


async def test_a_spoilt_reply_of_one_batch_leaves_the_provider_in_use(provider: Provider) -> None:
    embedder = GuardedEmbedder(FailingEmbedder(), provider)
    FailingEmbedder.failure = ProtocolError("3 vectors for 4 texts")
    for _ in range(FAILURES_TO_OPEN * 2):
        with pytest.raises(ProtocolError):
            await embedder.embed_queries(["a"])
    assert (await embedder.embed_passages(["a"])).shape == (1, embedder.dimensions)
    FailingEmbedder.failure = Overloaded("500")
