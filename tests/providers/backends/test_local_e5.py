"""The bundled model, for real."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from providers.backends.local_e5 import LocalE5, language_means
from providers.core.errors import ProtocolError
from providers.core.language import LANGUAGES
from providers.core.types import EmbeddingSpec, Endpoint

SPEC = EmbeddingSpec("multilingual-e5-small", dimensions=384)
EMBEDDER = LocalE5(Endpoint("local_e5"), SPEC)


@pytest.mark.asyncio
async def test_a_question_is_nearest_to_the_passage_that_answers_it() -> None:
    query = await EMBEDDER.embed_queries(["Where is the spare key kept?"])
    passages = await EMBEDDER.embed_passages(
        ["Der Ersatzschlüssel liegt im roten Kasten.", "The canteen closes at three."]
    )
    assert passages.shape == (2, 384)
    assert passages.dtype == np.float32
    assert np.allclose(np.linalg.norm(passages, axis=1), 1, atol=1e-5)
    assert query[0] @ passages[0] > query[0] @ passages[1]


@pytest.mark.asyncio
async def test_an_answer_in_another_language_is_nearer_than_other_matter_in_the_same() -> None:
    query = await EMBEDDER.embed_queries(["How do astronomers find planets of other stars?"])
    passages = await EMBEDDER.embed_passages(
        [
            "Экзопланеты находят по тому, как звезда темнеет, когда планета проходит перед ней.",
            "Astronomy societies meet on the first Monday of the month; guests are welcome.",
            "Die Kantine schließt um drei Uhr.",
        ]
    )
    answer, same_language, other = query[0] @ passages.T
    assert answer > same_language > other


@pytest.mark.asyncio
async def test_statements_are_wholly_centred_and_questions_keep_some_of_their_language() -> None:
    text = "The canteen closes at three."
    statement = (await EMBEDDER.embed_statements([text]))[0]
    question = (await EMBEDDER.embed_queries([text]))[0]
    means = language_means()
    english = means.of("en", is_query=True)
    assert np.isclose(np.linalg.norm(statement), 1, atol=1e-5)
    assert question @ english > statement @ english + 0.2
    assert 0.8 < question @ statement < 0.95


def test_every_language_that_is_told_has_its_means() -> None:
    means = language_means()
    assert set(means.languages) == LANGUAGES
    for rows in (means.passages, means.queries):
        assert rows.shape == (len(LANGUAGES), 384)
        lengths = np.linalg.norm(rows, axis=1)
        assert (lengths > 0.8).all()
        assert (lengths < 0.97).all()


@pytest.mark.asyncio
async def test_text_after_nul_counts_and_surrogates_do_not_raise() -> None:
    whole, with_nul, _ = await EMBEDDER.embed_passages(["abcdef ghi", "abc\0def ghi", "a\ud800b"])
    assert np.allclose(whole, with_nul)


@pytest.mark.asyncio
async def test_empty_texts_and_no_texts_are_fine() -> None:
    assert (await EMBEDDER.embed_passages([""])).shape == (1, 384)
    assert (await EMBEDDER.embed_passages([])).shape == (0, 384)


@pytest.mark.asyncio
async def test_the_event_loop_stays_free_while_it_embeds() -> None:
    embedding = asyncio.ensure_future(EMBEDDER.embed_passages(["a pump and its seal " * 40] * 4))
    turns = 0
    while not embedding.done():
        turns += 1
        await asyncio.sleep(0.001)
    assert turns > 3


@pytest.mark.asyncio
async def test_a_row_with_other_dimensions_is_refused() -> None:
    wrong = LocalE5(Endpoint("local_e5"), EmbeddingSpec("e5", dimensions=768))
    with pytest.raises(ProtocolError, match="384 dimensions; its settings here say 768"):
        await wrong.embed_queries(["x"])


def test_tokens_are_counted_with_the_models_own_vocabulary() -> None:
    assert EMBEDDER.count_tokens("pump") < EMBEDDER.count_tokens("the pump was worn") < 20
    assert EMBEDDER.count_tokens("a\0") == EMBEDDER.count_tokens("a")
