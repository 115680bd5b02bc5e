"""One form of errors for scripts, whoever refuses: a view, the framework, or nobody."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.http import Http404
from django.test import Client, RequestFactory
from rest_framework import exceptions

from secondbrain.script_errors import rest_error
from secondbrain.views import forbidden, unreadable
from tests.cast import Cast
from tests.vault.notes import make_note
from vault.tokens import create_token


def said(error: Exception) -> Any:
    response = rest_error(error, {})
    assert response is not None
    return response.data


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/nope", "/api/vaults/"])
def test_an_unknown_address_below_api_answers_json(path: str, client: Client) -> None:
    reply = client.get(path, follow=False)
    assert (reply.status_code, reply.json()) == (
        404,
        {"code": "not_found", "detail": "There is no such address."},
    )


def test_an_unknown_address_below_v1_answers_in_the_form_of_openai(client: Client) -> None:
    reply = client.get("/v1/nope")
    assert reply.status_code == 404
    assert reply.json()["error"] == {
        "message": "There is no such address.",
        "type": "invalid_request_error",
        "param": None,
        "code": "not_found",
    }


def test_an_unknown_page_is_a_page(client: Client, db: None) -> None:
    reply = client.get("/apiary")
    assert (reply.status_code, reply["Content-Type"]) == (404, "text/html; charset=utf-8")


def test_errors_of_fields_stand_by_their_names_and_in_the_sentence() -> None:
    error = exceptions.ValidationError(
        {
            "limit": ["Give a number."],
            "rows": [{"name": ["Too long."]}],
            "non_field_errors": ["No."],
        }
    )
    assert said(error) == {
        "code": "bad_request",
        "detail": "No. limit: Give a number. rows.0.name: Too long.",
        "fields": {"limit": ["Give a number."], "rows.0.name": ["Too long."]},
    }


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (exceptions.ValidationError("Send an object."), "bad_request"),
        (exceptions.ParseError(), "bad_request"),
        (exceptions.AuthenticationFailed(), "not_authenticated"),
        (exceptions.NotAuthenticated(), "not_authenticated"),
        (exceptions.MethodNotAllowed("PUT"), "method_not_allowed"),
        (exceptions.NotFound("No such note."), "not_found"),
        (Http404("No such vault."), "not_found"),
        (PermissionDenied("Not yours."), "permission_denied"),
    ],
)
def test_every_refusal_has_a_code_and_a_sentence(error: Exception, code: str) -> None:
    found = said(error)
    assert set(found) == {"code", "detail"}
    assert found["code"] == code
    assert found["detail"].endswith(".")


def test_an_unknown_failure_is_left_to_who_logs_it() -> None:
    assert rest_error(RuntimeError("a fault"), {}) is None


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RequestDataTooBig("much"), 413, "too_large"),
        (SuspiciousOperation("odd"), 400, "bad_request"),
    ],
)
def test_what_cannot_be_read_is_said_in_the_same_form(
    error: Exception, status: int, code: str, client: Client
) -> None:
    factory = RequestFactory()
    reply = unreadable(factory.post("/api/vaults"), error)
    assert (reply.status_code, f'"code": "{code}"' in reply.content.decode()) == (status, True)
    assert unreadable(factory.post("/search"), error)["Content-Type"].startswith("text/html")


def test_a_refused_reader_is_told_in_the_same_form(db: None) -> None:
    reply = forbidden(RequestFactory().get("/api/vaults"), PermissionDenied())
    assert (reply.status_code, '"permission_denied"' in reply.content.decode()) == (403, True)


def test_too_large_a_body_for_the_api_is_refused_in_json(cast: Cast, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100
    client = Client(headers={"Authorization": f"Bearer {create_token(cast.owner)}"})
    reply = client.patch("/api/vaults/team", {"name": "a" * 200}, content_type="application/json")
    assert (reply.status_code, reply.json()["code"]) == (413, "too_large")


@pytest.mark.parametrize(
    ("url", "field"),
    [("/api/search?mode=odd", "mode"), ("/api/notes/{note}/similar?limit=0", "limit")],
)
def test_real_addresses_name_the_field(cast: Cast, url: str, field: str) -> None:
    note = make_note(cast.vault, "a.md")
    client = Client(headers={"Authorization": f"Bearer {create_token(cast.owner)}"})
    reply = client.get(url.format(note=note.pk))
    assert (reply.status_code, reply.json()["code"]) == (400, "bad_request")
    assert list(reply.json()["fields"]) == [field]
    assert reply.json()["detail"].startswith(f"{field}: ")


def test_the_page_of_the_api_has_no_style_inside_it(cast: Cast) -> None:
    client = Client()
    client.force_login(cast.owner)
    page = client.get("/api/docs/").content.decode()
    assert "<style" not in page
    assert "secondbrain/css/api-docs" in page
    assert 'id="swagger-ui"' in page
