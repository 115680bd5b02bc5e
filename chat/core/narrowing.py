"""Tags and folders in a question: what the asker wants the search to keep to."""

from __future__ import annotations

import regex

from retrieval.core.filters import Filter, take_filters

# A tag begins a word and has a letter: `#12` is an issue, `C#` a language.
_TAG = regex.compile(r"(?<!\S)#(?P<tag>(?=[\w/-]*\p{L})[\w/-]+)")


def narrowing_in(question: str) -> tuple[Filter, ...]:
    """The `#tags` and `path:` words of `question`, each once, as they stand there."""
    _rest, filters = take_filters(question)
    paths = [each for each in filters if each.name == "path" and not each.is_excluding]
    tags = [
        Filter("tag", match["tag"].strip("/").lower(), match[0])
        for match in _TAG.finditer(question)
    ]
    return tuple({(each.name, each.value): each for each in (*paths, *tags)}.values())


def without(question: str, filters: tuple[Filter, ...]) -> str:
    """What is asked beside `filters`; the question itself when nothing remains."""
    rest = question
    for each in filters:
        rest = rest.replace(each.raw, " ")
    return " ".join(rest.split()) or question
