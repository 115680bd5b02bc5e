"""Exceptions of others become ours, whatever they wrap and whatever they say."""

from __future__ import annotations

import json
import ssl

import anthropic
import httpx2
import openai
import pytest

from providers.backends.translation import as_provider_error, refuse_other_than, translated
from providers.core.errors import (
    EgressRefused,
    ProtocolError,
    ProviderError,
    RateLimited,
    Silent,
    Unreachable,
)
from providers.core.types import Endpoint

ENDPOINT = Endpoint("openai", "https://models.example.com/v1", "sk-planted-0000")
REQUEST = httpx2.Request("POST", "https://models.example.com/v1/chat/completions?key=secret")


def wrapped(cause: Exception) -> Exception:
    """As the SDKs do it."""
    try:
        raise openai.APIConnectionError(request=REQUEST) from cause
    except openai.APIConnectionError as error:
        return error


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (httpx2.ConnectTimeout("x"), Unreachable, "did not accept a connection in 5 s"),
        (httpx2.ReadTimeout("x"), Silent, "then sent nothing"),
        (httpx2.ConnectError("refused"), Unreachable, "cannot be reached: refused"),
        (httpx2.ReadError(""), Unreachable, "broke"),
        (httpx2.RemoteProtocolError("x"), Unreachable, "broke"),
        (wrapped(httpx2.ConnectError("refused")), Unreachable, "cannot be reached: refused"),
        (wrapped(httpx2.ReadTimeout("x")), Silent, "then sent nothing"),
        (wrapped(EgressRefused("It may not.")), EgressRefused, "It may not."),
        (json.JSONDecodeError("x", "{", 0), ProtocolError, "not what a model server sends"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "x"), ProtocolError, "not what"),
    ],
)
def test_meanings(error: Exception, kind: type[ProviderError], text: str) -> None:
    ours = as_provider_error(error, ENDPOINT)
    assert type(ours) is kind
    assert text in str(ours)


def test_a_status_carries_its_wait() -> None:
    response = httpx2.Response(
        429, request=REQUEST, headers={"retry-after": "7"}, json={"error": {"message": "slow"}}
    )
    for sdk in (openai, anthropic):
        ours = as_provider_error(
            sdk.RateLimitError("slow", response=response, body=None),
            ENDPOINT,
        )
        assert isinstance(ours, RateLimited)
        assert ours.retry_after == 7
        assert "secret" not in str(ours)


def test_what_is_not_expected_is_not_hidden() -> None:
    for error in (KeyError("bug"), ssl.SSLError("x")):
        with pytest.raises(type(error)), translated(ENDPOINT):
            raise error


def test_ours_passes_through_without_the_key() -> None:
    with pytest.raises(RateLimited, match=r"key \[key removed\]") as caught, translated(ENDPOINT):
        raise RateLimited("key sk-planted-0000", retry_after=3)
    assert caught.value.retry_after == 3
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("declared", "expected", "is_refused"),
    [
        ("text/event-stream; charset=utf-8", "text/event-stream", False),
        ("", "text/event-stream", False),
        ("application/octet-stream", "text/event-stream", False),
        ("TEXT/HTML; charset=utf-8", "text/event-stream", True),
        ("application/json", "text/event-stream", True),
        ("application/json", "application/json", False),
        ("text/html", "application/json", True),
    ],
)
def test_declared_kinds(declared: str, expected: str, *, is_refused: bool) -> None:
    response = httpx2.Response(200, request=REQUEST, headers={"content-type": declared})
    if is_refused:
        with pytest.raises(ProtocolError) as caught:
            refuse_other_than(expected, response)
        assert "secret" not in str(caught.value)
    else:
        refuse_other_than(expected, response)
