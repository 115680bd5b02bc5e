"""Lists of models in every form servers give them, and in none."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.errors import ProtocolError
from providers.core.model_lists import ListedModel, is_listed, parse_models

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4)
    ),
    max_leaves=12,
)
ENTRY = st.dictionaries(
    st.sampled_from(["id", "name", "type", "display_name", "context_length"]), JSON
)


def test_openais_form() -> None:
    reply = {"object": "list", "data": [{"id": "gpt-5", "object": "model", "owned_by": "openai"}]}
    assert parse_models(reply) == (ListedModel("gpt-5", "chat"),)


def test_openrouters_form_with_labels_and_windows() -> None:
    entry = {"id": "org/big", "name": "Org: Big", "context_length": 131_072}
    assert parse_models({"data": [entry]}) == (ListedModel("org/big", "chat", "Org: Big", 131_072),)


def test_togethers_bare_list_with_types() -> None:
    kinds = ["chat", "language", "embedding", "rerank", "image", "moderation"]
    models = parse_models([{"id": f"m{n}", "type": kind} for n, kind in enumerate(kinds)])
    assert [model.use for model in models] == [
        "chat",
        "chat",
        "embeddings",
        "rerank",
        "other",
        "other",
    ]


def test_anthropics_form() -> None:
    entry = {"type": "model", "id": "claude-x-20250929", "display_name": "Claude X"}
    reply = {"data": [entry], "has_more": False}
    assert parse_models(reply) == (ListedModel("claude-x-20250929", "chat", "Claude X"),)


def test_ollamas_form() -> None:
    entry = {"name": "llama3.2:latest", "model": "llama3.2:latest", "size": 5}
    assert parse_models({"models": [entry]}) == (ListedModel("llama3.2:latest", "chat"),)


def test_vllms_window() -> None:
    (model,) = parse_models({"data": [{"id": "m", "max_model_len": 4096}]})
    assert model.context_window == 4096


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("text-embedding-3-small", "embeddings"),
        ("nomic-embed-text:latest", "embeddings"),
        ("BAAI/bge-m3", "embeddings"),
        ("BAAI/bge-reranker-v2-m3", "rerank"),
        ("whisper-1", "other"),
        ("tts-1-hd", "other"),
        ("gpt-4o-realtime-preview", "other"),
        ("omni-moderation-latest", "other"),
        ("gpt-image-1", "other"),
        ("gpt-5-mini", "chat"),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "chat"),
        ("mistral-large-latest", "chat"),
    ],
)
def test_where_a_server_does_not_say_the_name_tells_the_use(name: str, use: str) -> None:
    (model,) = parse_models({"data": [{"id": name}]})
    assert model.use == use


@pytest.mark.parametrize("reply", [None, "text", 5, {}, {"data": None}, {"data": {"id": "m"}}])
def test_what_is_no_list_is_refused(reply: Any) -> None:
    with pytest.raises(ProtocolError, match="no list of models"):
        parse_models(reply)


def test_entries_without_a_usable_name_are_left_out_and_doubles_are_one() -> None:
    entries = [{"id": ""}, {"id": 5}, {"id": "x" * 201}, {"id": "a\nb"}, "m", {"id": "m"}]
    assert [model.name for model in parse_models({"data": [*entries, {"id": "m"}]})] == ["m"]


@given(st.lists(ENTRY | JSON, max_size=6))
def test_whatever_a_list_holds_each_model_fits_its_row(entries: list[Any]) -> None:
    models = parse_models({"data": entries})
    names = [model.name for model in models]
    assert names == sorted(set(names))
    for model in models:
        assert 0 < len(model.name) <= 200
        assert len(model.label) <= 200
        assert "\0" not in model.name + model.label
        assert model.context_window is None or 0 < model.context_window < 2**31


@pytest.mark.parametrize(
    ("name", "listed", "expected"),
    [
        ("llama3.2", "llama3.2:latest", True),
        ("llama3.2:latest", "llama3.2:latest", True),
        ("llama3.2", "llama3.2:1b", False),
        ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929", True),
        ("claude-sonnet-4", "claude-sonnet-4-5-20250929", False),
        ("gpt-5", "gpt-5-mini", False),
    ],
)
def test_a_short_name_is_listed_under_its_full_one(name: str, listed: str, expected: bool) -> None:  # noqa: FBT001
    assert is_listed(name, [listed, "other"]) is expected
