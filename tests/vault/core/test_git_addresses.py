"""Addresses of repositories, as people paste them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.git_addresses import looks_like_git, read_git_address


@pytest.mark.parametrize(
    ("text", "url", "port", "name"),
    [
        (" https://Git.Example.com/team/notes.git ", "https://git.example.com/team/notes.git",
         443, "notes"),
        ("https://example.com:8443/Team/Notes/", "https://example.com:8443/Team/Notes", 8443,
         "Notes"),
        ("http://localhost:3000/notes", "http://localhost:3000/notes", 3000, "notes"),
        ("https://example.com", "https://example.com", 443, "example.com"),
    ],
)  # fmt: skip
def test_an_address_is_read_in_one_form(text: str, url: str, port: int, name: str) -> None:
    address = read_git_address(text)
    assert (address.url, address.port, address.name) == (url, port, name)
    assert read_git_address(address.url) == address


@pytest.mark.parametrize(
    ("text", "is_git"),
    [
        ("https://example.com/notes", True),
        ("git@example.com:team/notes.git", True),
        ("file:///srv/notes", True),
        ("/srv/notes", False),
        ("notes", False),
        ("C:/notes", False),
        ("mail@example.com", False),
    ],
)
def test_a_repository_is_told_from_a_folder(text: str, *, is_git: bool) -> None:
    assert looks_like_git(text) is is_git


@pytest.mark.parametrize(
    "text",
    ["", "https://", "https:///x", "https://example.com/a b", "https://example.com:99999/x",
     "https://example.com/x?y=1", "https://[::1/x", "https://example.com/" + "x" * 1000],
)  # fmt: skip
def test_what_is_no_address_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        read_git_address(text)


@given(st.text(max_size=60) | st.text(max_size=60).map("https://".__add__))
def test_whatever_is_typed_is_read_or_refused_and_never_keeps_a_password(text: str) -> None:
    try:
        address = read_git_address(text)
    except ValueError as refused:
        assert str(refused)
    else:
        assert "@" not in address.url.split("/")[2]
        assert address.host
