"""Takes keys out of text that people or logs will see."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

MARK = "[key removed]"
# A secret this short would hide half of a sentence, and is none.
_SHORTEST = 4
_LONG_ENOUGH_TO_SHOW = 16
# What a provider may echo although it is not our key: an older one, one of a proxy.
_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|tgp|hf|jina|co)[-_][A-Za-z0-9_-]{6,}[A-Za-z0-9]"
    r"|(?<=[Bb]earer )[A-Za-z0-9._~+/-]{8,}=*"
    r"|(?<=://)[^\s/@]+:[^\s/@]+(?=@)"
    r"|(?i:(?<=api_key=)|(?<=apikey=)|(?<=token=))[^\s&\"']{6,}"
)


def redact(text: str, secrets: Iterable[str]) -> str:
    """`text` without any of `secrets`, also as they stand in a URL, and without anything
    that has the shape of a provider's key."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            for form in (secret, quote(secret, safe="")):
                text = text.replace(form, MARK)
    return _SHAPES.sub(MARK, text)


def last_four(secret: str) -> str:
    """What may be shown of a key, so that two can be told apart: `…cdef`."""
    if not secret:
        return ""
    # The end of a short secret would be too much of it.
    return f"…{secret[-4:]}" if len(secret) >= _LONG_ENOUGH_TO_SHOW else "…"
