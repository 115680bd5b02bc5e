"""A bad presets file is refused with the place of the fault."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from providers.core.presets import InvalidPresets, parse_presets

KINDS = ("openai", "rerank")


def document(**changes: Any) -> str:
    provider = {"slug": "acme", "name": "Acme", "kind": "openai", **changes}
    return json.dumps({"providers": [provider]})


def test_a_full_provider_is_read() -> None:
    (preset,) = parse_presets(
        document(
            needs_key=False,
            chat=[{"name": "big", "context_window": 100, "input_price": "0.25"}],
            embeddings=[{"name": "vec", "dimensions": 3}],
            rerank=[{"name": "rank", "shape": "tei"}],
        ),
        kinds=KINDS,
    )
    assert preset.slug == "acme"
    assert preset.fields == {"name": "Acme", "kind": "openai", "needs_key": False}
    assert [(model.use, model.name) for model in preset.models] == [
        ("chat", "big"),
        ("embeddings", "vec"),
        ("rerank", "rank"),
    ]
    assert preset.models[0].fields["input_price"] == Decimal("0.25")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", 'list under "providers"'),
        ('{"providers": [1]}', r"providers\[0\]: must be an object"),
        ('{"providers": [{}]}', r"providers\[0\].slug: is missing"),
        (document(kind="psychic"), r"providers\[0\] \(acme\).kind: 'psychic' is not one of"),
        (document(name=""), r"\(acme\).name: is missing or not a text"),
        (document(colour="red"), r"\(acme\).colour: is not a field; there are name, kind"),
        (document(needs_key="yes"), r"\(acme\).needs_key: 'yes' must be true or false"),
        (document(position=True), r"\(acme\).position: True must be a whole number"),
        (document(position=-1), r"\(acme\).position: -1 must not be negative"),
        (document(chat={}), r"\(acme\).chat: must be a list"),
        (document(chat=[{"label": "x"}]), r"chat\[0\].name: is missing"),
        (
            document(chat=[{"name": "m", "context_window": "8k"}]),
            r"chat\[0\] \(m\).context_window: '8k' must be a whole number",
        ),
        (
            document(chat=[{"name": "m", "input_price": 0.25}]),
            r"chat\[0\] \(m\).input_price: 0.25 must be a price in quotes",
        ),
        (document(chat=[{"name": "m", "input_price": "NaN"}]), "must be a price in quotes"),
        (document(chat=[{"name": "m"}, {"name": "m"}]), r"chat: name 'm' stands there twice"),
        (
            document(chat=[{"name": n, "is_default": True} for n in "ab"]),
            r"chat: more than one model has is_default",
        ),
        (document(embeddings=[{"name": "v"}]), r"embeddings\[0\] \(v\).dimensions: is missing"),
        (
            document(rerank=[{"name": "r", "shape": "round"}]),
            r"rerank\[0\] \(r\).shape: must be one of cohere, tei",
        ),
    ],
)
def test_the_message_names_the_field(text: str, message: str) -> None:
    with pytest.raises(InvalidPresets, match=message):
        parse_presets(text, kinds=KINDS)


def test_two_providers_of_one_slug_are_refused() -> None:
    row = {"slug": "acme", "name": "Acme", "kind": "openai"}
    with pytest.raises(InvalidPresets, match="slug 'acme' stands there twice"):
        parse_presets(json.dumps({"providers": [row, row]}), kinds=KINDS)
