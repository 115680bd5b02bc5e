"""Asking by a plain form: the whole answer, or the reason why not, and nothing lost."""

from __future__ import annotations

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import reverse

from chat.models import Conversation, Message, Run
from chat.views import pages as views
from providers.core.errors import RateLimited
from providers.core.types import TextDelta, Usage
from providers.testing import FakeChat
from tests.cast import Cast
from tests.chat.pages import make_conversation
from tests.chat.world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.asyncio]


async def browser(people: Cast) -> AsyncClient:
    client = AsyncClient()
    await client.aforce_login(people.mate, backend="django.contrib.auth.backends.ModelBackend")
    return client


async def test_the_form_shows_the_finished_answer_with_its_sources(
    world: World, people: Cast
) -> None:
    client = await browser(people)
    response = await client.post(
        reverse("ask"), {"text": "When did the pump fail?", "conversation": "", "mode": ""}
    )
    assert response.status_code == 302
    shown = (await client.get(response["Location"])).content.decode()
    assert "The pump failed in March." in shown
    assert 'class="cite"' in shown
    assert 'data-status="done"' in shown


async def test_a_follow_up_goes_into_the_same_conversation(world: World, people: Cast) -> None:
    client = await browser(people)
    first = await client.post(reverse("ask"), {"text": "When did it fail?"})
    conversation = await Conversation.objects.aget()
    second = await client.post(
        reverse("ask"), {"text": "Who repaired it?", "conversation": str(conversation.pk)}
    )
    assert first["Location"] == second["Location"]
    asked = Message.objects.filter(role="user").order_by("created")
    assert [m.text async for m in asked] == ["When did it fail?", "Who repaired it?"]


async def test_an_answer_is_written_anew_beside_the_old_one(world: World, people: Cast) -> None:
    client = await browser(people)
    await client.post(reverse("ask"), {"text": "When did it fail?"})
    answer = await Message.objects.aget(role="assistant")
    response = await client.post(
        reverse("ask"), {"again": str(answer.pk), "conversation": str(answer.conversation_id)}
    )
    assert "2 of 2" in (await client.get(response["Location"])).content.decode()


async def test_only_the_ticked_vaults_are_searched(world: World, people: Cast) -> None:
    client = await browser(people)
    await client.post(reverse("ask"), {"text": "When?", "vaults": [people.vault.slug]})
    assert world.retrieval.scopes[-1].vault_ids == (people.vault.pk,)
    asked = {"text": "When?", "vaults": [people.foreign_vault.slug]}
    refused = await client.post(reverse("ask"), asked)
    assert refused.status_code == 400
    assert "No vault “foreign”. Did you mean team?" in refused.content.decode()
    assert len(world.retrieval.scopes) == 1


@pytest.mark.parametrize(
    ("sent", "reason", "status"),
    [
        ({"text": "   "}, "The question is empty", 400),
        ({"text": "x" * 20_001}, "20,001 characters", 400),
        ({"text": "Why?", "mode": "magic"}, "must be one of", 400),
        ({"text": "Why?", "conversation": "not-a-uuid"}, "must be a UUID", 400),
    ],
)
async def test_a_question_that_cannot_be_asked_comes_back_with_the_reason(
    world: World, people: Cast, sent: dict[str, str], reason: str, status: int
) -> None:
    response = await (await browser(people)).post(reverse("ask"), sent)
    assert response.status_code == status
    shown = response.content.decode()
    assert reason in shown
    assert sent["text"].strip() in shown
    assert not await Message.objects.aexists()


async def test_a_foreign_conversation_cannot_be_asked_in(world: World, people: Cast) -> None:
    foreign = await sync_to_async(make_conversation)(people.owner)
    response = await (await browser(people)).post(
        reverse("ask"), {"text": "What did they say?", "conversation": str(foreign.pk)}
    )
    assert response.status_code == 404
    assert "There is no such conversation" in response.content.decode()
    assert not await Message.objects.filter(conversation=foreign).aexists()


async def test_a_provider_that_fails_is_told_on_the_page(world: World, people: Cast) -> None:
    FakeChat.play(TextDelta("It failed in"), RateLimited("Fake: too many requests."))
    client = await browser(people)
    response = await client.post(reverse("ask"), {"text": "When did it fail?"})
    shown = (await client.get(response["Location"])).content.decode()
    assert 'data-status="failed"' in shown
    assert "It failed in" in shown
    assert "too many requests" in shown


async def test_an_answer_that_takes_long_is_shown_while_it_is_written(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "WAIT_FOR_ANSWER", 0.2)
    FakeChat.play(TextDelta("Slowly"), 30.0, TextDelta(" said."), Usage())
    client = await browser(people)
    response = await client.post(reverse("ask"), {"text": "When did it fail?"})
    shown = (await client.get(response["Location"])).content.decode()
    run = await Run.objects.aget()
    assert f'data-run="{run.pk}"' in shown
    assert '<noscript><meta http-equiv="refresh"' in shown


async def test_an_answer_that_is_written_is_stopped_by_a_form(
    world: World, people: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "WAIT_FOR_ANSWER", 0.2)
    FakeChat.play(TextDelta("Slowly"), 30.0, TextDelta(" said."), Usage())
    client = await browser(people)
    response = await client.post(reverse("ask"), {"text": "When did it fail?"})
    answer = await Message.objects.aget(role="assistant")
    stop = reverse("stop_answer", args=[answer.conversation_id, answer.pk])
    assert f'action="{stop}"' in (await client.get(response["Location"])).content.decode()
    run = await Run.objects.aget()
    stopped = await client.post(stop)
    assert stopped["Location"] == response["Location"]
    ends = [event.type async for event in world.runs.follow(run.pk)]
    assert ends[-1] == "stopped"
    shown = (await client.get(response["Location"])).content.decode()
    assert "You stopped this answer" in shown
    assert stop not in shown


async def test_somebody_who_was_signed_out_is_sent_to_sign_in(world: World, people: Cast) -> None:
    response = await AsyncClient().post(reverse("ask"), {"text": "When?"})
    assert response["Location"] == reverse("account_login")
    assert not await Message.objects.aexists()


async def test_a_form_without_its_token_is_refused(world: World, people: Cast) -> None:
    client = AsyncClient(enforce_csrf_checks=True)
    await client.aforce_login(people.mate, backend="django.contrib.auth.backends.ModelBackend")
    response = await client.post(reverse("ask"), {"text": "When?"})
    assert response.status_code == 403
    assert "This form is too old" in response.content.decode()


async def test_a_refused_follow_up_comes_back_in_its_conversation(
    world: World, people: Cast
) -> None:
    conversation = await sync_to_async(make_conversation)(people.mate)
    response = await (await browser(people)).post(
        reverse("ask"), {"text": "x" * 20_001, "conversation": str(conversation.pk)}
    )
    shown = response.content.decode()
    assert response.status_code == 400
    assert f'name="conversation" value="{conversation.pk}"' in shown
    assert conversation.title in shown
    assert f"{'x' * 20_001}</textarea>" in shown
