"""A statement that says what its passage says, of something else: another person's name,
another product, place or role beside the right figure.

Such a statement has the words of a part of the passage, in their order, but for one place. Who
puts a text in words of their own seldom changes a single name, so the two must mean the same.
Where the passage has both of them, and not side by side, they are two things.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

import regex

from chat.core.wording import STEM, clauses

_TOKEN = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}]|[\p{L}\p{M}]+|\p{N}[\p{L}\p{N}.:]*",
    regex.V1,
)
# Words that name nothing: another one of them makes no other statement. They are grammar
# alone: the lists of stopwordsiso have "open", "six" and "place" as well, without which two
# sentences are the same that say different things (a mark added in benchmarks/citations.py
# --named is right in 0.75 of the cases with them, always without).
_EMPTY_WORDS = """
the this that these those from with into have has been were was will there here every each all one
i he she it its they them their we us our you your who his her him what when where if as an a in on
at by to of for and but so no not
der die das dem den des ein eine einem einen einer ist sind wird werden wurde auf aus bei für mit
von vom zum zur im am in an er sie es ihn ihm ihr ihnen wir uns man wer was wann wo wenn ob jeder
jede alle und aber
les des une est sont par pour dans qui elle ils ses tout tous le la il elles lui leur nous vous on
этот эта это они она он оно его ему ее её ей их им мы вы как для при что кто где когда если все в
на с у о и а но він вона воно вони його її їх їм всі ми ви хто що де коли якщо
的 了 在 是 由 着 他 她 它
"""
_EMPTY = frozenset(_EMPTY_WORDS.split())
_FEWEST_LETTERS = 4
_HAN = regex.compile(r"\p{Han}")
# Words of a swap on either side: a name has up to three. In Chinese, signs.
MOST_SWAPPED = 3
# So many words must be the same: fewer make no sentence of which one word was changed.
FEWEST_KEPT = 2
# Names of a list that a statement may leave out; of anything else it is one word, an aside:
# "Ann, the manager, opens".
MOST_LEFT_OUT = 2
# Letters at its end in which a word may differ from itself: Anna, Annas; Анна, Анны.
_ENDING = 1
_SHORTEST = 3
# The last part of a compound is the thing: a descaling agent is an agent.
_SHORTEST_PART = 4


Words = tuple[str, ...]
Code = tuple[str, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Swap:
    """What the passage has, and what the statement has in its place.

    `is_other` is whether the passage has both, of different things.
    """

    read: str
    said: str
    is_other: bool


def find_swap(statement: str, sentences: Sequence[str]) -> Swap | None:
    """The name in the one place where the statement has other words than a sentence, or a
    part of one.

    None where there is no such place, or where a sentence says the same without a change.
    """
    said = _tokens(statement)
    wholes = [_tokens(sentence) for sentence in sentences]
    parts = [part for sentence in sentences for part in _parts(sentence)]
    swaps: list[tuple[Words, Words]] = []
    for read in dict.fromkeys(map(tuple, (*parts, *wholes))):
        if not _may_be_alike(said, read):
            continue
        codes = _aligned(said, read)
        if _has_all(read, codes):
            return None
        swaps += filter(None, [_swap(said, read, codes)])
    apart = [swap for swap in dict.fromkeys(swaps) if not _are_of_one(*swap, wholes)]
    found = [Swap(_joined(old), _joined(new), _has_words(new, wholes)) for old, new in apart]
    return max(found, key=lambda swap: swap.is_other, default=None)


def _may_be_alike(said: Words, read: Words) -> bool:
    """Whether so many words begin alike that only one name of `said` may not be in `read`."""
    begins = {word.casefold()[:_SHORTEST] for word in read}
    others = sum(word.casefold()[:_SHORTEST] not in begins for word in said)
    return others <= MOST_SWAPPED and len(said) - others >= FEWEST_KEPT - 1


def _tokens(text: str) -> Words:
    """The words of `text` that name something, in their order, as they are written."""
    words = (match[0] for match in _TOKEN.finditer(text))
    return tuple(word for word in words if word.casefold() not in _EMPTY and _names(word))


def _names(word: str) -> bool:
    is_long = len(word) >= _FEWEST_LETTERS or word[0].isupper()
    return is_long or word[0].isdigit() or not word.isascii()


def _parts(sentence: str) -> list[list[str]]:
    """The words of each part of a sentence; one word alone belongs to the part behind it, as
    in a list."""
    parts: list[list[str]] = [[]]
    for clause in clauses(sentence):
        if len(parts[-1]) > 1:
            parts.append([])
        parts[-1] += _tokens(clause)
    return parts


def _is_same(one: str, other: str) -> bool:
    """Whether two words are the same but for their endings, or one is a kind of the other."""
    one, other = sorted((one.casefold(), other.casefold()), key=len)
    if one == other or one.isdigit() or other.isdigit():
        return one == other
    if len(one) >= _SHORTEST_PART and other.endswith(one):
        return True
    least = max(_SHORTEST, min(STEM, len(one) - _ENDING))
    return len(one) >= least and one[:least] == other[:least]


def _aligned(said: Words, read: Words) -> Sequence[Code]:
    """How `read` becomes `said`: the steps of SequenceMatcher, over words that are the same."""
    own = [next((at for at, one in enumerate(said) if _is_same(one, word)), word) for word in said]
    of_read = [
        next((at for at, one in enumerate(said) if _is_same(one, word)), word) for word in read
    ]
    return SequenceMatcher(None, of_read, own, autojunk=False).get_opcodes()


def _has_all(read: Words, codes: Sequence[Code]) -> bool:
    """Whether nothing is changed, and no more than an aside or a list of names left out
    between words."""
    if any(kind not in {"equal", "delete"} for kind, *_ in codes):
        return False
    left_out = [read[begin:end] for kind, begin, end, *_ in codes[1:-1] if kind == "delete"]
    return all(len(words) == 1 or _is_list(words) for words in left_out)


def _is_list(words: Words) -> bool:
    return len(words) <= MOST_LEFT_OUT and all(word[0].isupper() for word in words)


def _swap(said: Words, read: Words, codes: Sequence[Code]) -> tuple[Words, Words] | None:
    """What `read` has and what `said` has instead, where that is all in which they differ
    and one of the two is a name."""
    changed = [code for code in codes if code[0] in {"replace", "insert"}]
    kept = sum(end - begin for kind, begin, end, *_ in codes if kind == "equal")
    if len(changed) != 1 or changed[0][0] != "replace" or kept < FEWEST_KEPT:
        return None
    _, begin, end, first, last = changed[0]
    old, new = read[begin:end], said[first:last]
    return (old, new) if _may_be_names(old, new) else None


def _may_be_names(old: Words, new: Words) -> bool:
    named = [all(word[0].isupper() or _HAN.match(word) for word in words) for words in (old, new)]
    if any(word[0].isdigit() for word in (*old, *new)):
        return False  # figures are compared as such
    is_short = max(len(old), len(new)) <= MOST_SWAPPED
    return is_short and any(named) and (all(named) or len(old) == len(new))


def _joined(words: Words) -> str:
    return ("" if _HAN.match(words[0]) else " ").join(words)


def _has_words(words: Words, sentences: Sequence[Words]) -> bool:
    """Whether names that are said stand in the sentences: there, they are others than those
    that are read."""
    are_names = all(word[0].isupper() or _HAN.match(word) for word in words)
    return are_names and all(any(_is_among(word, each) for each in sentences) for word in words)


def _are_of_one(old: Words, new: Words, sentences: Sequence[Words]) -> bool:
    """Whether a word of the one stands next to a word of the other: parts of one name, or a
    name and a role of one person."""
    return any(
        (_is_among(a, old) and _is_among(b, new)) or (_is_among(a, new) and _is_among(b, old))
        for sentence in sentences
        for a, b in pairwise(sentence)
    )


def _is_among(word: str, words: Sequence[str]) -> bool:
    return any(_is_same(word, each) for each in words)
