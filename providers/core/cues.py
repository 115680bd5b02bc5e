"""What a question asks for, and how a sentence looks that says it; in several languages."""

from __future__ import annotations

import re
from collections.abc import Callable

from providers.core.function_words import folded

# Words that point back: a sentence that begins with one needs the sentence before it.
_POINTING_BACK = frozenset(
    folded(
        "it he she they this that these those its his her their him them then otherwise "
        "он она оно они его ее её их им ему ей этот эта это эти там тогда затем потом "
        "він вона воно вони його її їх їм цей ця це ці там тоді потім "
        "er es sie ihn ihm ihr ihre ihnen dies diese dieser dieses dort dann danach dazu dabei "
        "il elle ils elles ce cela cette ces leur ello ella ellos eso esto esta este "
    ).split()
)
_POINTING_BACK_UNSPACED = re.compile(r"^(?:它|他|她|这|那|其|此|該|该|これ|それ|彼|その|この)")
_WORDS = re.compile(r"[^\W_]+")
_OPENING_WORDS = 2

_NUMERALS = (
    r"one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|thirty|hundred|thousand|"
    r"half|once|twice|daily|weekly|monthly|yearly|"
    r"один|одна|два|две|три|четыре|пять|шесть|семь|восемь|девять|десять|двадцать|тридцать|сто|"
    r"кажд\w+|ежедневно|еженедельно|перв\w+|втор\w+|треть\w+|"
    r"zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf|zwanzig|dreissig|hundert|täglich|"
    r"wöchentlich|monatlich|jährlich"
)
_FIGURE = re.compile(rf"\d|\b(?:{folded(_NUMERALS)})\b|[一二两三四五六七八九十百千半每]")
# Beginnings of months and days of the week, which say when without a figure.
_DATES = (
    "january|february|march|april|june|july|august|september|october|november|december|"
    "monday|tuesday|wednesday|thursday|friday|saturday|sunday|today|tomorrow|"
    "январ|феврал|март|апрел|мая|май|июн|июл|август|сентябр|октябр|ноябр|декабр|"
    "понедельник|вторник|сред[ау]|четверг|пятниц|суббот|воскресень|"
    "январ|лютого|берез|квіт|травн|черв|липн|серп|верес|жовт|листоп|груд|"
    "januar|februar|marz|mai|juni|juli|oktober|dezember|"
    "montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag"
)
_DATE = re.compile(rf"{_FIGURE.pattern}|\b(?:{_DATES})|[月日]|星期|周[一二三四五六日]")
_REASON = re.compile(
    r"\b(?:because|since|due to|so that|therefore|потому|поскольку|так как|из-за|поэтому|чтобы|"
    r"тому що|через те|weil|denn|da|deshalb|daher|damit|wegen|car|parce|porque)\b"
    r"|因为|由于|所以|ため|ので"
)
_COPULA = (
    r"(?:is|are|means|ist|sind|bedeutet|heisst|это|означает|називається|est|sont|es|son|"
    r"called|heißt)\b|[—–:：]|是|指"
)
# Words are taken whole and begin with a letter, so that a row of dots or dashes (a table of
# contents, a rule) can be read in one way only.
_MEANING = re.compile(
    rf"^[\W_]*(?:(?>[^\W_][\w'’.-]*)[\W_]{{1,4}}){{1,4}}?(?:{_COPULA})|^.{{1,8}}(?:是|指)"
)
_WAY = re.compile(r"`[^`]+`|→|^(?:click|press|choose|open|type|set|use|make|run|write)\b")

_ASKS_FOR: tuple[tuple[re.Pattern[str], re.Pattern[str], float], ...] = (
    (
        re.compile(r"^(?:when|wann|когда|коли|quand|cuando)\b|什么时候|何时|いつ"),
        _DATE,
        1.25,
    ),
    (
        re.compile(
            r"\b(?:how (?:long|many|much|often|large|big|far|old|fast|soon|late)|"
            r"сколько|как (?:часто|долго)|(?:какой|каков) срок|скільки|"
            r"wie (?:viele?|lange|oft|gross|hoch|weit|schnell)|combien|cuant\w+)\b"
            r"|多少|几|多久|多长|多大|いくつ"
        ),
        _FIGURE,
        1.25,
    ),
    (
        re.compile(
            r"\b(?:why|почему|зачем|отчего|чому|warum|weshalb|wieso|pourquoi|por que)\b"
            r"|为什么|为何|なぜ"
        ),
        _REASON,
        1.4,
    ),
    (
        re.compile(
            r"^(?:what (?:is|are|does .* mean)|что (?:такое|значит)|що таке|"
            r"was (?:ist|sind|bedeutet)|qu'est-ce|que es)\b|是什么|什么是|とは"
        ),
        _MEANING,
        1.35,
    ),
    (
        re.compile(
            r"^(?:how (?:do|can|to|should)|как(?: мне| можно)?|як|"
            r"wie (?:kann|mache|benutze|stelle)|comment|como)\b|怎么|如何|どうやって"
        ),
        _WAY,
        1.15,
    ),
)


def points_back(sentence: str) -> bool:
    """Whether the sentence is about something that the one before it names."""
    opening = _WORDS.findall(folded(sentence[:60]))[:_OPENING_WORDS]
    return bool(_POINTING_BACK.intersection(opening)) or bool(
        _POINTING_BACK_UNSPACED.match(sentence)
    )


def fitness_for(question: str) -> Callable[[str], float]:
    """How well sentences look like what `question` asks for: a number for how many, a reason
    for why. The factor is 1 for those that do not."""
    asked = folded(question).strip()
    wanted = [(looks, factor) for asks, looks, factor in _ASKS_FOR if asks.search(asked)]

    def fitness(sentence: str) -> float:
        told = folded(sentence)
        return max((factor for looks, factor in wanted if looks.search(told)), default=1.0)

    return fitness
