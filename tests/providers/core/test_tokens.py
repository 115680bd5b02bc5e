"""The estimate errs on the side of too many."""

from __future__ import annotations

import pytest

from providers.backends.local_e5 import LocalE5
from providers.core.tokens import estimate_tokens
from providers.core.types import EmbeddingSpec, Endpoint


@pytest.mark.parametrize(
    "text",
    [
        "The seal of the pump was worn, so the repair took three days longer than planned.",
        "Ремонт насоса перенесено на чотирнадцяте травня через зношене ущільнення вала.",
        "水泵的密封件磨损了，所以维修比计划多花了三天时间。",
        "Die Reparatur der Pumpe dauerte länger, weil das Ersatzteil aus Kiew kommen musste.",
    ],
)
def test_it_is_not_below_a_real_tokenizer_and_not_far_above(text: str) -> None:
    real = LocalE5(Endpoint("local_e5"), EmbeddingSpec("e5", 384)).count_tokens(text)
    assert real * 0.95 <= estimate_tokens(text) <= real * 2


def test_nothing_has_no_tokens() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1
