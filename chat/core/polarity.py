"""Whether one text denies, or turns round, what another says.

Two denials of one thing agree: what is closed is not open, and who must be at least 14 is not
under 14. So a word that only one side denies is no contradiction where the other side says its
opposite, or forbids.
"""

from __future__ import annotations

import regex

from chat.core.figures import NUMBER_WORDS
from chat.core.wording import clauses, telling, words_of

# Words that turn a statement round, in the languages that the index knows best.
_DENIED = """
not no never none nobody cannot without nicht kein keine keinen keiner niemand nie niemals ohne
не нет нельзя никогда без никто ні немає ніколи ne pas jamais aucun aucune sans 不 没 沒 未 无 無
"""
_DENIALS = frozenset(_DENIED.split())
# Chinese words that have a sign of denial in them and deny nothing.
_NO_DENIAL = regex.compile("不仅|不但|不同|不过|不断|不久|不少|不管|差不多|无论|未来")
# What is thus is not allowed, not open or not kept, without a word of denial.
_REFUSED = """
closed shut forbidden prohibited banned refused rejected declined deleted removed locked blocked
geschlossen verboten untersagt gesperrt abgelehnt gelöscht entfernt
закрыт закрыта закрыто закрыты закрывается запрещен запрещён запрещена запрещено запрещены
запрещается удаляют удалить удаляются отказывают зачинено закрито заборонено
fermé fermée fermés interdit interdite refusé refusée supprimé
"""
_REFUSALS = frozenset(_REFUSED.split())
_REFUSALS_HAN = ("禁止", "关闭", "闭馆", "休息", "拒绝", "删除", "停业")
# What only some may, the others may not.
_ONLY = frozenset(("only", "except", "unless", "nur", "außer", "seulement", "sauf"))
_ONLY |= {"только", "кроме", "лише", "тільки"}
_ONLY_HAN = ("只", "仅", "除了")
_HAN = regex.compile(r"\p{Han}")


def _expression(words: str) -> regex.Pattern[str]:
    """One that finds these words whole; in Chinese, where none has an end, wherever they are."""
    return regex.compile(words if _HAN.search(words) else rf"(?<!\w)(?:{words})(?!\p{{L}})")


_N = rf"(?:\d|{'|'.join(sorted(NUMBER_WORDS))})"
# Expressions of which one says what the other does not: what is so many above is not below.
_OPPOSITES = tuple(
    (_expression(one), _expression(other))
    for one, other in (
        ("above", "below"), ("more", "less|fewer"), ("maximum", "minimum"), ("double", "half"),
        (f"at least|or older|older than|over {_N}", f"under {_N}|below {_N}|younger"),
        ("open|opens|works", "closed"), ("allowed|permitted", "forbidden|prohibited|banned"),
        ("oberhalb", "unterhalb"), ("mehr", "weniger"), ("mindestens", "höchstens"),
        (f"mindestens|älter|ab {_N}", f"jünger|unter {_N}"), ("doppelt", "halb"),
        ("geöffnet|offen", "geschlossen"), ("erlaubt|gestattet", "verboten|untersagt"),
        ("выше", "ниже"), ("больше|более", "меньше|менее"), ("максимум", "минимум"),
        ("вдвое", "половину"), ("старше", "младше|моложе"),
        ("открыт[аоы]?|работает", "закрыт[аоы]?"),
        ("можно|разреш[её]н[аоы]?|разрешается", "запрещ[её]н[аоы]?|запрещается"),
        ("高于", "低于"), ("大于", "小于"), ("最多", "最少"),
        ("(?<![未不])满|以上", "以下|未满|不满"),
    )
)  # fmt: skip


def goes_against(statement: str, sentence: str, *, in_its_words: bool) -> bool:
    """Whether one of the two denies or turns round what the other says.

    `in_its_words` is whether the statement is made of the sentence's words: then *only* is no
    denial of the rest, it is the one word that was left out.
    """
    is_opposite = _is_opposite(statement, sentence)
    if not denies(statement, sentence):
        return is_opposite
    other = sentence if _has_denial(statement) else statement
    is_one_denial = is_opposite or _refuses(other) or (not in_its_words and _restricts(other))
    return not is_one_denial


def denies(statement: str, sentence: str) -> bool:
    """Whether one of the two says what the other denies, being about the same words.

    Of the sentence its parts count that speak of what the statement speaks of.
    """
    if not words_of(statement) & words_of(sentence):
        return False
    subject = telling(statement)
    read = [part for part in clauses(sentence) if subject & telling(part)] or [sentence]
    return _has_denial(statement) != any(map(_has_denial, read))


def _has_denial(text: str) -> bool:
    return bool(words_of(_NO_DENIAL.sub(" ", text)) & _DENIALS)


def _refuses(text: str) -> bool:
    return bool(words_of(text) & _REFUSALS) or any(word in text for word in _REFUSALS_HAN)


def _restricts(text: str) -> bool:
    return bool(words_of(text) & _ONLY) or any(word in text for word in _ONLY_HAN)


def _is_opposite(statement: str, sentence: str) -> bool:
    """Whether one has one side of a pair and the other has the other."""
    said, read = statement.casefold(), sentence.casefold()
    for one, other in _OPPOSITES:
        of_said = (bool(one.search(said)), bool(other.search(said)))
        of_read = (bool(one.search(read)), bool(other.search(read)))
        if sorted([of_said, of_read]) == [(False, True), (True, False)]:
            return True
    return False
