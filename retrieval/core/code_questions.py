"""Whether a question may be about source code: by its words for the parts of a program."""

from __future__ import annotations

import re

from retrieval.core.filters import Filter

# Words for parts of a program, by stem: what follows is a case or a plural. Words that notes of
# any kind are full of (object, type, test) tell nothing.
_STEMS = (
    # English; several are the same in other languages
    "function method subroutine routine module codebase source-code sourcecode implement "
    "parser callback handler decorator dataclass middleware regex regexp refactor docstring "
    "algorithm superclass subclass constructor getter setter lambda enum coroutine "
    # German, Dutch, Scandinavian
    "methode modul quelltext quellcode algorithmus functie broncode kildekode källkod "
    # French, Spanish, Italian, Portuguese
    "méthode implément función método módulo funzione metodo função "
    # Russian, Ukrainian, Polish
    "метод модул исходник исходн алгоритм реализаци реалізаці funkcj metod "
)
# Whole words, where longer ones mean something else: "funktioniert" is "works".
_WORDS = (
    "code codes class classes def func fn struct impl script funktion funktionen fonction "
    "fonctions код кода коде кодом коду функция функции функцию функций функцией функциях "
    "функція функції функцію функцій"
)
_WORD = re.compile(
    rf"(?<![\w-])(?:(?:{'|'.join(_STEMS.split())})\w*|(?:{'|'.join(_WORDS.split())}))(?![\w-])",
    re.IGNORECASE,
)
_UNSPACED = re.compile(
    "代码|源码|函数|方法|模块|类|コード|関数|メソッド|クラス|モジュール|코드|함수|메서드|클래스|모듈"
)
# call(), a::b, a->b. Names alone (is_valid, sync.py) stand in notes about a program as well, and
# words find both.
_WRITTEN = re.compile(r"\w\(\)|\w::\w|\w->\w")


def may_ask_for_code(text: str) -> bool:
    """Whether `text` has a word for a part of a program, or a call as it is written in one."""
    return bool(_WORD.search(text) or _UNSPACED.search(text) or _WRITTEN.search(text))


def wants_code_alone(filters: tuple[Filter, ...]) -> bool:
    """Whether `kind:code` is among the filters."""
    return any(
        each.name == "kind" and each.value == "code" and not each.is_excluding for each in filters
    )
