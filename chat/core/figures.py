"""The figures of a text, however they are written, and what they count.

`10:30`, `3.5` and `1.2.3` are one figure each: a ten is in none of them. A number word of one
of the languages below is a figure too, and so is what lies between the ends of a range.
"""

from __future__ import annotations

from collections.abc import Iterator

import regex

_THOUSANDS = regex.compile(r"(?<=\d)[,.\u00a0\u202f ](?=\d{3}(?!\d))")
_FIGURE = regex.compile(r"\d+(?:[.,:]\d+)*")
_RANGE = regex.compile(
    r"(?<![\d.,:-])(\d{1,4})\s*(?:[-–—]|\bto\b|\bbis\b|до|à|至|到)\s*(\d{1,4})(?![\d:-])"
)
_WORD = regex.compile(r"\p{L}[\p{L}\p{M}]*")
# A longer run of digits is a name, not a figure.
MOST_FIGURE = 19
LONGEST_RANGE = 30
# Not "one": it is an article or a pronoun as well.
_NUMBERS = {
    2: "two zwei два две двух двум двумя двоє дві двох deux",
    3: "three drei три трех трёх трем тремя трьох trois",
    4: "four vier четыре четырех четырёх чотири чотирьох quatre",
    5: "five fünf пять пяти пятью п'ять п'яти cinq",
    6: "six sechs шесть шести шестью шість шести",
    7: "seven sieben семь семи семью сім семи sept",
    8: "eight acht восемь восьми вісім huit",
    9: "nine neun девять девяти дев'ять neuf",
    10: "ten zehn десять десяти dix",
    11: "eleven elf одиннадцать одиннадцати одинадцять onze",
    12: "twelve zwölf двенадцать двенадцати дванадцять douze",
}
NUMBER_WORDS = {word: str(n) for n, words in _NUMBERS.items() for word in words.split()}
_HAN = {sign: n for n, sign in enumerate("〇一二三四五六七八九")} | {"两": 2, "兩": 2}
_HAN_NUMBER = regex.compile(
    r"[二两兩三四五六七八九]?十[一二三四五六七八九]?|[二两兩三四五六七八九]"
)
_UNITS = {
    "second": "second seconds sekunde sekunden секунда секунды секунд",
    "minute": "minute minutes minuten минута минуты минут",
    "hour": "hour hours stunde stunden час часа часов heure heures",
    "day": "day days tag tage tagen день дня дней jour jours",
    "week": "week weeks woche wochen неделя недели недель semaine semaines",
    "month": "month months monat monate monaten месяц месяца месяцев mois",
    "year": "year years jahr jahre jahren год года лет an ans année années",
}
_UNIT_WORDS = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_COUNTED = regex.compile(r"(\d+|\p{L}[\p{L}\p{M}']*)[\s-]+(\p{L}[\p{L}\p{M}]*)", regex.V1)


def figures(text: str) -> frozenset[str]:
    """The figures in `text` that are written in digits: padded, grouped or not, the same."""
    plain = _THOUSANDS.sub("", text)
    found = (_parts(match[0]) for match in _FIGURE.finditer(plain))
    return frozenset(figure for parts in found for figure in parts if len(figure) < MOST_FIGURE)


def number_words(text: str) -> frozenset[str]:
    """The figures in `text` that are written as words, from two to twelve."""
    words = (match[0].casefold() for match in _WORD.finditer(text))
    return frozenset(NUMBER_WORDS[word] for word in words if word in NUMBER_WORDS)


def all_figures(text: str) -> frozenset[str]:
    """Every figure that `text` tells of: in digits, as words, and inside of ranges."""
    return figures(text) | number_words(text) | set(_in_ranges(text)) | set(_han_numbers(text))


def counted(text: str) -> frozenset[tuple[str, str]]:
    """(figure, unit of time) for each length of time in `text`."""
    pairs = set()
    for match in _COUNTED.finditer(text, overlapped=True):
        said, unit = match[1].casefold(), _UNIT_WORDS.get(match[2].casefold())
        figure = str(int(said)) if said.isdecimal() else NUMBER_WORDS.get(said)
        if figure and unit:
            pairs.add((figure, unit))
    return frozenset(pairs)


def _parts(written: str) -> list[str]:
    """The figures that a run of digits with signs between them is."""
    if ":" in written:
        hours, *rest = (part.lstrip("0") or "0" for part in written.split(":"))
        return [":".join([hours, *rest]) if set(rest) != {"0"} else hours]
    parts = regex.split("[.,]", written)
    is_date = len(parts) == 3 and len(parts[-1]) == 4
    if len(parts) == 1 or is_date or ("," in written and len(parts) > 2):
        return [part.lstrip("0") or "0" for part in parts]
    if len(parts) > 2:
        return [written]
    whole, decimals = parts[0].lstrip("0") or "0", parts[1].rstrip("0")
    return [f"{whole}.{decimals}" if decimals else whole]


def _in_ranges(text: str) -> Iterator[str]:
    for match in _RANGE.finditer(text):
        first, last = int(match[1]), int(match[2])
        if last - first <= LONGEST_RANGE:
            yield from map(str, range(first, last + 1))


def _han_numbers(text: str) -> Iterator[str]:
    for match in _HAN_NUMBER.finditer(text):
        tens, is_ten, ones = match[0].rpartition("十")
        number = _HAN.get(ones, 0) + (10 * _HAN.get(tens, 1) if is_ten else 0)
        yield str(number)
