"""A form that was sent after the session had ended: its reader is told, and led on."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client
from django.urls import reverse

from secondbrain.unsent_forms import page_above
from tests.cast import Cast

pytestmark = pytest.mark.django_db


def test_signing_in_after_a_form_leads_to_words_and_the_page_above(cast: Cast) -> None:
    delete = reverse("vault-delete", args=[cast.vault.slug])
    asked = Client().post(delete, {"name": cast.vault.name})
    assert asked.status_code == 302
    assert asked.headers["Location"].endswith(f"?next={delete}")
    client = Client()
    client.force_login(cast.owner)
    reply = client.get(delete)
    assert reply.status_code == 405
    assert reply.headers["Allow"] == "POST"
    assert "nothing was changed" in reply.content.decode()
    above = reverse("vault", args=[cast.vault.slug])
    assert f'href="{above}"' in reply.content.decode()
    assert client.get(above).status_code == 200


def test_a_script_keeps_the_plain_refusal(cast: Cast) -> None:
    client = Client(headers={"accept": "application/json"})
    client.force_login(cast.owner)
    reply = client.get(reverse("vault-delete", args=[cast.vault.slug]))
    assert (reply.status_code, reply.content) == (405, b"")


def test_it_is_told_as_well_where_the_server_waits_for_nobody(cast: Cast) -> None:
    client = AsyncClient(headers={"accept": "text/html"})
    client.force_login(cast.owner)
    reply = async_to_sync(client.get)(reverse("vault-delete", args=[cast.vault.slug]))
    assert reply.status_code == 405
    assert "nothing was changed" in reply.content.decode()


@pytest.mark.parametrize(
    ("path", "above"),
    [
        ("/vaults/team/delete", "/vaults/team/"),
        (
            "/c/00000000-0000-4000-8000-000000000000/delete",
            "/c/00000000-0000-4000-8000-000000000000",
        ),
        ("/ask", "/"),
        ("/nowhere/at/all", "/"),
    ],
)
def test_the_page_above_is_the_nearest_that_exists(path: str, above: str) -> None:
    assert page_above(path) == above
