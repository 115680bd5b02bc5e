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
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, pairwise, takewhile

import regex

from vault.core.folding import fold, plain_form
from vault.core.numbers import leading_zeros_off, number_tokens
from vault.core.written_dates import written_dates

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
_RUN = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*")
_DIGITS = re.compile(r"[0-9]+")
_MODEL = re.compile(r"([a-z]{2,12})([0-9]{2,})([a-z]{0,4})")
_APOSTROPHE = re.compile("['’ʼ＇`´]")
_APOSTROPHED = regex.compile(r"(?<![\p{L}\p{N}'’ʼ])(\p{L}+)['’ʼ＇`´](\p{L}+)")
# Of English words; what is left of a French one is an article.
_ENDINGS = frozenset(("s", "re", "ll", "ve", "d", "m"))
_TAG = re.compile(r"<([A-Za-z][\w ,.?&]{0,60})>")
_HIDDEN = re.compile(r"/\.([a-z][a-z0-9]+)(?!\w)")
_BETWEEN_SLASHES = re.compile(r"[/\\:@]+")
# What PostgreSQL reads as a number: 1e5.
_POWER = re.compile(r"[0-9]+e[0-9]")
# Of an identifier without its joints; longer ones are addresses.
_SHORTEST, _MOST_SQUEEZED = 4, 40
_SHORT_PREFIX = 3
MOST_JOINED = 4
_LETTER_AND_DIGIT = re.compile(r"[A-Za-z].*[0-9]|[0-9].*[A-Za-z]")
_NOT_ALPHABETIC = regex.compile(r"\P{Alphabetic}")
_HAN = regex.compile(r"\p{Han}")
_UNSPACED_LETTER = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}]"
)


def made_tokens(text: str) -> str:
    """What keyword search needs beside the words of a text, space separated, in its order.

    Identifiers whole and by parts, copies without diacritics, pairs of Chinese, Japanese
    and Korean characters, triples of Thai, Lao and Khmer ones, single Chinese characters,
    numbers and days in one form, words that PostgreSQL reads otherwise. A plain word gives
    nothing.
    """
    normal = plain_form(text)
    tokens = [*_beside_words(normal, text), *number_tokens(normal)]
    tokens += (_whole(day.split("-")) for day in written_dates(normal))
    if normal is not text:
        tokens += _read_otherwise(text)
    return " ".join(tokens)


def _read_otherwise(text: str) -> Iterator[str]:
    """Words that PostgreSQL does not see in `text`, which it reads as it is: of letters in
    another form, with marks apart from them, with signs inside that nobody sees."""
    for written in text.split():
        normal = plain_form(written)
        if normal != written:
            seen = set(_RUN.findall(written.lower()))
            yield from (word for word in _RUN.findall(normal.lower()) if word not in seen)


def _beside_words(normal: str, text: str) -> Iterator[str]:
    spaced = normal
    if not _MAY_BE_IBAN.search(normal):  # whose groups stand apart
        spaced = " ".join(_NOT_PLAIN.findall(normal))
    is_ascii = spaced.isascii()
    for found in _TOKEN.finditer(spaced):
        if found.lastgroup == "word":
            if is_ascii and (found[0].islower() or found[0].istitle()):
                continue  # nothing to say about it
            yield from _beside_word(found[0], spaced, found.span())
        else:
            is_glued = _is_glued(spaced, found.span())
            yield from _tokens_of(found, is_query=False, is_glued=is_glued)
    yield from _without_apostrophes(spaced)
    for tag in _TAG.findall(text):
        # To PostgreSQL the type in List<Integer> is a tag of HTML.
        yield from map(str.casefold, _PART.findall(tag))


@lru_cache(maxsize=64)
def query_tokens(text: str) -> tuple[str, ...]:
    """The tokens of a query in the same form, each once; plain words as they are.

    A word of the query may be a part of an identifier, or typed without its accents, so
    each is looked for unstemmed as well. At most 1,000 characters are read.
    """
    normal = plain_form(text[:_MOST_QUERY_CHARACTERS])
    tokens: list[str] = []
    for found in _TOKEN.finditer(normal):
        if found.lastgroup == "word":
            word = found[0].lower()
            tokens += [word, *_folded_copy(word), *_model_parts(word)]
        else:
            tokens += _tokens_of(found, is_query=True, is_glued=False)
    tokens += [*number_tokens(normal), *_without_apostrophes(normal)]
    tokens += (part.casefold() for tag in _TAG.findall(normal) for part in _PART.findall(tag))
    return tuple(dict.fromkeys(tokens))


def other_spellings(text: str) -> tuple[str, ...]:
    """Identifiers of a query as they may be joined in a text, in the form of its tokens: with
    joints that were left out (`ds7604` for DS-7604, `computeDiscount` for compute_discount),
    without those that were typed. Each once; plain words have none."""
    normal = plain_form(text[:_MOST_QUERY_CHARACTERS])
    if not _NOT_PLAIN.search(normal):
        return ()
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


def words_joined(text: str) -> tuple[str, ...]:
    """Neighbours in a short query as one word, as a text may have them: `elastic search`,
    `Qt 6`, `e-mail`. Nothing for a query of more than MOST_JOINED words."""
    words = [fold(part) for part in _PART.findall(plain_form(text[:_MOST_QUERY_CHARACTERS]))]
    if len(words) > MOST_JOINED:
        return ()
    pairs = ("".join(pair) for pair in pairwise(words))
    return tuple(dict.fromkeys(pair for pair in pairs if not _UNSPACED_LETTER.search(pair)))


def _folded_copy(word: str) -> list[str]:
    folded = fold(word)
    return [folded] if folded != word else []


def _beside_word(word: str, text: str, span: tuple[int, int]) -> Iterator[str]:
    """What a plain word gives: its folded copy, its parts, itself where glued to CJK."""
    lower = word.lower()
    yield from _folded_copy(lower)
    if _is_glued(text, span):
        yield lower
    yield from _camel_parts(word)
    yield from _model_parts(lower)


def _model_parts(word: str) -> Iterator[str]:
    """Name and number of `rtx4090` and `iso9001`, which are written apart as often."""
    found = _MODEL.fullmatch(word)
    if found:
        yield from filter(_says_something, found.groups())


def _without_apostrophes(text: str) -> Iterator[str]:
    """`obrien` for O'Brien, `dont` for don't, `зїзд` for з'їзд, however the sign is written:
    PostgreSQL reads two words, or one, as the sign may be a letter to it."""
    words = (word for word in text.split() if _APOSTROPHE.search(word))
    for found in chain.from_iterable(map(_APOSTROPHED.finditer, words)):
        before, after = found[1], found[2].casefold()
        is_article = before.islower() and before.isascii() and len(before) < 3
        if after not in _ENDINGS and not is_article:
            yield fold(before + after)


def _is_glued(text: str, span: tuple[int, int]) -> bool:
    before, after = text[max(0, span[0] - 1) : span[0]], text[span[1] : span[1] + 1]
    return bool(_UNSPACED_LETTER.match(before) or _UNSPACED_LETTER.match(after))


def _camel_parts(word: str) -> list[str]:
    """Parts of `getUserName`, `HttpUserToken` and `XMLParser`, none of `JavaScript`."""
    if word.islower() or word.isupper() or not word.isascii():
        return []
    parts = _CAMEL.findall(word)
    is_name = word[0].isupper() and not parts[0].isupper()
    if len(parts) < 2 or (is_name and len(parts) < 3):
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
            yield from _dotted(found["dotted"][1:].casefold(), is_query=is_query)
        case "joined":
            if _is_hyphenated_word(found["joined"]):
                yield from _hyphenated(found["joined"], apart=is_query or is_glued)
            else:
                yield from _joined(found["joined"], is_query=is_query)
        case "signed":
            yield from _signed(found["signed"])
        case "cjk":
            yield from _bigrams(found["cjk"], is_query=is_query)
        case _:
            yield from _trigrams(found["unspaced"])


def _dotted(name: str, *, is_query: bool) -> Iterator[str]:
    yield _SIGNS["."] + name
    yield "dot" + name
    if is_query:
        yield name


def _account_number(written: str, *, is_query: bool) -> Iterator[str]:
    yield written.replace(" ", "").casefold()
    if not is_query and " " in written:
        yield from written.casefold().split()


def _joined(written: str, *, is_query: bool) -> Iterator[str]:
    """An identifier whole, without a leading `v` of a version, and its parts."""
    parts = _parts_of(written)
    whole = _whole(parts)
    if len(whole) <= _LONGEST:
        yield whole
    if not is_query:
        yield from (each for each in dict.fromkeys(_in_part(written, parts)) if each != whole)
    for part in parts:
        yield from _part_tokens(part)
        if not is_query:
            yield from leading_zeros_off(part)
    for name in _HIDDEN.findall(written.casefold()):
        yield from _dotted(name, is_query=is_query)


def _parts_of(written: str) -> list[str]:
    parts = _PART.findall(written.casefold())
    if len(parts[0]) > 1 and parts[0][0] == "v" and parts[0][1:].isdigit():
        parts[0] = parts[0][1:]
    return parts


def _in_part(written: str, parts: list[str]) -> Iterator[str]:
    """How an identifier is asked for by a part of it, or without its joints: OPS-4711 of an
    address that ends so, DS-7604 of DS-7604NI-K1, 2.14 of 2.14.3, `3f2504e0` and the rest of
    it as one."""
    numbers = len(list(takewhile(str.isdigit, parts)))
    yield from (_whole(parts[:length]) for length in range(2, numbers + 1))
    segments = [_parts_of(each) for each in _BETWEEN_SLASHES.split(written) if _PART.search(each)]
    for segment in (*segments, parts):
        squeezed = "".join(segment)
        if len(segment) > 1:
            yield _whole(segment)
        if len(segment) > 1 and _SHORTEST <= len(squeezed) <= _MOST_SQUEEZED:
            yield from [squeezed] * bool(_DIGITS.search(squeezed) and not _POWER.match(squeezed))
    for before, after in pairwise(parts):
        number = _DIGITS.match(after)
        if before.isalpha() and number:
            yield _whole([before, number[0]])


def _whole(parts: list[str]) -> str:
    """The parts as one word. A digit in front could be read as a number: 1e5."""
    joined = _INNER.join(map(fold, parts))
    return _INNER + joined if joined[:1].isdigit() else joined


def _is_hyphenated_word(written: str) -> bool:
    """Whether PostgreSQL reads it well by itself: whole and by parts, stemmed."""
    return written.isascii() and written.replace("-", "").isalpha() and written.islower()


def _hyphenated(word: str, *, apart: bool) -> Iterator[str]:
    """Its words where PostgreSQL may not see them, else what may be written as one: `email`."""
    if apart:
        yield from word.split("-")
    elif word.index("-") <= _SHORT_PREFIX:
        yield word.replace("-", "")


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
