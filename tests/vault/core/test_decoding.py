"""Bytes of every kind become clean text, or are said to be none."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.decoding import decode_note

RUSSIAN = "# Заметка\n\nПервый абзац о хранении запасов.\n"
FRENCH = "# Café\n\nRésumé à lire, déjà vérifié.\n"


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"# One\n\ntext\n", "# One\n\ntext\n"),
        (b"\xef\xbb\xbf# One\n", "# One\n"),
        ("# Ü\r\ntext".encode(), "# Ü\ntext"),
        (b"a\rb\rc", "a\nb\nc"),
        (b"a\r\nb\nc\rd", "a\nb\nc\nd"),
        ("# Wide\n\nТекст\n".encode("utf-16"), "# Wide\n\nТекст\n"),
        (b"\xfe\xff" + "# Wide\n".encode("utf-16-be"), "# Wide\n"),
        ("# Wide, no mark\n".encode("utf-16-le"), "# Wide, no mark\n"),
        ("# Wide, no mark\n".encode("utf-16-be"), "# Wide, no mark\n"),
        ("Wider ü\n".encode("utf-32"), "Wider ü\n"),
        (b"", ""),
        ("emoji 😀 and 合約\n".encode(), "emoji 😀 and 合約\n"),
        (b"a\x0cb \x1b[0m", "a\x0cb \x1b[0m"),
    ],
)
def test_encodings_of_editors_are_read_without_a_doubt(data: bytes, text: str) -> None:
    decoded = decode_note(data)
    assert decoded.text == text
    assert decoded.warnings == ()


def test_nul_characters_are_left_out_with_a_warning() -> None:
    decoded = decode_note(b"# Nul\n\nBefore\x00\x00 after.\n" + b"\x00" * 512)
    assert decoded.text == "# Nul\n\nBefore after.\n"
    assert decoded.warnings == ("NUL characters were left out",)


@pytest.mark.parametrize(
    ("text", "encoding", "guessed"),
    [(FRENCH, "latin-1", "cp1252"), (RUSSIAN, "cp1251", "cp1251"), ("“Zitat”", "cp1252", "cp1252")],
)
def test_old_encodings_are_guessed_with_a_warning(text: str, encoding: str, guessed: str) -> None:
    decoded = decode_note(text.encode(encoding))
    assert decoded.text == text
    assert len(decoded.warnings) == 1
    assert f"read as {guessed}" in decoded.warnings[0]


def test_the_warning_names_the_line() -> None:
    (warning,) = decode_note(b"one\ntwo\nth\xe9ee\n").warnings
    assert "line 3" in warning


def test_a_few_bad_bytes_in_utf_8_are_replaced() -> None:
    decoded = decode_note(RUSSIAN.encode() + b"\xff tail")
    assert decoded.text == RUSSIAN + "\ufffd tail"
    assert "1 bytes were replaced" in decoded.warnings[0]


def test_a_text_cut_inside_a_character_keeps_the_rest() -> None:
    decoded = decode_note(RUSSIAN.encode()[:-2])
    assert decoded.text is not None
    assert decoded.text.startswith(RUSSIAN[:-3])


def test_half_characters_are_replaced_and_pairs_of_them_joined() -> None:
    lone = decode_note(b"Half \xed\xa0\xbd pair\n")
    assert lone.text == "Half \ufffd pair\n"
    assert "half characters" in lone.warnings[0]
    pair = "😀".encode("utf-16-be")
    written_apart = b"".join(
        chr(int.from_bytes(pair[at : at + 2], "big")).encode("utf-8", "surrogatepass")
        for at in (0, 2)
    )
    assert decode_note(b"Smile " + written_apart).text == "Smile 😀"


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"\x89PNG\r\n\x1a\n" + bytes(50), "PNG"),
        (b"%PDF-1.7\n%\xe2\xe3", "PDF"),
        (b"PK\x03\x04" + bytes(30), "zip"),
        (b"SQLite format 3\x00", "SQLite"),
        (bytes(range(256)) * 40, "binary"),
        (random.Random(5).randbytes(4000), "binary"),
    ],
)
def test_binary_files_are_refused_with_a_reason(data: bytes, name: str) -> None:
    decoded = decode_note(data)
    assert decoded.text is None
    assert name in decoded.warnings[0]


@given(st.binary())
def test_any_bytes_give_clean_text_or_none(data: bytes) -> None:
    decoded = decode_note(data)
    if decoded.text is None:
        assert decoded.warnings
        return
    assert "\x00" not in decoded.text
    assert "\r" not in decoded.text
    assert decoded.text.encode("utf-8") is not None


@given(
    st.text(alphabet=st.characters(exclude_characters="\x00\r\ufeff", categories=["L", "P", "Zs"]))
)
def test_utf_8_comes_back_as_it_was(text: str) -> None:
    assert decode_note(text.encode()).text == text
