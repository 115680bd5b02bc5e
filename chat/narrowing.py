"""Narrowing a question's search to the tags and folders it names."""

from __future__ import annotations

from dataclasses import dataclass

from chat.core.narrowing import narrowing_in, without
from retrieval.core.filters import Filter
from retrieval.filters import unknown_filter
from vault.core.types import Scope


@dataclass(frozen=True, slots=True)
class Narrowed:
    """What is searched for, and where. `notice` tells the reader, "" when nothing narrows."""

    question: str
    filters: tuple[Filter, ...] = ()
    notice: str = ""


def narrow(question: str, scope: Scope) -> Narrowed:
    """Take the tags and folders of `question` that some note of `scope` has as filters.

    Others stay words of the question: `#winning` is no wish to search a tag.
    """
    if not scope:
        return Narrowed(question)
    known = tuple(each for each in narrowing_in(question) if unknown_filter([each], scope) is None)
    if not known:
        return Narrowed(question)
    names = ", ".join(each.raw for each in known)
    return Narrowed(without(question, known), known, f"Only notes with {names} were searched.")
