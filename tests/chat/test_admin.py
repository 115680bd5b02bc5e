"""The admin shows what admins decide, and nobody's conversations."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from chat.models import ChatSettings, Conversation, Message, Persona, Run, RunEvent, Source
from tests.cast import Cast, make_user


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
