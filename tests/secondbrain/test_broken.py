"""What is said when a view fails: of the database, in words, with what to do."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, InterfaceError, OperationalError
from django.http import HttpResponse
from django.test import RequestFactory
from psycopg import errors

from secondbrain.views import broken

AWAY: list[tuple[type[Exception], psycopg.Error]] = [
    (OperationalError, psycopg.OperationalError("couldn't get a connection after 10.00 sec")),
    (OperationalError, errors.AdminShutdown("terminating connection")),
    (OperationalError, errors.CannotConnectNow("the database system is starting up")),
    (InterfaceError, psycopg.InterfaceError("the connection is closed")),
]


def answer(error: Exception, cause: Exception | None, *, path: str, **how: Any) -> HttpResponse:
    request = RequestFactory().generic(how.get("method", "GET"), path)
    try:
        raise error from cause
    except type(error):
        return broken(request)


def code_in(reply: HttpResponse) -> str:
    said = json.loads(reply.content)
    return str(said.get("error", said)["code"])


@pytest.mark.parametrize(("kind", "cause"), AWAY)
def test_a_page_says_that_the_database_is_away_and_looks_again(
    kind: type[Exception], cause: psycopg.Error
) -> None:
    reply = answer(kind(str(cause)), cause, path="/search?q=pump&mode=keyword")
    text = reply.content.decode()
    assert (reply.status_code, reply.headers["Retry-After"]) == (503, "5")
    assert "The database does not answer" in text
    assert 'http-equiv="refresh"' in text
    assert 'href="/search?q=pump&amp;mode=keyword"' in text


def test_a_form_is_not_sent_again_by_itself() -> None:
    error = OperationalError("gone")
    text = answer(error, None, path="/presets/new", method="POST").content.decode()
    assert "was not saved" in text
    assert "refresh" not in text


@pytest.mark.parametrize("path", ["/api/search?q=pump", "/v1/models"])
def test_a_script_gets_its_own_form(path: str) -> None:
    reply = answer(OperationalError("gone"), None, path=path)
    assert (reply.status_code, code_in(reply)) == (503, "database_away")
    reply = answer(ValueError("a fault"), None, path=path)
    assert (reply.status_code, code_in(reply)) == (500, "broken")


@pytest.mark.parametrize("cause", [errors.UniqueViolation(), errors.ForeignKeyViolation()])
def test_who_was_overtaken_is_told_so(cause: psycopg.Error, db: None) -> None:
    reply = answer(IntegrityError("double"), cause, path="/presets/new", method="POST")
    assert reply.status_code == 409
    assert "a moment quicker" in reply.content.decode()
    reply = answer(IntegrityError("double"), cause, path="/api/chat/presets", method="POST")
    assert (reply.status_code, code_in(reply)) == (409, "conflict")


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (IntegrityError("a rule of the table"), errors.CheckViolation()),
        (ValueError("a fault"), None),
        (OperationalError("too slow"), errors.QueryCanceled("statement timeout")),
    ],
)
def test_any_other_fault_is_no_matter_of_the_database(
    error: Exception, cause: Exception | None
) -> None:
    reply = answer(error, cause, path="/search")
    assert reply.status_code == 500
    assert "Something broke" in reply.content.decode()
    assert "Retry-After" not in reply.headers
