"""A provider's own list adds models, marks what is gone, and deletes nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from providers.core.errors import NotConfigured, ProtocolError
from providers.models import ChatModel, Provider
from providers.refreshing import Refreshed, refresh_models
from tests.contracts.server import json_reply, serving_in_a_thread
from tests.providers.rows import make_chat_model, make_provider

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider() -> Iterator[Provider]:
    yield make_provider(base_url="", base_url_variable="ACME_URL", needs_key=False)


def refresh(
    provider: Provider, monkeypatch: pytest.MonkeyPatch, *entries: dict[str, object]
) -> Refreshed:
    with serving_in_a_thread(json_reply({"data": list(entries)})) as server:
        monkeypatch.setenv("ACME_URL", server.url)
        return refresh_models(provider)


def test_new_models_come_switched_off_with_what_the_list_says(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"id": "org/big", "name": "Big", "context_length": 131_072}
    refreshed = refresh(provider, monkeypatch, entry, {"id": "text-embedding-x"}, {"id": "tts-1"})
    assert refreshed == Refreshed(added=["org/big"], by_hand=["text-embedding-x"])
    row = ChatModel.objects.get(provider=provider)
    assert (row.enabled, row.origin, row.label) == (False, "listed", "Big")
    assert row.context_window == 131_072


def test_what_is_gone_is_marked_and_stays_in_use(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = make_chat_model(provider, "old", is_default=True)
    refreshed = refresh(provider, monkeypatch, {"id": "new"})
    assert (refreshed.added, refreshed.vanished) == (["new"], ["old"])
    old.refresh_from_db()
    assert old.missing_since is not None
    assert old.enabled
    assert old.is_default
    since = old.missing_since
    assert refresh(provider, monkeypatch, {"id": "new"}) == Refreshed()
    old.refresh_from_db()
    assert old.missing_since == since


def test_what_is_listed_again_is_not_marked_any_more(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_chat_model(provider, "old")
    refresh(provider, monkeypatch, {"id": "new"})
    assert refresh(provider, monkeypatch, {"id": "new"}, {"id": "old"}).returned == ["old"]
    assert not ChatModel.objects.exclude(missing_since=None).exists()


def test_running_it_again_changes_nothing(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_chat_model(provider, "llama3.2")
    first = refresh(provider, monkeypatch, {"id": "llama3.2:latest"}, {"id": "big"})
    assert first.added == ["big"]
    assert refresh(provider, monkeypatch, {"id": "llama3.2:latest"}, {"id": "big"}) == Refreshed()


def test_an_empty_list_is_taken_for_a_fault_not_for_the_end_of_all_models(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = make_chat_model(provider, "old")
    with pytest.raises(ProtocolError, match="nothing was changed"):
        refresh(provider, monkeypatch)
    old.refresh_from_db()
    assert old.missing_since is None


def test_another_providers_models_are_left_alone(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_chat_model(make_provider("other"), "old")
    refresh(provider, monkeypatch, {"id": "new"})
    other.refresh_from_db()
    assert other.missing_since is None


def test_a_provider_that_cannot_be_called_says_why() -> None:
    with pytest.raises(NotConfigured, match="no base URL"):
        refresh_models(make_provider(base_url=""))
