"""From the bytes of a file to clean text, whatever editor wrote them."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

# Longest first: the UTF-32 mark begins with the UTF-16 one.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "PNG picture"),
    (b"\xff\xd8\xff", "JPEG picture"),
    (b"GIF87a", "GIF picture"),
    (b"GIF89a", "GIF picture"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "zip archive or office document"),
    (b"\x1f\x8b\x08", "gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"\x7fELF", "program"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old office document"),
)
# Control characters no text has; tab, line feed, form feed, CR and escape may occur.
_CONTROL = bytes(code for code in range(1, 32) if code not in b"\t\n\x0b\x0c\r\x1b") + b"\x7f"
_MOST_CONTROL = 0.04
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")
_PAIR = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
_MULTIBYTE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
_HIGH_RUN = re.compile(rb"[\xc0-\xff\xa8\xb8]+")
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text with LF line ends, no NUL and no lone surrogate; None when the file is binary."""

    text: str | None
    warnings: tuple[str, ...] = ()


def decode_note(data: bytes) -> Decoded:
    """Text of a note's bytes. Never raises; what had to be guessed is a warning."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _marked(data[len(mark) :], encoding)
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            return Decoded(None, (f"binary file ({name}), not text",))
    wide = _wide_encoding(data)
    if wide:
        return _marked(data, wide)
    nul_free = data.replace(b"\x00", b"")
    if _is_binary(nul_free):
        return Decoded(None, ("binary file, not text",))
    warnings = ["NUL characters were left out"] if len(nul_free) < len(data) else []
    text, doubt = _guessed(nul_free)
    return Decoded(_clean(text), (*warnings, *doubt))


def _marked(data: bytes, encoding: str) -> Decoded:
    try:
        return Decoded(_clean(data.decode(encoding)))
    except UnicodeDecodeError:
        text = _clean(data.decode(encoding, "replace"))
        return Decoded(text, (f"some bytes are not valid {encoding.upper()} and were replaced",))


def _wide_encoding(data: bytes) -> str:
    """UTF-16 without a mark: NUL at every other place only, and all of it decodes."""
    if len(data) < 4 or len(data) % 2:
        return ""
    even, odd = data[::2].count(0), data[1::2].count(0)
    if min(even, odd) or max(even, odd) < len(data) / 2 * 0.1:
        return ""
    encoding = "utf-16-le" if odd else "utf-16-be"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        return ""
    return encoding if sum(char.isprintable() for char in text) > len(text) * 0.8 else ""


def _is_binary(data: bytes) -> bool:
    control = len(data) - len(data.translate(None, _CONTROL))
    return control > len(data) * _MOST_CONTROL and control > 2


def _guessed(data: bytes) -> tuple[str, tuple[str, ...]]:
    """UTF-8, else the likeliest of what editors wrote before it."""
    try:
        return data.decode("utf-8"), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
    place = f"first in line {line}"
    if _SURROGATE.search(data):
        # Pairs of surrogates written one by one are an emoji of a careless program.
        repaired = _SURROGATE.sub("\ufffd".encode(), _joined_pairs(data))
        return repaired.decode("utf-8", "replace"), (
            f"not valid UTF-8 ({place}): half characters were replaced",
        )
    valid = _MULTIBYTE.sub(b"", data)
    left = sum(byte > 0x7F for byte in valid)
    if (len(data) - len(valid)) > 2 * left:
        return data.decode("utf-8", "replace"), (
            f"not valid UTF-8 ({place}): {left} bytes were replaced",
        )
    encoding = _legacy_encoding(data)
    return data.decode(encoding, "replace"), (
        f"not UTF-8 ({place}): read as {encoding}; save the file as UTF-8 to be sure",
    )


def _joined_pairs(data: bytes) -> bytes:
    def joined(match: re.Match[bytes]) -> bytes:
        pair = match[0].decode("utf-8", "surrogatepass")
        return pair.encode("utf-16-le", "surrogatepass").decode("utf-16-le").encode()

    return _PAIR.sub(joined, data)


def _legacy_encoding(data: bytes) -> str:
    """Cyrillic words are runs of high bytes, accents in Latin words stand alone."""
    runs = [len(match[0]) for match in _HIGH_RUN.finditer(data)]
    if sum(length for length in runs if length > 2) > sum(runs) / 2:
        return "cp1251"
    try:
        data.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _clean(text: str) -> str:
    text = text.removeprefix("\ufeff").replace("\x00", "")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _LONE_SURROGATES.sub("\ufffd", text)
