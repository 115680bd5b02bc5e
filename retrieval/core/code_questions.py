"""Whether a question may be about source code: by its words for the parts of a program."""

from __future__ import annotations

import re
from enum import IntEnum

from retrieval.core.filters import Filter


class CodeSign(IntEnum):
    """What in a question says that it is about source code.

    WEAK: a word that other things are called as well, a method of payment, the code of a
    discount. STRONG: a word for parts of a program alone, a call as it is written in one, or a
    weak word that is asked for ("which method …", "the module that …").
    """

    NONE = 0
    WEAK = 1
    STRONG = 2


# By stem: what follows is a case or a plural.
_STRONG_STEMS = (
    "subroutine codebase source-code sourcecode docstring dataclass superclass subclass "
    "constructor getter setter lambda coroutine regex regexp quelltext quellcode broncode "
    "kildekode källkod funkcj "
)
# Whole words, where longer ones mean something else: "funktioniert" is "works".
_STRONG_WORDS = (
    "function functions func def fn struct enum impl funktion funktionen functie functies "
    "fonction fonctions función funciones funzione funzioni função funções "
    "функция функции функцию функций функцией функциях функція функції функцію функцій"
)
_STRONG_PHRASES = (
    r"source code|(?:in|of|through|which|what|our) (?:the )?code|im code|в коде|у коді"
)
_WEAK_STEMS = (
    "method routine module script handler callback middleware parser decorator algorithm "
    "implement methode modul méthode implément método módulo implementa metodo metod algoritm "
    "метод модул алгоритм реализаци реалізаці исходник исходн "
)
_WEAK_WORDS = "class classes code codes класс классе класса клас класу код кода коде кодом коду"
_ASKED = (
    "which what welche welcher welches quelle quel qué cuál quale qual какая какой каком какую "
    "какие який яка якому którą która jaka"
)
_UNSPACED_STRONG = re.compile("源代码|源码|函数|関数|함수")
_UNSPACED_WEAK = re.compile(
    "代码|方法|模块|コード|メソッド|クラス|モジュール|코드|메서드|클래스|모듈"
)
# call(), a::b, a->b. Names alone (is_valid, sync.py) stand in notes about a program as well, and
# words find both.
_WRITTEN = re.compile(r"\w\(\)|\w::\w|\w->\w")


def _any_of(words: str) -> str:
    return "|".join(words.split())


_WEAK = rf"(?:(?:{_any_of(_WEAK_STEMS)})\w*|(?:{_any_of(_WEAK_WORDS)})\b)"
_WEAK_WORD = re.compile(rf"(?<![\w-]){_WEAK}(?![\w-])", re.IGNORECASE)
_STRONG_WORD = re.compile(
    rf"(?<![\w-])(?:(?:{_any_of(_STRONG_STEMS)})\w*|(?:{_any_of(_STRONG_WORDS)})|{_STRONG_PHRASES})"
    rf"(?![\w-])",
    re.IGNORECASE,
)
# A weak word that is asked for, as a part of a program is: "which method of payment" is none.
_ASKED_FOR = re.compile(
    rf"(?<!\w)(?:{_any_of(_ASKED)})\s+{_WEAK}(?!\s+(?:of|for|von|de|der)\b)"
    rf"|^(?:the\s+)?{_WEAK}\s+(?:that|which|where)\b|^(?:the\s+)?(?:implementation|parser)\s+of\b",
    re.IGNORECASE,
)


def code_sign(text: str) -> CodeSign:
    """The strongest sign in `text` that it asks for source code."""
    strong = (_STRONG_WORD, _ASKED_FOR, _UNSPACED_STRONG, _WRITTEN)
    if any(pattern.search(text) for pattern in strong):
        return CodeSign.STRONG
    if _WEAK_WORD.search(text) or _UNSPACED_WEAK.search(text):
        return CodeSign.WEAK
    return CodeSign.NONE


def wants_code_alone(filters: tuple[Filter, ...]) -> bool:
    """Whether `kind:code` is among the filters."""
    return any(
        each.name == "kind" and each.value == "code" and not each.is_excluding for each in filters
    )
