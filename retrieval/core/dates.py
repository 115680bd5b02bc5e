"""Times that a question speaks of: "last week", "in March 2024", «вчера», "letzten Monat"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from retrieval.core.date_words import (
    AFTER_UNIT,
    DAYS_AGO,
    EMPTY,
    LAST,
    NUMBER_OF,
    QUARTER_OF,
    THIS,
    UNIT_OF,
    UNSPACED_DAYS,
    WEEKDAY_OF,
    any_of,
)
from vault.core.months import MONTH_OF

# Numbers beyond this are no time that notes go back to, and overflow dates.
_MOST_BACK = 5000
# 14.3.26 may as well be a version: only years about now are read from two digits.
_SHORT_YEARS_BACK, _SHORT_YEARS_AHEAD = 15, 2
_VERSION = re.compile(r"(?:\bv|version|release|build|==?)\s*$", re.IGNORECASE)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class DateRange:
    """Days that words of a question mean, both ends included."""

    words: str
    first: date
    last: date


@lru_cache(maxsize=256)
def dates_in(text: str, *, today: date) -> tuple[DateRange, ...]:
    """The times that `text` speaks of, in its order; a longer phrase hides those inside it.

    A month without a year is the last one that has begun. A date that does not exist means
    nothing. "May" and "march" alone are no months. 3/4/2026 is both the third of April and
    the fourth of March: a range each.
    """
    taken: list[tuple[int, int]] = []
    found: dict[int, list[DateRange]] = {}
    for pattern, meanings in _RULES:
        for match in pattern.finditer(text):
            if any(match.start() < end and start < match.end() for start, end in taken):
                continue
            taken.append(match.span())
            read = (_safely(meaning, match, today) for meaning in meanings)
            days = dict.fromkeys(each for each in read if each is not None)
            found[match.start()] = [DateRange(match[0].strip(), *each) for each in days]
    return tuple(each for start in sorted(found) for each in found[start])


def asks_for_days_alone(text: str, *, today: date) -> bool:
    """Whether `text` speaks of a time and of nothing else: "what was last week?"."""
    ranges = dates_in(text, today=today)
    rest = text
    for each in ranges:
        rest = rest.replace(each.words, " ")
    return bool(ranges) and all(word.casefold() in EMPTY for word in _WORD.findall(rest))


_Days = tuple[date, date]
_Meaning = Callable[[re.Match[str], date], "_Days | None"]


def _safely(meaning: _Meaning, match: re.Match[str], today: date) -> _Days | None:
    try:
        return meaning(match, today)
    except (ValueError, OverflowError):
        return None


def _number(match: re.Match[str], name: str) -> int:
    """A number in digits or in a word."""
    said = match[name].casefold()
    return NUMBER_OF.get(said) or int(said)


def _full_date(match: re.Match[str], _today: date) -> _Days:
    day = date(_number(match, "y"), _number(match, "m"), _number(match, "d"))
    return day, day


def _month_first(match: re.Match[str], today: date) -> _Days | None:
    """As North America writes it: 3/14/2026."""
    year = _year_of(match, today)
    day = year and date(year, _number(match, "d"), _number(match, "m"))
    return (day, day) if day else None


def _day_first(match: re.Match[str], today: date) -> _Days | None:
    year = _year_of(match, today)
    day = year and date(year, _number(match, "m"), _number(match, "d"))
    return (day, day) if day else None


def _year_of(match: re.Match[str], today: date) -> int | None:
    """The year of a date in digits. One of two digits is near, and follows no word that makes
    a version of it."""
    if len(match["y"]) > 2:
        return int(match["y"])
    year = 2000 + int(match["y"])
    is_near = today.year - _SHORT_YEARS_BACK <= year <= today.year + _SHORT_YEARS_AHEAD
    is_version = _VERSION.search(match.string[: match.start()])
    return year if is_near and not is_version else None


def _named_date(match: re.Match[str], today: date) -> _Days | None:
    month = MONTH_OF[match["month"].casefold()]
    year = match["y"]
    day = date(int(year) if year else today.year, month, _number(match, "d"))
    if not year and day > today:
        day = date(today.year - 1, month, day.day)
    return day, day


def _month_of_year(match: re.Match[str], _today: date) -> _Days:
    groups = match.groupdict()
    month = int(groups["m"]) if groups.get("m") else MONTH_OF[groups["month"].casefold()]
    return _month(_number(match, "y"), month)


def _month_alone(match: re.Match[str], today: date) -> _Days:
    month = MONTH_OF[match["month"].casefold()]
    return _month(today.year if month <= today.month else today.year - 1, month)


def _month_and_day(match: re.Match[str], today: date) -> _Days:
    """Of this year, or the last one where that day is still to come."""
    day = date(today.year, _number(match, "m"), _number(match, "d"))
    if day > today:
        day = date(today.year - 1, day.month, day.day)
    return day, day


def _month_number(match: re.Match[str], today: date) -> _Days:
    month = _number(match, "m")
    return _month(today.year if month <= today.month else today.year - 1, month)


def _quarter_of_year(match: re.Match[str], _today: date) -> _Days:
    quarter = QUARTER_OF.get(match["q"].casefold()) or _number(match, "q")
    return _quarter(_number(match, "y"), quarter)


def _week_of_year(match: re.Match[str], today: date) -> _Days:
    """A week by its number (ISO 8601); without a year the last one of that number."""
    number = _number(match, "w")
    if match["y"]:
        first = date.fromisocalendar(int(match["y"]), number, 1)
    else:
        first = date.fromisocalendar(today.isocalendar().year, number, 1)
        if first > today:
            first = date.fromisocalendar(today.isocalendar().year - 1, number, 1)
    return first, first + timedelta(days=6)


def _year_alone(match: re.Match[str], _today: date) -> _Days:
    year = _number(match, "y")
    return date(year, 1, 1), date(year, 12, 31)


def _day_word(match: re.Match[str], today: date) -> _Days:
    day = today - timedelta(days=DAYS_AGO[match["day"].casefold()])
    return day, day


def _yesterday(_match: re.Match[str], today: date) -> _Days:
    day = today - timedelta(days=1)
    return day, day


def _before_yesterday(_match: re.Match[str], today: date) -> _Days:
    day = today - timedelta(days=2)
    return day, day


def _last_weekday(match: re.Match[str], today: date) -> _Days:
    back = (today.weekday() - WEEKDAY_OF[match["weekday"].casefold()]) % 7 or 7
    day = today - timedelta(days=back)
    return day, day


def _weekday_of_last_week(match: re.Match[str], today: date) -> _Days:
    day = _unit("week", 1, today)[0] + timedelta(days=WEEKDAY_OF["周" + match["weekday"]])
    return day, day


def _last_year(_match: re.Match[str], today: date) -> _Days:
    return _unit("year", 1, today)


def _this_year(_match: re.Match[str], today: date) -> _Days:
    return _unit("year", 0, today)


def _last_unit(match: re.Match[str], today: date) -> _Days:
    return _unit(UNIT_OF[match["unit"].casefold()], 1, today)


def _this_unit(match: re.Match[str], today: date) -> _Days:
    return _unit(UNIT_OF[match["unit"].casefold()], 0, today)


def _last_many(match: re.Match[str], today: date) -> _Days | None:
    many = _number(match, "n")
    unit = UNIT_OF[match["unit"].casefold()]
    return None if many > _MOST_BACK else (_back(unit, many, today), today)


def _ago(match: re.Match[str], today: date) -> _Days | None:
    many = _number(match, "n")
    if many > _MOST_BACK:
        return None
    unit = UNIT_OF[match["unit"].casefold()]
    if unit == "day":
        day = today - timedelta(days=many)
        return day, day
    return _unit(unit, many, today)


def _unit(unit: str, back: int, today: date) -> _Days:
    """The calendar week, month, quarter or year that is `back` before that of `today`."""
    if unit == "day":
        return today - timedelta(days=back), today
    start = _back(unit, back, today)
    if unit == "week":
        first = start - timedelta(days=start.weekday())
        return first, first + timedelta(days=6)
    if unit == "month":
        return _month(start.year, start.month)
    if unit == "quarter":
        return _quarter(start.year, (start.month - 1) // 3 + 1)
    return date(start.year, 1, 1), date(start.year, 12, 31)


def _back(unit: str, many: int, today: date) -> date:
    if unit in {"day", "week"}:
        return today - timedelta(days=many * (7 if unit == "week" else 1))
    months = many * {"month": 1, "quarter": 3, "year": 12}[unit]
    year, month = divmod(today.year * 12 + today.month - 1 - months, 12)
    return date(year, month + 1, min(today.day, _month(year, month + 1)[1].day))


def _month(year: int, month: int) -> _Days:
    first = date(year, month, 1)
    after = date(year + month // 12, month % 12 + 1, 1)
    return first, after - timedelta(days=1)


def _quarter(year: int, quarter: int) -> _Days:
    return date(year, quarter * 3 - 2, 1), _month(year, quarter * 3)[1]


def _rules() -> Iterator[tuple[re.Pattern[str], tuple[_Meaning, ...]]]:
    """Longest phrases first. The year is one that notes are from."""
    in_digits = r"(?P<d>[0-3]?\d)(?P<s>[/-])(?P<m>[0-3]?\d)(?P=s)(?P<y>(?:19|20)?\d\d)(?![/-]?\d)"
    by_dots = r"(?<!\.)(?P<d>[0-3]?\d)\.(?P<m>[01]?\d)\.(?P<y>(?:19|20)?\d\d)(?!\.?\d)"
    for text, meanings in (
        (in_digits, (_day_first, _month_first)),
        (by_dots, (_day_first,)),
        (r"(?P<y>(?:19|20)\d\d)/(?P<m>[01]?\d)/(?P<d>[0-3]?\d)(?![/\d])", (_full_date,)),
        (r"(?P<y>(?:19|20)\d\d)(?P<m>[01]\d)(?P<d>[0-3]\d)(?![.,]\d)", (_full_date,)),
    ):
        yield re.compile(rf"(?<![\w/-])(?:{text})(?!\w)"), meanings
    yield from ((pattern, (meaning,)) for pattern, meaning in _rules_of_words())
    yield from ((re.compile(text), (meaning,)) for text, meaning in _rules_without_spaces())


def _rules_without_spaces() -> Iterator[tuple[str, _Meaning]]:
    """Chinese, Japanese and Korean have no spaces around words, or endings behind them."""
    year, day = r"(?P<y>(?:19|20)\d\d)\s?[年년]\s?", r"(?P<d>[0-3]?\d)\s?[日号號일]"
    month, unit = r"(?P<m>[01]?\d)\s?[月월]\s?", "(?P<unit>个?月|個月|周|週|星期|礼拜|季度|주|달)"
    number = r"(?P<n>\d+|[一二两兩三四五六七八九十])\s?"
    units = "(?P<unit>天|日|周|週間?|星期|礼拜|个月|個月|[ヶか]月|年|일|주|개월|년)"
    yield rf"{year}{month}{day}", _full_date
    yield rf"{year}第?(?P<q>[1-4]|[一二三四])季度", _quarter_of_year
    yield rf"{year}{month}", _month_of_year
    yield rf"(?:{year})?第(?P<w>[0-5]?\d)[周週]", _week_of_year
    yield rf"{year}", _year_alone
    yield rf"(?<!\d){month}{day}", _month_and_day
    yield r"(?<!\d)(?P<m>1[0-2]|[1-9])[月월](?!\w*[前间間])", _month_number
    yield r"(?:上|上个|上個)(?:周|週|星期|礼拜)(?P<weekday>[一二三四五六日])", _weekday_of_last_week
    yield rf"(?:上|上个|上個|先|지난\s?){unit}", _last_unit
    yield rf"(?:这|這|这个|這個|本|今|이번\s?){unit}", _this_unit
    yield rf"(?:过去|過去|最近|近|지난|최근)\s?{number}{units}", _last_many
    yield rf"{number}{units}\s?(?:之?前|以前|전)", _ago
    yield "去年|昨年|작년", _last_year
    yield "今年|本年|올해", _this_year
    yield f"(?P<day>{any_of(UNSPACED_DAYS)})", _day_word


def _rules_of_words() -> Iterator[tuple[re.Pattern[str], _Meaning]]:
    for text, meaning in (*_rules_of_dates(), *_rules_of_looking_back()):
        yield re.compile(rf"(?<![\w/-])(?:{text})(?!\w)", re.IGNORECASE), meaning


def _rules_of_dates() -> tuple[tuple[str, _Meaning], ...]:
    """Days, weeks, months and quarters that are named."""
    year, day = r"(?P<y>(?:19|20)\d\d)", r"(?P<d>[0-3]?\d)"
    month = rf"(?P<month>{any_of(MONTH_OF)})\.?"
    quarter = r"quarter|quartal|trimestre|kwartał\w*|квартал\w*"
    week = r"(?:calendar\s+)?week|KW|CW|WK|kalenderwoche|неделя|тиждень|semaine|semana|settimana"
    return (
        (rf"{year}-(?P<m>[01]?\d)-(?P<d>[0-3]?\d)", _full_date),
        (rf"{day}(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?{month}(?:,?\s+(?:de\s+)?{year})?",
         _named_date),
        (rf"{year}\.?\s+{month}\s+{day}\.?", _named_date),
        (rf"{month}\s+{day}(?:st|nd|rd|th)?(?:,?\s+{year})?(?!\d)", _named_date),
        (rf"{month}\s+(?:of\s+|de\s+)?{year}", _month_of_year),
        (rf"{year}-(?P<m>[01]\d)(?![-\d])", _month_of_year),
        (rf"(?P<m>0?[1-9]|1[0-2])/{year}(?![/\d])", _month_of_year),
        (rf"[QT](?P<q>[1-4])\s*[/-]?\s*{year}", _quarter_of_year),
        (rf"{year}\s*[/-]?\s*Q(?P<q>[1-4])", _quarter_of_year),
        ((rf"(?P<q>[1-4]|{any_of(QUARTER_OF)})[.-]?(?:й|го)?\s+(?:{quarter})\s+"
         rf"(?:of\s+|de\s+|von\s+)?{year}"), _quarter_of_year),
        (rf"{year}-?W(?P<w>[0-5]\d)", _week_of_year),
        (rf"(?:{week})\s*(?P<w>[0-5]?\d)(?:\s*[/,]?\s*(?:of\s+|de\s+)?{year})?(?!\d)",
         _week_of_year),
    )  # fmt: skip


def _rules_of_looking_back() -> tuple[tuple[str, _Meaning], ...]:
    """Times as seen from today, and years and months that are named alone."""
    year, month = r"(?P<y>(?:19|20)\d\d)", rf"(?P<month>{any_of(MONTH_OF)})\.?"
    unit, weekday = rf"(?P<unit>{any_of(UNIT_OF)})", rf"(?P<weekday>{any_of(WEEKDAY_OF)})"
    number = rf"(?P<n>\d+|{any_of(NUMBER_OF)})"
    in_ = r"(?:in|during|of|since|im|seit|en|au|em|we?|ve?|в|во|с|за|у)"
    return (
        (r"(?:day before yesterday|avant-hier|l'altro ieri)", _before_yesterday),
        ((rf"(?:(?:the|les|los|las|gli|le|nos|na|nas|i)\s+)?(?:{LAST}|les)\s+{number}\s+"
         rf"(?:derni\w+\s+|últim\w+\s+)?{unit}"), _last_many),
        (rf"{number}\s+{unit}\s+(?:ago|назад|тому|fa|atrás|geleden|temu)", _ago),
        (rf"(?:vor|hace|il y a|há|před)\s+{number}\s+{unit}", _ago),
        (rf"(?:{LAST})\s+{unit}", _last_unit),
        (rf"{unit}\s+(?:{AFTER_UNIT})", _last_unit),
        (rf"(?:{THIS})\s+{unit}", _this_unit),
        (rf"(?:{LAST})\s+{weekday}", _last_weekday),
        (rf"{weekday}\s+(?:{AFTER_UNIT})", _last_weekday),
        (rf"{in_}\s+{month}", _month_alone),
        (rf"{in_}\s+{year}(?:\s+(?:году|года|год|році))?(?![-./]\d)", _year_alone),
        (rf"{year}\s+(?:году|года|год|році|року)", _year_alone),
        # In German it is "here".
        (r"hier\s+(?:soir|matin)|(?<=['’])hier|(?<=fait\s)hier|\A\s*hier\W*\Z", _yesterday),
        (rf"(?P<day>{any_of(set(DAYS_AGO) - set(UNSPACED_DAYS))})", _day_word),
    )  # fmt: skip


_RULES = tuple(_rules())
