"""Times that a question speaks of: "last week", "in March 2024", «вчера», "letzten Monat"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

# Numbers beyond this are no time that notes go back to, and overflow dates.
_MOST_BACK = 5000
# 14.3.26 may as well be a version: only years about now are read from two digits.
_SHORT_YEARS_BACK, _SHORT_YEARS_AHEAD = 15, 2
_VERSION = re.compile(r"(?:\bv|version|release|build|==?)\s*$", re.IGNORECASE)
_MONTHS = (
    "january jan januar jänner janvier enero gennaio январь января январе січень січня січні",
    "february feb februar février febrero febbraio февраль февраля феврале лютий лютого лютому",
    "march mar märz mars marzo март марта марте березень березня березні",
    "april apr avril abril aprile апрель апреля апреле квітень квітня квітні",
    "may mai mayo maggio май мая мае травень травня травні",
    "june jun juni juin junio giugno июнь июня июне червень червня червні",
    "july jul juli juillet julio luglio июль июля июле липень липня липні",
    "august aug août agosto август августа августе серпень серпня серпні",
    (
        "september sep sept septembre septiembre settembre сентябрь сентября сентябре вересень "
        "вересня вересні"
    ),
    "october oct oktober okt octobre octubre ottobre октябрь октября октябре жовтень жовтня жовтні",
    "november nov novembre noviembre ноябрь ноября ноябре листопад листопада листопаді",
    (
        "december dec dezember dez décembre diciembre dicembre декабрь декабря декабре грудень "
        "грудня грудні"
    ),
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_WEEKDAYS = (
    "monday montag lundi lunes понедельник понедельника",
    "tuesday dienstag mardi martes вторник вторника",
    "wednesday mittwoch mercredi miércoles среда среду среды",
    "thursday donnerstag jeudi jueves четверг четверга",
    "friday freitag vendredi viernes пятница пятницу пятницы",
    "saturday samstag sonnabend samedi sábado суббота субботу субботы",
    "sunday sonntag dimanche domingo воскресенье воскресенья",
)
_WEEKDAY_OF = {name: number for number, names in enumerate(_WEEKDAYS) for name in names.split()}
_UNITS = {
    "day": "day days tag tage tagen jour jours día días dia dias день дня дней дні днів",
    "week": "week weeks woche wochen semaine semaines semana semanas неделя неделю неделе недели "
    "недель тиждень тижня тижні",
    "month": "month months monat monate monaten monats mois mes meses месяц месяца месяце месяцев "
    "місяць місяця місяці",
    "quarter": "quarter quarters quartal trimestre квартал квартале кварталі",
    "year": "year years jahr jahre jahren année années an ans año años год года году лет рік року "
    "році",
}
_UNIT_OF = {name: unit for unit, names in _UNITS.items() for name in names.split()}
_DAYS_AGO = {
    "today": 0, "heute": 0, "hoy": 0, "сегодня": 0, "сьогодні": 0, "今天": 0, "今日": 0,
    "yesterday": 1, "gestern": 1, "ayer": 1, "вчера": 1, "вчора": 1, "昨天": 1, "昨日": 1,
    "vorgestern": 2, "anteayer": 2, "позавчера": 2, "前天": 2,
}  # fmt: skip
_WORD = re.compile(r"\w+")
# Words around a time that say nothing about a subject.
_EMPTY_WORDS = """
    a about all and any at did do does done everything for from happened happen have i in is list
    me my new note notes of on our show something that the there these things to up us was we were
    what whats which with wrote written
    alles alle am aus das dem den der die es gab geschah gibt haben hat ich ihr im in ist los
    meine neu neues notizen passierte passiert über vom von war waren was wir wurde zu
    что было были есть за заметки заметка из и какие какая мы на о об произошло с случилось у я
    що були було за нотатки нотатка які ми на про сталося
    ai avons de des du en est eu fait il la le les nous notes qu que quoi s sont un une y à
    de del el en es fue ha hay he hemos hicimos la las los mis nota notas pasó que qué se un una
    笔记 的 有 什么 什麼 有什么
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_CJK_WORDS = ("今天", "今日", "昨天", "昨日", "前天")


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
    return bool(ranges) and all(word.casefold() in _EMPTY for word in _WORD.findall(rest))


_Days = tuple[date, date]
_Meaning = Callable[[re.Match[str], date], "_Days | None"]


def _safely(meaning: _Meaning, match: re.Match[str], today: date) -> _Days | None:
    try:
        return meaning(match, today)
    except (ValueError, OverflowError):
        return None


def _number(match: re.Match[str], name: str) -> int:
    return int(match[name])


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
    month = _MONTH_OF[match["month"].casefold()]
    year = match["y"]
    day = date(int(year) if year else today.year, month, _number(match, "d"))
    if not year and day > today:
        day = date(today.year - 1, month, day.day)
    return day, day


def _month_of_year(match: re.Match[str], _today: date) -> _Days:
    groups = match.groupdict()
    month = int(groups["m"]) if groups.get("m") else _MONTH_OF[groups["month"].casefold()]
    return _month(_number(match, "y"), month)


def _month_alone(match: re.Match[str], today: date) -> _Days:
    month = _MONTH_OF[match["month"].casefold()]
    return _month(today.year if month <= today.month else today.year - 1, month)


def _quarter_of_year(match: re.Match[str], _today: date) -> _Days:
    return _quarter(_number(match, "y"), _number(match, "q"))


def _year_alone(match: re.Match[str], _today: date) -> _Days:
    year = _number(match, "y")
    return date(year, 1, 1), date(year, 12, 31)


def _day_word(match: re.Match[str], today: date) -> _Days:
    day = today - timedelta(days=_DAYS_AGO[match["day"].casefold()])
    return day, day


def _before_yesterday(_match: re.Match[str], today: date) -> _Days:
    day = today - timedelta(days=2)
    return day, day


def _last_weekday(match: re.Match[str], today: date) -> _Days:
    back = (today.weekday() - _WEEKDAY_OF[match["weekday"].casefold()]) % 7 or 7
    day = today - timedelta(days=back)
    return day, day


def _last_unit(match: re.Match[str], today: date) -> _Days:
    return _unit(_UNIT_OF[match["unit"].casefold()], 1, today)


def _this_unit(match: re.Match[str], today: date) -> _Days:
    return _unit(_UNIT_OF[match["unit"].casefold()], 0, today)


def _last_many(match: re.Match[str], today: date) -> _Days | None:
    many = _number(match, "n")
    unit = _UNIT_OF[match["unit"].casefold()]
    return None if many > _MOST_BACK else (_back(unit, many, today), today)


def _ago(match: re.Match[str], today: date) -> _Days | None:
    many = _number(match, "n")
    if many > _MOST_BACK:
        return None
    unit = _UNIT_OF[match["unit"].casefold()]
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
    # Chinese and Japanese have no spaces around words.
    year = r"(?P<y>(?:19|20)\d\d)"
    yield re.compile(rf"{year}年(?P<m>1?\d)月(?P<d>[0-3]?\d)日"), (_full_date,)
    yield re.compile(rf"{year}年(?P<m>1?\d)月"), (_month_of_year,)
    yield re.compile(rf"{year}年"), (_year_alone,)
    yield re.compile(rf"(?P<day>{'|'.join(_CJK_WORDS)})"), (_day_word,)


def _rules_of_words() -> Iterator[tuple[re.Pattern[str], _Meaning]]:
    year, day = r"(?P<y>(?:19|20)\d\d)", r"(?P<d>[0-3]?\d)"
    month = rf"(?P<month>{_any(_MONTH_OF)})\.?"
    unit, weekday = rf"(?P<unit>{_any(_UNIT_OF)})", rf"(?P<weekday>{_any(_WEEKDAY_OF)})"
    last = (
        r"last|past|previous|letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?|прошл\w+|минул\w+|"
        r"последн\w+|останн\w+|últim[oa]s?"
    )
    this = r"this|current|diese[nmrs]?|cette|ce|est[ea]|эт\w+|текущ\w+|цьо\w+"
    in_ = r"(?:in|during|of|since|im|seit|en|au|в|во|с|за|у)"
    for text, meaning in (
        (rf"{year}-(?P<m>[01]\d)-(?P<d>[0-3]\d)", _full_date),
        (rf"{day}(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?{month}(?:,?\s+(?:de\s+)?{year})?",
         _named_date),
        (rf"{month}\s+{day}(?:st|nd|rd|th)?(?:,?\s+{year})?(?!\d)", _named_date),
        (rf"{month}\s+(?:of\s+|de\s+)?{year}", _month_of_year),
        (rf"{year}-(?P<m>[01]\d)(?![-\d])", _month_of_year),
        (rf"Q(?P<q>[1-4])\s*/?\s*{year}", _quarter_of_year),
        (r"(?:day before yesterday|avant-hier)", _before_yesterday),
        (rf"(?:(?:the|les|los|las)\s+)?(?:{last}|les)\s+(?P<n>\d+)\s+(?:derni\w+\s+|últim\w+\s+)?{unit}",
         _last_many),
        (rf"(?P<n>\d+)\s+{unit}\s+(?:ago|назад|тому)", _ago),
        (rf"(?:vor|hace|il y a)\s+(?P<n>\d+)\s+{unit}", _ago),
        (rf"(?:{last})\s+{unit}", _last_unit),
        (rf"{unit}\s+(?:derni[eè]re?|pasad[oa])", _last_unit),
        (rf"(?:{this})\s+{unit}", _this_unit),
        (rf"(?:{last})\s+{weekday}", _last_weekday),
        (rf"{in_}\s+{month}", _month_alone),
        (rf"{in_}\s+{year}(?:\s+(?:году|года|году|році))?(?![-./]\d)", _year_alone),
        (rf"{year}\s+(?:году|года|год|році|року)", _year_alone),
        (rf"(?P<day>{_any(set(_DAYS_AGO) - set(_CJK_WORDS))})", _day_word),
    ):  # fmt: skip
        yield re.compile(rf"(?<![\w/-])(?:{text})(?!\w)", re.IGNORECASE), meaning


def _any(names: Iterator[str] | dict[str, int] | dict[str, str] | set[str]) -> str:
    """One of `names`, the longest that fits."""
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


_RULES = tuple(_rules())
