"""Token counts learned from what providers report, kept in the model's row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from providers.calibration import counter_for, learn_from
from providers.core.tokens import estimate_tokens
from providers.core.types import ChatMessage, ChatRequest, Usage
from providers.models import ChatModel, Provider

pytestmark = pytest.mark.django_db
TEXT = "When did the pump fail? " * 100
REQUEST = ChatRequest("m", (ChatMessage("user", TEXT),))


def make(kind: str = "openai") -> ChatModel:
    provider = Provider.objects.create(slug=kind, name=kind, kind=kind)
    return ChatModel.objects.create(provider=provider, name="m")


def told(factor: float) -> Usage:
    return Usage(input_tokens=int(estimate_tokens(TEXT) * factor), output_tokens=5)


def test_a_model_counts_as_its_provider_reported() -> None:
    model = make()
    assert counter_for(model)(TEXT) == estimate_tokens(TEXT)
    for _answer in range(10):
        learn_from(model, REQUEST, told(1.6))
    model.refresh_from_db()
    assert model.token_factor == pytest.approx(1.6, abs=0.02)
    assert counter_for(model)(TEXT) == pytest.approx(estimate_tokens(TEXT) * 1.6, rel=0.02)
    assert counter_for(model)("") == 0


def test_an_estimate_teaches_nothing() -> None:
    model = make()
    learn_from(model, REQUEST, replace(told(1.9), is_reported=False))
    model.refresh_from_db()
    assert model.token_factor == 1.0


@pytest.mark.parametrize(("kind", "lowest"), [("ollama", 1.0), ("openai", 0.5)])
def test_a_server_that_leaves_out_cached_tokens_makes_no_prompt_too_long(
    kind: str, lowest: float
) -> None:
    model = make(kind)
    for _answer in range(100):
        learn_from(model, REQUEST, told(0.01))
    model.refresh_from_db()
    assert model.token_factor == pytest.approx(lowest, abs=0.05)


def test_a_model_that_is_gone_is_no_error() -> None:
    model = make()
    ChatModel.objects.all().delete()
    learn_from(model, REQUEST, told(1.6))
    assert not ChatModel.objects.exists()
