"""Text that survives a tokenizer, a database and a JSON frame."""

from __future__ import annotations

_HIGH = range(0xD800, 0xDC00)
_REPLACEMENT = "�"


def clean(text: str) -> str:
    """`text` without NUL and with every lone surrogate replaced by U+FFFD.

    A C library ends a string at NUL, PostgreSQL refuses it, and neither UTF-8 nor a
    JSON column takes half of a surrogate pair. Two halves that follow each other become
    the character they mean.
    """
    if "\0" in text:
        text = text.replace("\0", "")
    if text.isascii():
        return text
    joined = text.encode("utf-16-le", "surrogatepass")
    return joined.decode("utf-16-le", "replace")


class DeltaCleaner:
    """Cleans text that comes in pieces; a pair of surrogates may be cut between two."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """The clean text that is certain after this piece."""
        text = self._half + text
        self._half = ""
        if text and ord(text[-1]) in _HIGH:
            text, self._half = text[:-1], text[-1]
        return clean(text)

    def finish(self) -> str:
        """What an unfinished pair becomes at the end."""
        rest, self._half = self._half, ""
        return _REPLACEMENT if rest else ""
