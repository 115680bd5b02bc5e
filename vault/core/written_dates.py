"""Days that a text names in full, however it writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from vault.core.months import MONTH_OF

_YEAR = r"(?P<y>(?:19|20)\d\d)"
_SOME_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_NEAR = 30
_NAME = r"(?P<month>[^\W\d_][\w\u0300-\u036f\u0900-\u097f\u0e00-\u0e7f]{1,14})\.?"
_NAMED = tuple(
    re.compile(rf"(?<!\w)(?:{text})(?!\w)")
    for text in (
        rf"(?P<d>[0-3]?\d)(?:st|nd|rd|th|º|\.)?\s+(?:of\s+|de\s+)?{_NAME},?\s+(?:de\s+)?{_YEAR}",
        rf"{_NAME}\s+(?P<d>[0-3]?\d)(?:st|nd|rd|th)?,?\s+{_YEAR}",
        rf"{_YEAR}\.?\s+{_NAME}\s+(?P<d>[0-3]?\d)\.?",
    )
)
_UNSPACED = re.compile(
    r"(?P<y>(?:19|20)\d\d)\s?[年년]\s?(?P<m>[01]?\d)\s?[月월]\s?(?P<d>[0-3]?\d)\s?[日일]"
)
# Which of the two is the month depends on where the writer lives.
_IN_DIGITS = re.compile(
    rf"(?<![\w./-])(?P<a>[0-3]?\d)(?P<s>[./-])(?P<b>[0-3]?\d)(?P=s){_YEAR}(?![\w/-]|\.\d)"
)


def written_dates(text: str) -> tuple[str, ...]:
    """The days that `text` names with their years, in ISO form, each once; of 3/4/2026 both
    readings. Those that no calendar has are left out, as are days that stand in ISO form."""
    found: dict[str, None] = {}
    for year in _SOME_YEAR.finditer(text):
        # All else of a day stands near its year.
        around = text[max(0, year.start() - _NEAR) : year.end() + _NEAR]
        found |= dict.fromkeys(_iso(*day) for day in _days(around))
    return tuple(filter(None, found))


def _days(text: str) -> Iterator[tuple[int, int, int]]:
    for pattern in _NAMED:
        for match in pattern.finditer(text):
            month = MONTH_OF.get(match["month"].casefold())
            if month:
                yield int(match["y"]), month, int(match["d"])
    for match in _UNSPACED.finditer(text):
        yield int(match["y"]), int(match["m"]), int(match["d"])
    for match in _IN_DIGITS.finditer(text):
        yield int(match["y"]), int(match["b"]), int(match["a"])
        if match["s"] != ".":
            yield int(match["y"]), int(match["a"]), int(match["b"])


def _iso(year: int, month: int, day: int) -> str:
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""
