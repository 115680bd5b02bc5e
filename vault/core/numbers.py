"""Numbers in one form, however their digits are grouped: amounts, telephone numbers, shares."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Groups of three, and decimals behind another sign than the one between the groups.
_AMOUNT = re.compile(
    r"(?<![\w.,'’])(?P<whole>[1-9]\d{0,2}(?:(?P<sign>[ .,'’])\d{3})(?:(?P=sign)\d{3})*)"
    r"(?:(?!(?P=sign))[.,](?P<rest>\d{1,2}))?(?![\d'’]|[.,]\d)",
    re.ASCII,
)
_DECIMAL = re.compile(r"(?<![\w.,])(\d+),(\d{1,2})(?![\w.,]\d|\d)", re.ASCII)
# As people write what is dialled, and numbers of books and taxes.
_GROUPS = re.compile(
    r"(?<![\w.,])\+?\(?\d+(?:(?:[ ()./-]|\) ?|[ -]\(){1,2}\d+){1,6}(?!\w)", re.ASCII
)
_LONG = re.compile(r"(?<![\w.,-])\+?(\d{7,20})(?![\w-]|[.,]\d)", re.ASCII)
_ZEROS = re.compile(r"0+([1-9]\d+)", re.ASCII)
_SHARE = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)?) ?([%‰°])")
_SHARES = {"%": "zxr", "‰": "zxo", "°": "zxg"}
# Fewer digits at the end of a number are the number of something else.
_LEAST_DIGITS, _MOST_DIGITS = 7, 20
_HAS_DIGIT = re.compile(r"\d", re.ASCII)


def number_tokens(text: str) -> Iterator[str]:
    """Tokens for the numbers of a text or a query, for words in the `simple` configuration.

    `1,200.50`, `1.200,50` and `1200,50` are one, so are `+49 30 1234567` and `030/1234567`
    from some group on, and `19 %` is `19%`.
    """
    if not _HAS_DIGIT.search(text):
        return
    yield from _amounts(text)
    for found in _GROUPS.finditer(text):
        yield from _endings(re.findall(r"\d+", found[0].replace("(0)", "")))
    for found in _LONG.finditer(text):
        yield from leading_zeros_off(found[1])
    for found in _SHARE.finditer(text):
        yield _decimal(*re.split("[.,]", found[1])) + _SHARES[found[2]]


def leading_zeros_off(number: str) -> Iterator[str]:
    """`37` for 00037; nothing where no zero leads, or a digit is left."""
    found = _ZEROS.fullmatch(number)
    if found:
        yield found[1]


def _amounts(text: str) -> Iterator[str]:
    for found in _AMOUNT.finditer(text):
        whole = "".join(re.findall(r"\d+", found["whole"]))
        yield whole
        if found["rest"]:
            yield _decimal(whole, found["rest"])
    for found in _DECIMAL.finditer(text):
        yield _decimal(found[1], found[2])


def _endings(groups: list[str]) -> Iterator[str]:
    """The digits of `groups` from each group on, without zeros in front: with and without the
    code of the country, of the town."""
    for start in range(len(groups)):
        digits = "".join(groups[start:])
        if _LEAST_DIGITS <= len(digits) <= _MOST_DIGITS:
            yield digits.lstrip("0") or digits


def _decimal(whole: str, rest: str = "") -> str:
    return f"zz{whole}zz{rest}" if rest else f"zz{whole}"
