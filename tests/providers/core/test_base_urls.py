"""Base URLs in the forms that people paste."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.core.base_urls import InvalidBaseURL, normalise_base_url

HOST = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("base", "root"),
    [
        (f"{HOST}/v1", f"{HOST}/v1"),
        (f"{HOST}/v1/", f"{HOST}/v1"),
        (HOST, f"{HOST}/v1"),
        (f"{HOST}/", f"{HOST}/v1"),
        (f"{HOST}//", f"{HOST}/v1"),
        (f"{HOST}/api/v1", f"{HOST}/api/v1"),
        (f"{HOST}/api/paas/v4", f"{HOST}/api/paas/v4"),
        (f"{HOST}/v1beta/openai/", f"{HOST}/v1beta/openai"),
        (f"{HOST}/v1/chat/completions", f"{HOST}/v1"),
        (f"{HOST}/v1/chat/completions/", f"{HOST}/v1"),
        (f"{HOST}/v1/embeddings", f"{HOST}/v1"),
        (f"{HOST}/v2/rerank", f"{HOST}/v2"),
        (f"{HOST}/chat/completions", HOST),
        (f"{HOST}/openai", f"{HOST}/openai/v1"),
        (f" {HOST}/v1 ", f"{HOST}/v1"),
        ("HTTPS://Api.Example.com/V1x", "https://api.example.com/V1x/v1"),
        ("https://[::1]:8080", "https://[::1]:8080/v1"),
    ],
)
def test_every_form_gives_one_root(base: str, root: str) -> None:
    assert normalise_base_url(base) == root
    assert normalise_base_url(root.rstrip("/") + "/chat/completions") == root


@pytest.mark.parametrize(
    ("base", "root"),
    [
        ("http://localhost:11434", "http://localhost:11434"),
        ("http://localhost:11434/v1/", "http://localhost:11434"),
        ("http://localhost:11434/api/chat", "http://localhost:11434"),
        ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com"),
        ("https://proxy.example.com/anthropic", "https://proxy.example.com/anthropic"),
    ],
)
def test_an_api_that_adds_its_own_version_gets_the_root_without(base: str, root: str) -> None:
    assert normalise_base_url(base, default_version="") == root


@pytest.mark.parametrize(
    ("base", "reason"),
    [
        ("", "must begin with http"),
        ("127.0.0.1:9/v1", "must begin with http"),
        ("localhost:11434", "must begin with http"),
        ("ftp://x", "must begin with http"),
        ("file:///etc/passwd", "must begin with http"),
        ("gopher://x", "must begin with http"),
        ("http:/one.slash/v1", "must begin with http"),
        ("http://user:hunter2@127.0.0.1:9/v1", "user name or password"),
        ("https://good@127.0.0.1", "user name or password"),
        ("http://", "has no host"),
        ("http://h:99999/v1", "check its host and port"),
        ("http://h:port/v1", "check its host and port"),
        ("http://h:0/v1", "port 0"),
        ("http://[::1/v1", "check its host and port"),
        ("http://a b/v1", "space or a control character"),
        ("http://h/\x00", "space or a control character"),
        ("http://h/v1?key=secret", "? or # part"),
        ("http://h/v1#x", "? or # part"),
    ],
)
def test_what_cannot_be_called_is_refused_with_the_reason(base: str, reason: str) -> None:
    with pytest.raises(InvalidBaseURL) as caught:
        normalise_base_url(base)
    assert reason in str(caught.value)
    assert "hunter2" not in str(caught.value)


@given(st.text())
def test_any_text_is_a_root_or_refused(text: str) -> None:
    try:
        root = normalise_base_url(text)
    except InvalidBaseURL:
        return
    assert root.startswith(("http://", "https://"))
    assert not root.endswith("/")


@given(
    st.from_regex(r"https?://[a-z]{1,9}(:[1-9][0-9]{0,3})?(/[a-z0-9]{1,5}){0,3}", fullmatch=True)
)
def test_a_normal_form_stays_as_it_is(url: str) -> None:
    once = normalise_base_url(url)
    assert normalise_base_url(once) == once
