"""What makes two vectors comparable."""

from __future__ import annotations

import pytest

from providers.core.centring import REVISION
from tests.providers.rows import make_embedding_model, make_provider

pytestmark = pytest.mark.django_db


def test_vectors_of_two_makes_have_two_fingerprints() -> None:
    provider = make_provider()
    seen = {
        make_embedding_model(provider, name, **fields).fingerprint
        for name, fields in (
            ("one", {}), ("two", {}), ("three", {"revision": "2"}), ("four", {"dimensions": 32}),
            ("five", {"query_prefix": "q: "}), ("six", {"passage_prefix": "p: "}),
        )
    }  # fmt: skip
    assert len(seen) == 6


def test_the_bundled_models_centring_is_part_of_its_fingerprint_whatever_its_row_says() -> None:
    local = make_embedding_model(make_provider("local", kind="local_e5"), revision="edited")
    remote = make_embedding_model(make_provider("remote"), revision="edited")
    assert local.fingerprint.endswith(REVISION)
    assert REVISION not in remote.fingerprint
