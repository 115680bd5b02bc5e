"""Each call is counted with its cost."""

from __future__ import annotations

from decimal import Decimal

import pytest
from asgiref.sync import async_to_sync

from providers.core.types import Usage
from providers.models import UsageRecord
from providers.usage import arecord_usage, record_usage
from tests.cast import Cast
from tests.providers.rows import (
    make_chat_model,
    make_embedding_model,
    make_provider,
    make_rerank_model,
)


@pytest.mark.django_db
def test_an_answer_costs_its_tokens_at_the_models_prices(cast: Cast) -> None:
    model = make_chat_model(make_provider(), input_price=Decimal(3), output_price=Decimal(15))
    row = record_usage(
        purpose=UsageRecord.Purpose.ANSWER,
        model=model,
        usage=Usage(2_000, 100),
        user_id=cast.owner.pk,
        milliseconds=250,
    )
    row.refresh_from_db()
    assert row.cost == Decimal("0.0075")
    assert (row.provider, row.model, row.user) == ("acme", "big", cast.owner)
    assert (row.input_tokens, row.output_tokens, row.milliseconds) == (2_000, 100, 250)


@pytest.mark.django_db
def test_embedding_costs_input_only_and_reranking_has_no_price() -> None:
    provider = make_provider()
    embedding = make_embedding_model(provider, price=Decimal("0.02"))
    rows = [
        record_usage(
            purpose=purpose, model=model, usage=Usage(1_000_000, 0), user_id=None, milliseconds=1
        )
        for purpose, model in (
            ("embed_passages", embedding),
            ("rerank", make_rerank_model(provider)),
        )
    ]
    assert [row.cost for row in rows] == [Decimal("0.02"), Decimal(0)]


@pytest.mark.django_db
def test_a_failed_call_is_kept_with_its_code() -> None:
    async_to_sync(arecord_usage)(
        purpose="answer",
        model=make_chat_model(make_provider()),
        usage=Usage(),
        user_id=None,
        milliseconds=5,
        failed_with="silent",
    )
    assert UsageRecord.objects.filter(failed_with="silent", cost=0).count() == 1
