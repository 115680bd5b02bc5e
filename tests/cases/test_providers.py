"""Keys, models and addresses that change under a running product (cases 69, 70 and 71)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from chat.core.asking import Ask
from chat.models import ChatSettings, Conversation, Message
from chat.offers import site_catalogue
from chat.options import TurnOptions, turn_options
from providers.backends.http_rerank import HTTPReranker
from providers.backends.openai_chat import OpenAIChat
from providers.backends.openai_embeddings import OpenAIEmbedder
from providers.core.base_urls import InvalidBaseURL, normalise_base_url
from providers.core.errors import WrongAddress
from providers.core.presets import InvalidPresets
from providers.core.types import ChatMessage, ChatRequest, EmbeddingSpec, Endpoint, RerankSpec
from providers.forms import ProviderForm
from providers.models import ChatModel, EmbeddingModel, Provider
from providers.presets import load_presets
from retrieval.core.types import Mode
from retrieval.search import search_notes
from tests.cases.ingested import DATA
from tests.cast import Cast
from tests.chat.world import make_model
from tests.contracts.server import json_reply, serving
from tests.vault.folders import make_folder
from vault import jobs
from vault.access import scope_for
from vault.models import Chunk, Job, VaultMember
from vault.tasks import request_sync

URLS: list[dict[str, str]] = json.loads((DATA / "71-base-url-forms" / "urls.json").read_text())
GOOD = [row for row in URLS if row["chat"].startswith("http")]
BAD = [row for row in URLS if not row["chat"].startswith("http")]
CHAT = ChatRequest("m", (ChatMessage("user", "Hi"),))


@pytest.mark.asyncio
@pytest.mark.parametrize("row", GOOD, ids=lambda row: row["base"].strip())
async def test_each_form_of_a_base_url_gives_one_root_for_every_use(row: dict[str, str]) -> None:
    async with serving(json_reply({"detail": "Not Found"}, status=404)) as server:
        here = f"127.0.0.1:{server.port}"
        base = normalise_base_url(row["base"].replace("127.0.0.1:9", here))
        endpoint = Endpoint("openai", base_url=base, key="k", is_trusted=True)
        with pytest.raises(WrongAddress) as caught:
            async for _part in OpenAIChat(endpoint).stream(CHAT):
                pass
        embedder = OpenAIEmbedder(endpoint, EmbeddingSpec("m", 3))
        with pytest.raises(WrongAddress):
            await embedder.embed_queries(["x"])
        with pytest.raises(WrongAddress):
            await HTTPReranker(endpoint, RerankSpec("m")).rerank("q", ["x"], top_n=1)
    chat = row["chat"].replace("http://127.0.0.1:9", "")
    root = chat.removesuffix("/chat/completions")
    called = [request.path for request in server.received]
    assert called == [chat, f"{root}/embeddings", f"{root}/rerank"]
    assert f"{here}{chat}" in str(caught.value)


@pytest.mark.django_db
@pytest.mark.parametrize("row", BAD, ids=lambda row: row["base"].split("@")[-1])
def test_what_is_no_base_url_is_refused_in_the_form_with_a_reason(row: dict[str, str]) -> None:
    with pytest.raises(InvalidBaseURL) as caught:
        normalise_base_url(row["base"])
    fields = {"slug": "x", "name": "X", "kind": "openai", "position": 1, "base_url": row["base"]}
    form = ProviderForm(fields)
    assert str(caught.value) in str(form.errors["base_url"])
    assert "pw" not in str(caught.value)


def remote(*names: str) -> list[ChatModel]:
    provider = Provider.objects.create(
        slug="alpha",
        name="Alpha",
        kind="openai",
        base_url="https://alpha.example.com/v1",
        key_variable="ALPHA_KEY",
        position=1,
    )
    return [ChatModel.objects.create(provider=provider, name=name) for name in names]


def turn(cast: Cast, **ask: Any) -> TurnOptions:
    return turn_options(cast.mate, Ask(text="Why?", **ask), site_catalogue())


def offered(client: Client) -> list[str]:
    return [model["label"] for model in client.get("/api/chat/options").json()["models"]]


@pytest.mark.django_db
def test_a_key_that_disappears_leaves_everything_usable(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALPHA_KEY", "sk-alpha-0123456789abcdef")
    local = make_model(label="Local")
    (model,) = remote("model-1")
    ChatSettings.objects.create(user=cast.mate, model=model)
    mate = Client()
    mate.force_login(cast.mate)
    assert offered(mate) == ["model-1", "Local"]
    assert turn(cast).model == model
    for value in (None, "", "   "):
        if value is None:
            monkeypatch.delenv("ALPHA_KEY")
        else:
            monkeypatch.setenv("ALPHA_KEY", value)
        assert offered(mate) == ["Local"]
        found = turn(cast)
        assert found.model == local
        assert "“model-1” is not available now, so Local answered" in found.notices[0]
        options = mate.get("/api/chat/options")
        assert "“model-1” is not available now" in options.json()["notices"][0]
        page = mate.get("/")
        assert page.status_code == 200
        for said in (page.content.decode(), options.content.decode()):
            assert "789abcdef" not in said
            assert "sk-alpha" not in said
        assert ChatSettings.objects.get(user=cast.mate).model == model
    monkeypatch.setenv("ALPHA_KEY", "sk-alpha-0123456789abcdef")
    assert (turn(cast).model, turn(cast).notices) == (model, ())


@pytest.mark.django_db(transaction=True)
def test_without_the_embedding_key_words_are_still_found_and_one_job_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The notes wait: no chunk is marked failed, and the same refusal is not met for ever."""
    provider = Provider.objects.create(
        slug="alpha",
        name="Alpha",
        kind="openai",
        base_url="https://alpha.example.com/v1",
        key_variable="ALPHA_KEY",
    )
    model = EmbeddingModel.objects.create(provider=provider, name="e", dimensions=3)
    folder = make_folder(tmp_path / "notes", embedding_model=model)
    folder.write("Pump.md", "# Pump\n\nThe impeller was worn out in March.\n")
    monkeypatch.delenv("ALPHA_KEY", raising=False)
    assert jobs.run(request_sync(folder.vault.pk).pk)
    for _again in range(3):
        for job in Job.objects.filter(kind="embed", state="queued"):
            jobs.run(job.pk)
    job = Job.objects.get(kind="embed")
    assert (job.state, job.attempts) == (Job.State.FAILED, 1)
    assert "Alpha" in job.last_error
    assert "ALPHA_KEY" in job.last_error
    assert not Chunk.objects.exclude(embed_failed="").exists()
    owner = VaultMember.objects.get(vault=folder.vault).user
    assert owner is not None
    search = async_to_sync(search_notes)
    found = search("impeller", scope=scope_for(owner), mode=Mode.HYBRID, limit=5)
    assert [hit.path for hit in found.hits] == ["Pump.md"]
    meaning = next(arm for arm in found.arms if arm.name == "meaning")
    assert not meaning.ran
    assert "by keyword only" in meaning.reason


@pytest.mark.django_db
def test_a_model_that_is_not_offered_any_more_is_said_and_the_choice_is_kept(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALPHA_KEY", "sk-alpha")
    first, second = remote("model-1", "model-2")
    ChatSettings.objects.create(user=cast.mate, model=first)
    ChatSettings.objects.create(model=second)
    ChatModel.objects.filter(pk=first.pk).update(enabled=False)
    found = turn(cast)
    assert found.model == second
    assert "“model-1” is not available now, so model-2 answered" in found.notices[0]
    assert turn(cast, model=first.pk).model == second
    assert ChatSettings.objects.get(user=cast.mate).model == first


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{", "line 1"),
        (
            '{"providers": [{"slug": "a", "name": "A", "kind": "nonsense"}]}',
            "providers[0] (a).kind",
        ),
        (
            '{"providers": [{"slug": "a", "name": "A", "kind": "openai", "chat": [%s, %s]}]}'
            % (('{"name": "m"}',) * 2),
            "providers[0] (a).chat",
        ),
    ],
)
def test_broken_presets_name_the_fault_and_change_nothing(
    text: str, place: str, tmp_path: Path, cast: Cast
) -> None:
    load_presets()
    before = list(Provider.objects.values())
    file = tmp_path / "presets.json"
    file.write_text(text)
    with pytest.raises(InvalidPresets) as caught:
        load_presets(file)
    assert place in str(caught.value)
    assert list(Provider.objects.values()) == before
    assert turn(cast).model.provider.kind == "extractive"


@pytest.mark.django_db
def test_a_provider_that_is_deleted_takes_no_conversation_along(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALPHA_KEY", "sk-alpha")
    make_model(label="Local")
    (model,) = remote("model-1")
    ChatSettings.objects.create(user=cast.mate, model=model)
    conversation = Conversation.objects.create(owner=cast.mate, title="Pumps")
    question = Message.objects.create(conversation=conversation, role="user", text="Why?")
    Message.objects.create(
        conversation=conversation,
        parent=question,
        role="assistant",
        text="Because.",
        model_label="model-1",
    )
    Provider.objects.filter(slug="alpha").delete()
    assert ChatSettings.objects.get(user=cast.mate).model is None
    mate = Client()
    mate.force_login(cast.mate)
    assert "Because." in mate.get(f"/c/{conversation.pk}").content.decode()
    assert "model-1" in mate.get(f"/api/chat/conversations/{conversation.pk}").content.decode()
    assert str(turn(cast).model) == "Local"
