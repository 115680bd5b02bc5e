"""Words made for keyword search where PostgreSQL's parser goes wrong.

The parser reads `CVE-2021-3281` as `cve`, `-2021`, `-3281`, keeps `a/b` and `a.b` as one
word, drops the signs of `C++` and sees a whole Chinese clause as one word. Made tokens
stand beside the text, in one normal form for chunks and queries: letters and digits only,
lower case, so that the `simple` configuration leaves them as they are. Signs are written
as letters: `zz` between parts, so that `INV-2026-7` and `INV/2026/7` are one, and `zx` with
a letter for a sign that counts (`C++` is `czxpzxp`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import regex

_MOST_QUERY_CHARACTERS = 1000
_LONGEST = 200
_INNER = "zz"
_SIGNS = {"+": "zxp", "#": "zxh", "-": "zxm", ".": "zxd"}
_TOKEN = regex.compile(
    # A role of reStructuredText with a number: :cve:`2021-1` is CVE-2021-1.
    r":(?P<role>[a-z]+):`(?P<number>\d[\w.-]*)`"
    # Account numbers are written in groups.
    r"|(?<![A-Za-z0-9])(?P<iban>[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?)"
    r"(?![A-Za-z0-9])"
    r"|(?<![\w-])(?P<option>--?[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*)"
    r"|(?<![\w.])(?P<dotted>\.[A-Za-z][A-Za-z0-9]+)(?![\w])"
    r"|(?P<joined>[\p{Latin}\p{Greek}\p{Cyrillic}0-9]++"
    r"(?:[._/@:\\-]++[\p{Latin}\p{Greek}\p{Cyrillic}0-9]++)++)"
    r"|(?<![\p{L}\p{N}])(?P<signed>[A-Za-z]{1,3}(?:\+\+|\#)[0-9]*)(?![\p{L}\p{N}+\#])"
    r"|(?P<cjk>[\p{Han}\p{Hiragana}\p{Katakana}ー々〆]+|\p{Hangul}+)"
    r"|(?P<unspaced>[\p{Thai}\p{Lao}\p{Khmer}]+)"
    r"|(?P<word>[\p{L}\p{N}][\p{L}\p{N}\p{M}--\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}]*)",
    regex.VERSION1,
)
# A word between spaces that is not just letters, small or with a capital, in plain
# punctuation. `re` passes over the others, which give no token, ten times as fast.
_NOT_PLAIN = re.compile(r"""(?<!\S)(?![("'*,;!?]*[A-Za-zА-Яа-я]?[a-zа-я]*[)"'*.,:;!?]*(?!\S))\S+""")
_MAY_BE_IBAN = re.compile(r"\b[A-Z]{2}[0-9]{2}(?:[ ]?[A-Z0-9]{4}){2}")
_PART = regex.compile(r"[\p{L}\p{N}\p{M}]+")
_SUBPART = regex.compile(r"\p{L}[\p{L}\p{M}]*|\p{N}+")
_CAMEL = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+")
_LETTER_AND_DIGIT = re.compile(r"[A-Za-z].*[0-9]|[0-9].*[A-Za-z]")
_NOT_ALPHABETIC = regex.compile(r"\P{Alphabetic}")
_HAN = regex.compile(r"\p{Han}")
_UNSPACED_LETTER = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}]"
)
# Letters that do not decompose, as PostgreSQL's unaccent writes them.
_FOLDED = str.maketrans(
    {
        "ł": "l", "ø": "o", "đ": "d", "ð": "d", "ħ": "h", "ŧ": "t", "ı": "i", "ß": "ss",
        "æ": "ae", "œ": "oe", "þ": "th", "ĸ": "k", "ŋ": "n", "ё": "е", "ς": "σ",
    }
)  # fmt: skip
_FOLDABLE = regex.compile(r"[\p{Latin}\p{Greek}]")


def made_tokens(text: str) -> str:
    """What keyword search needs beside the words of a text, space separated, in its order.

    Identifiers whole and by parts, copies without diacritics, pairs of Chinese, Japanese
    and Korean characters, triples of Thai, Lao and Khmer ones, single Chinese characters.
    A plain word gives nothing.
    """
    normal = unicodedata.normalize("NFKC", text)
    is_composed = unicodedata.is_normalized("NFC", text)
    if is_composed and not _MAY_BE_IBAN.search(normal):  # whose groups stand apart
        normal = " ".join(_NOT_PLAIN.findall(normal))
    is_ascii = normal.isascii()
    tokens: list[str] = []
    for found in _TOKEN.finditer(normal):
        if found.lastgroup == "word":
            if is_ascii and (found[0].islower() or found[0].istitle()):
                continue  # nothing to say about it
            tokens += _beside_word(found[0], normal, found.span(), is_composed=is_composed)
        else:
            is_glued = _is_glued(normal, found.span())
            tokens += _tokens_of(found, is_query=False, is_glued=is_glued)
    return " ".join(tokens)


def query_tokens(text: str) -> tuple[str, ...]:
    """The tokens of a query in the same form, each once; plain words as they are.

    A word of the query may be a part of an identifier, or typed without its accents, so
    each is looked for unstemmed as well. At most 1,000 characters are read.
    """
    normal = unicodedata.normalize("NFKC", text[:_MOST_QUERY_CHARACTERS])
    tokens: list[str] = []
    for found in _TOKEN.finditer(normal):
        if found.lastgroup == "word":
            word = found[0].lower()
            tokens += [word, *_folded_copy(word)]
        else:
            tokens += _tokens_of(found, is_query=True, is_glued=False)
    return tuple(dict.fromkeys(tokens))


def other_spellings(text: str) -> tuple[str, ...]:
    """Identifiers of a query as they may be joined in a text, in the form of its tokens: with
    joints that were left out (`ds7604` for DS-7604, `computeDiscount` for compute_discount),
    without those that were typed. Each once; plain words have none."""
    normal = unicodedata.normalize("NFKC", text[:_MOST_QUERY_CHARACTERS])
    found: list[str] = []
    for match in _TOKEN.finditer(normal):
        written = match[0]
        parts = _CAMEL.findall(written) if match.lastgroup == "word" else _PART.findall(written)
        if len(parts) < 2 or not written.isascii() or len(written) > _LONGEST:
            continue
        lower = [part.lower() for part in parts]
        if match.lastgroup == "word":
            found.append(_whole(lower))
        elif match.lastgroup == "joined" and ("_" in written or _LETTER_AND_DIGIT.search(written)):
            found.append("".join(lower))
    return tuple(dict.fromkeys(found))


def fold(text: str) -> str:
    """Lower case, and Latin and Greek letters without diacritics; others keep their marks.

    `й` and `ガ` are letters of their own, `ё` is written `е` by most people.
    """
    if text.isascii():
        return text.lower()
    folded: list[str] = []
    for char in unicodedata.normalize("NFC", text.lower()).translate(_FOLDED):
        if char.isascii() or not _FOLDABLE.match(char):
            folded.append(char)
        else:
            bare = unicodedata.normalize("NFD", char)
            folded.append("".join(part for part in bare if not unicodedata.combining(part)))
    return "".join(folded)


def _folded_copy(word: str) -> list[str]:
    folded = fold(word)
    return [folded] if folded != word else []


def _beside_word(
    word: str, text: str, span: tuple[int, int], *, is_composed: bool
) -> Iterator[str]:
    """What a plain word gives: its folded copy, its camel parts, itself where glued to CJK."""
    lower = word.lower()
    yield from _folded_copy(lower)
    if not is_composed and not word.isascii():
        # The text keeps the decomposed form, which is another word to PostgreSQL.
        yield lower
    elif _is_glued(text, span):
        yield lower
    yield from _camel_parts(word)


def _is_glued(text: str, span: tuple[int, int]) -> bool:
    before, after = text[max(0, span[0] - 1) : span[0]], text[span[1] : span[1] + 1]
    return bool(_UNSPACED_LETTER.match(before) or _UNSPACED_LETTER.match(after))


def _camel_parts(word: str) -> list[str]:
    """Parts of `getUserName` and `HttpUserToken`, none of `JavaScript`."""
    if word.islower() or word.isupper() or not word.isascii():
        return []
    parts = _CAMEL.findall(word)
    if len(parts) < 2 or (not word[0].islower() and len(parts) < 3):
        return []
    return [part.lower() for part in parts if len(part) > 1]


def _tokens_of(found: regex.Match[str], *, is_query: bool, is_glued: bool) -> Iterator[str]:
    match found.lastgroup:
        case "number" | "role":
            yield from _joined(f"{found['role']}-{found['number']}", is_query=is_query)
        case "iban":
            yield from _account_number(found["iban"], is_query=is_query)
        case "option":
            yield from _option(found["option"])
        case "dotted":
            yield _SIGNS["."] + found["dotted"][1:].casefold()
            yield "dot" + found["dotted"][1:].casefold()
        case "joined":
            if not _is_hyphenated_word(found["joined"]):
                yield from _joined(found["joined"], is_query=is_query)
            elif is_query or is_glued:
                yield from found["joined"].split("-")
        case "signed":
            yield from _signed(found["signed"])
        case "cjk":
            yield from _bigrams(found["cjk"], is_query=is_query)
        case _:
            yield from _trigrams(found["unspaced"])


def _account_number(written: str, *, is_query: bool) -> Iterator[str]:
    yield written.replace(" ", "").casefold()
    if not is_query and " " in written:
        yield from written.casefold().split()


def _joined(written: str, *, is_query: bool) -> Iterator[str]:
    """An identifier whole, without a leading `v` of a version, and its parts."""
    parts = _PART.findall(written.casefold())
    if len(parts[0]) > 1 and parts[0][0] == "v" and parts[0][1:].isdigit():
        parts[0] = parts[0][1:]
    whole = _whole(parts)
    if len(whole) <= _LONGEST:
        yield whole
    if not is_query and len(parts) > 2 and all(part.isdigit() for part in parts):
        # Who asks for 2.14 means 2.14.3 as well.
        yield from (_whole(parts[:length]) for length in range(2, len(parts)))
    for part in parts:
        yield from _part_tokens(part)


def _whole(parts: list[str]) -> str:
    """The parts as one word. A digit in front could be read as a number: 1e5."""
    joined = _INNER.join(map(fold, parts))
    return _INNER + joined if joined[:1].isdigit() else joined


def _is_hyphenated_word(written: str) -> bool:
    """Whether PostgreSQL reads it well by itself: whole and by parts, stemmed."""
    return written.isascii() and written.replace("-", "").isalpha() and written.islower()


def _part_tokens(part: str) -> Iterator[str]:
    """A part that says something by itself: two letters or three digits at least."""
    if _says_something(part):
        yield part
        yield from _folded_copy(part)
    pieces = _SUBPART.findall(part)
    if len(pieces) > 1:
        yield from filter(_says_something, pieces)


def _says_something(part: str) -> bool:
    return len(part) > (2 if part.isdigit() else 1)


def _option(written: str) -> Iterator[str]:
    dashes = len(written) - len(written.lstrip("-"))
    parts = _PART.findall(written.casefold())
    yield _SIGNS["-"] * dashes + _INNER.join(parts)
    if len(parts) > 1:
        yield _INNER.join(parts)
    yield from filter(_says_something, parts)


def _signed(written: str) -> Iterator[str]:
    lower = written.casefold()
    bare = lower.rstrip("0123456789")
    for form in dict.fromkeys((lower, bare)):
        yield "".join(_SIGNS.get(char, char) for char in form)


def _bigrams(run: str, *, is_query: bool) -> Iterator[str]:
    if len(run) == 1:
        yield run
        return
    yield from (run[index : index + 2] for index in range(len(run) - 1))
    if not is_query:
        yield from _HAN.findall(run)


def _trigrams(run: str) -> Iterator[str]:
    # PostgreSQL ends a word at tone marks and the like, which are no letters.
    run = _NOT_ALPHABETIC.sub("", run)
    if 0 < len(run) < 3:
        yield run
    yield from (run[index : index + 3] for index in range(len(run) - 2))
