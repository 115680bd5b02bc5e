"""What replies mean that are no answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from providers.core.errors import (
    BadRequest,
    InputTooLong,
    ModelNotFound,
    NoTools,
    Overloaded,
    ProtocolError,
    ProviderError,
    RateLimited,
    Unauthorized,
    WrongAddress,
)
from providers.core.failures import detail_of, error_for_status, error_in_stream, seconds_to_wait

URL = "https://h/v1"


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (307, "", ProtocolError),
        (400, "unknown field", BadRequest),
        (400, "This model's maximum context length is 8192 tokens", InputTooLong),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", InputTooLong),
        (400, "the input length exceeds the context length", InputTooLong),
        (422, "`inputs` must have less than 512 tokens. Given: 600", InputTooLong),
        (400, "max_tokens is too large: 99999", BadRequest),
        (401, "", Unauthorized),
        (403, "", Unauthorized),
        (404, "model 'x' not found", ModelNotFound),
        (404, "page not found", WrongAddress),
        (408, "", Overloaded),
        (413, "", InputTooLong),
        (429, "", RateLimited),
        (500, "", Overloaded),
        (529, "", Overloaded),
        (400, "registry.ollama.ai/library/gemma:2b does not support tools", NoTools),
        (404, "No endpoints found that support tool use.", NoTools),
        (500, "tools param requires --jinja flag", NoTools),
        (400, "deepseek-reasoner does not support Function Calling", NoTools),
        (400, "`tool calling` is not supported with this model", NoTools),
        (400, "Function calling is not enabled for this model", NoTools),
        (400, "tools.0.input_schema: field required", BadRequest),
    ],
)
def test_statuses(status: int, said: str, kind: type[ProviderError]) -> None:
    error = error_for_status(status, body={"error": {"message": said}}, url=URL)
    assert type(error) is kind
    assert str(error).startswith(f"{URL} answered {status}")
    if status != 307:
        assert said in str(error)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": {"type": "overloaded_error", "message": "m"}}, Overloaded),
        ({"type": "error", "error": {"type": "rate_limit_error"}}, RateLimited),
        ({"error": {"code": "context_length_exceeded"}}, InputTooLong),
        (
            {"error": {"type": "invalid_request_error", "message": "prompt is too long"}},
            InputTooLong,
        ),
        ({"error": {"type": "invalid_request_error", "message": "bad"}}, BadRequest),
        ({"error": {"code": 502, "message": "upstream"}}, Overloaded),
        ({"message": "m", "code": "invalid_api_key"}, Unauthorized),
        ({"error": "out of memory"}, Overloaded),
        ({"error": "llama2 does not support tools"}, NoTools),
        ("text", Overloaded),
    ],
)
def test_errors_in_a_stream(body: Any, kind: type[ProviderError]) -> None:
    assert type(error_in_stream(body, url=URL)) is kind


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"error": {"message": "a\n b"}}, "a b"),
        ({"detail": [{"msg": "one"}, {"msg": "two"}]}, "one; two"),
        (b'{"error": "x"}', "x"),
        (b"<html><h1>502</h1> Bad\xff Gateway</html>", "502 Bad\ufffd Gateway"),
        ("y" * 400, "y" * 300 + "…"),
        (None, ""),
        ({}, ""),
        ({"error": None, "message": "m"}, "m"),
    ],
)
def test_the_providers_own_words_in_one_line(body: Any, detail: str) -> None:
    assert detail_of(body) == detail


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("2", 2.0),
        ("-1", 0.0),
        ("soon", None),
        ("Wed, 21 Oct 2015 07:28:10 GMT", 10.0),
        ("Wed, 21 Oct 2015 07:20:00 GMT", 0.0),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        (f"Wed, 21 Oct {10**30} 07:20:00 GMT", None),
    ],
)
def test_retry_after(header: str | None, seconds: float | None) -> None:
    now = datetime(2015, 10, 21, 7, 28, tzinfo=UTC)
    assert seconds_to_wait(header, now=now) == seconds
