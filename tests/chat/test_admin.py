"""The admin shows what admins decide, and nobody's conversations."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from chat.core.sharing import ShareWish
from chat.models import ChatSettings, Conversation, Message, Persona, Run, RunEvent, Source
from chat.sharing import make_link, token_of
from tests.cast import Cast, make_user
from tests.chat.pages import add_turn, make_conversation


@pytest.fixture
def staff(cast: Cast) -> Client:
    client = Client()
    client.force_login(
        make_user("root", is_superuser=True),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    return client


def test_conversations_are_private(cast: Cast) -> None:
    for model in (Conversation, Message, Source, Run, RunEvent):
        assert not admin.site.is_registered(model)


def test_an_admin_writes_a_persona(staff: Client) -> None:
    response = staff.post(
        reverse("admin:chat_persona_add"),
        {"name": "Ada", "role": "engineer", "prompt": "Be exact.", "enabled": "on"},
    )
    assert response.status_code == 302
    assert str(Persona.objects.get()) == "Ada, engineer"


def test_there_is_one_row_of_the_site_and_users_rows_stay_theirs(staff: Client, cast: Cast) -> None:
    ChatSettings.objects.create(user=cast.mate, system_prompt="mine")
    page = staff.get(reverse("admin:chat_chatsettings_changelist"))
    assert b"mate@example.com" not in page.content
    form = staff.get(reverse("admin:chat_chatsettings_add"))
    assert b"You answer questions of a team" in form.content
    saved = staff.post(reverse("admin:chat_chatsettings_add"), {"mode": "notes_only"})
    assert saved.status_code == 302
    assert ChatSettings.objects.get(user=None).mode == "notes_only"
    assert staff.get(reverse("admin:chat_chatsettings_add")).status_code == 403


def test_the_number_of_passages_is_kept_in_range(staff: Client) -> None:
    response = staff.post(reverse("admin:chat_chatsettings_add"), {"passages": "500"})
    assert response.status_code == 200
    assert not ChatSettings.objects.exists()


def test_staff_sees_that_something_is_shared_and_takes_it_back_but_not_what(
    staff: Client, cast: Cast
) -> None:
    conversation = make_conversation(cast.owner, title="Ottokar the heron")
    add_turn(conversation, "Who is Ottokar?", "A heron.")
    link = make_link(cast.owner, conversation.pk, ShareWish())
    address = reverse("admin:chat_sharelink_changelist")
    for page in (address, reverse("admin:chat_sharelink_change", args=[link.pk])):
        shown = staff.get(page).content.decode()
        assert "owner@example.com" in shown
        assert "Ottokar" not in shown
        assert token_of(link) not in shown
    assert "1 people, 1 conversations" in staff.get(address).content.decode()
    staff.post(address, {"action": "take_back", "_selected_action": [str(link.pk)]})
    link.refresh_from_db()
    assert link.revoked
    assert staff.get(reverse("admin:chat_sharelink_add")).status_code == 403
