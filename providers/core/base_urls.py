"""Base URLs as people paste them, brought to one form."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, urlsplit, urlunsplit

_ENDPOINTS = (
    "/chat/completions",
    "/completions",
    "/embeddings",
    "/rerank",
    "/messages",
    "/models",
    "/responses",
    "/api/chat",
    "/api/embed",
    "/api/embeddings",
    "/api/generate",
    "/api/tags",
)
_VERSION = re.compile(r"/v\d+[a-z0-9]*(?=/|$)")
_FINAL_VERSION = re.compile(r"/v\d+[a-z0-9]*$")


class InvalidBaseURL(ValueError):
    """A base URL that cannot be called; `str()` says why. Never holds its password."""


def normalise_base_url(text: str, *, default_version: str = "v1") -> str:
    """The root under which `/chat/completions`, `/embeddings` and so on are found.

    Spaces, trailing slashes and a pasted endpoint are taken off. A path without a version
    in it gets `/<default_version>`, unless an endpoint was pasted: what stood before that
    is the root. With an empty `default_version` (an API that adds its own) a version at
    the end is taken off instead. Raises InvalidBaseURL.
    """
    parts = _split(text)
    given = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    path = _without_endpoint(given)
    if not default_version:
        path = _FINAL_VERSION.sub("", path)
    elif path == given and not _VERSION.search(path):
        path = f"{path}/{default_version}"
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), path, "", ""))


def _split(text: str) -> SplitResult:
    text = text.strip()
    if any(char.isspace() or not char.isprintable() for char in text):
        raise InvalidBaseURL("the base URL has a space or a control character in it")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise InvalidBaseURL("the base URL is not a URL: check its host and port") from None
    if "://" not in text or parts.scheme.lower() not in {"http", "https"}:
        raise InvalidBaseURL("the base URL must begin with http:// or https://")
    if "@" in parts.netloc:
        raise InvalidBaseURL(
            "the base URL has a user name or password in it: enter the key in its own field"
        )
    if not parts.hostname:
        raise InvalidBaseURL("the base URL has no host")
    if port == 0:
        raise InvalidBaseURL("the base URL has port 0")
    if parts.query or parts.fragment:
        raise InvalidBaseURL("the base URL has a ? or # part: leave it out")
    return parts


def _without_endpoint(path: str) -> str:
    for endpoint in sorted(_ENDPOINTS, key=len, reverse=True):
        if path.endswith(endpoint):
            return path.removesuffix(endpoint)
    return path
