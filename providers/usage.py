"""Who used which model for what, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal

from asgiref.sync import sync_to_async

from providers.core.types import Usage
from providers.models import ChatModel, EmbeddingModel, ProviderModel, UsageRecord

_MILLION = Decimal(1_000_000)
_heard: ContextVar[list[UsageRecord] | None] = ContextVar("heard", default=None)


def cost_of(model: ProviderModel, usage: Usage) -> Decimal:
    """USD for these tokens at the prices in the model's row; 0 where no price is known."""
    if isinstance(model, ChatModel):
        spent = usage.input_tokens * model.input_price + usage.output_tokens * model.output_price
    elif isinstance(model, EmbeddingModel):
        spent = usage.input_tokens * model.price
    else:
        spent = Decimal(0)
    return (spent / _MILLION).quantize(Decimal("0.000001"))


def record_usage(
    *,
    purpose: UsageRecord.Purpose | str,
    model: ProviderModel,
    usage: Usage,
    user_id: int | None,
    milliseconds: int,
    failed_with: str = "",
) -> UsageRecord:
    """Keep one call to a model. `failed_with` is the code of a ProviderError."""
    record = UsageRecord.objects.create(
        purpose=purpose,
        provider=model.provider.slug,
        model=model.name,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=cost_of(model, usage),
        milliseconds=milliseconds,
        user_id=user_id,
        failed_with=failed_with,
    )
    heard = _heard.get()
    if heard is not None:
        heard.append(record)
    return record


@contextmanager
def hear_usage() -> Iterator[list[UsageRecord]]:
    """A list of the calls that are recorded inside the block, and by tasks begun there."""
    heard: list[UsageRecord] = []
    before = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(before)


arecord_usage = sync_to_async(record_usage)
