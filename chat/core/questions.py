"""Questions that a note answers, worded as its readers would ask them, in its language."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from chat.core.question_words import (
    CALENDAR,
    ENGLISH_CLAUSE_WORDS,
    ENGLISH_LEANS,
    ENGLISH_OBJECTS,
    ENGLISH_OPENINGS,
    ENGLISH_SMALL,
    ENGLISH_VERBS,
    GENERIC,
    WORDINGS,
    Wording,
)
from providers.core.language import language_of

SHORTEST, LONGEST = 4, 70
_ASKING_ENDS = ("?", "？", "؟")
# Chinese and Japanese words that ask, wherever they stand.
_ASKING_SIGNS = regex.compile(
    r"如何|怎么|怎样|为什么|为何|什么|哪|谁|多少|何时|どう|なぜ|いつ|どこ"
)
# Paths, commands, markup, formulas: nobody asks after them by name.
_CODE = regex.compile(r"[{}<>|=\\/$^~]|\w\(|^\s*(?:GET|POST|PUT|PATCH|DELETE)\b")
_NUMBERING = regex.compile(r"^\s*(?:\d+(?:\.\d+)*[.):]?|[IVX]+[.)]|[a-z][.)])\s+")
_AROUND = regex.compile(r"^[^\p{L}\p{N}«„“\"'(\[¿¡]+|[\s:.,;…–—-]+$")
_WORD = regex.compile(r"\p{Han}+|[\p{L}\p{M}']+", regex.V1)
_CALENDAR_SIGNS = regex.compile("年|月|日|号|第|周|星期|季度|步|章|节|部分|[一二三四五六七八九十]")


def question_about(title: str, headings: Sequence[str], *, opening: str = "", nth: int = 0) -> str:
    """A question that the note answers, or "" when its title says too little.

    A heading that is a question already, or half of one, comes first; `nth` varies the rest.
    `opening` is the beginning of its text, which tells its language.
    """
    inner = [text for text in headings if text != title and says_something(text)]
    asked = [_bare(text) for text in inner if _asks(text)]
    asked += [_half_asked(_bare(text), _wording(f"{title} {text}", opening)) for text in inner]
    if nth % 2 and says_something(title):
        asked += [question_on(title, text, opening=opening) for text in inner]
    if found := next(filter(None, asked), ""):
        return found
    if not says_something(title):
        return ""
    title = _bare(title)
    wording = _wording(title, opening)
    return _half_asked(title, wording) or _about(title, opening, wording)


def question_on(title: str, heading: str, *, opening: str = "") -> str:
    """A question that the section `heading` of the note `title` answers.

    "" where none comes out that anybody would ask: a heading of every note, a date, a command.
    """
    if not says_something(heading):
        return ""
    heading = _bare(heading)
    if _asks(heading):
        return heading
    wording = _wording(f"{title} {heading}", opening)
    if asked := _half_asked(heading, wording):
        return asked
    is_english = wording is WORDINGS["en"]
    if is_english and heading.split()[0].casefold() in wording.clauses:
        return ""
    if (is_english and (_leans(heading) or _is_doing(heading))) or not says_something(title):
        return _about(heading, opening, wording)
    title = f"“{_bare(title)}”" if is_english else _bare(title)
    topic = _in_a_sentence(heading, opening) if is_english else heading
    return wording.section.format(title=title, heading=topic)


def says_something(text: str) -> bool:
    """Whether a title or heading tells what is behind it: words of its own, and not too many."""
    bare = _bare(text)
    words = bare.casefold()
    # Scripts without letter case say as much in half the characters.
    shortest = SHORTEST if words.upper() != words else SHORTEST // 2
    has_letters = sum(character.isalpha() for character in words) >= shortest
    is_named = words not in GENERIC and not _is_calendar(words) and not _CODE.search(bare)
    return has_letters and len(words) <= LONGEST and is_named


def _about(topic: str, opening: str, wording: Wording) -> str:
    """A question about a topic that needs no other words beside it; "" for none."""
    if wording is not WORDINGS["en"]:
        return wording.title.format(title=topic)
    if _leans(topic):
        return ""
    if _is_doing(topic):
        return f"How does {_lowered(topic)} work?"
    return wording.title.format(title=_in_a_sentence(topic, opening))


def _leans(heading: str) -> bool:
    """Whether an English heading needs the text around it to say what it is about."""
    words = heading.casefold().split()
    return words[0] in ENGLISH_LEANS or words[-1] in ENGLISH_LEANS


def _is_doing(heading: str) -> bool:
    """Whether it names something that is done: "Streaming an answer"."""
    first, _, rest = heading.partition(" ")
    return first.endswith("ing") and rest.split(" ")[0].casefold() in ENGLISH_OBJECTS


def _half_asked(heading: str, wording: Wording) -> str:
    """The question that a heading such as "How to start the pump" is half of already."""
    if wording is WORDINGS["en"]:
        return _english_half(heading)
    lowered = _lowered(heading)
    if lowered.startswith(tuple(f"{word} " for word in wording.clauses)):
        is_asked = wording.clause.startswith(("{rest}", "¿"))
        return wording.clause.format(rest=heading if is_asked else lowered)
    is_asking = wording in (WORDINGS["zh"], WORDINGS["ja"]) and _ASKING_SIGNS.search(heading)
    return wording.clause.format(rest=heading) if is_asking else ""


def _english_half(heading: str) -> str:
    lowered = _lowered(heading)
    for begin, form in ENGLISH_OPENINGS:
        if lowered.startswith(begin):
            return form.format(rest=lowered.removeprefix(begin))
    words = lowered.split()
    wording = WORDINGS["en"]
    if words[0] not in wording.clauses or len(words) < ENGLISH_CLAUSE_WORDS:
        return ""
    verb = words[2 if words[0] == "which" else 1]
    if words[0] in ("what", "who", "which") and verb in ENGLISH_VERBS:
        return f"{heading}?"
    return wording.clause.format(rest=lowered)


def _in_a_sentence(topic: str, opening: str) -> str:
    """An English topic as it stands inside a sentence: lower case where no name begins it."""
    first = topic.split(maxsplit=1)[0].lower()
    is_word = first in ENGLISH_SMALL or regex.search(rf"\b{regex.escape(first)}\b", opening)
    return _lowered(topic) if is_word else f"“{topic}”"


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def _bare(text: str) -> str:
    """A heading without its number, its signs and what ends it."""
    return _AROUND.sub("", _NUMBERING.sub("", text.replace("`", "").replace("*", ""))).strip()


def _is_calendar(words: str) -> bool:
    """Whether nothing is named but days, months, weeks and numbers."""
    left = (_CALENDAR_SIGNS.sub("", word) for word in _WORD.findall(words))
    return all(not word or word in CALENDAR for word in left)


def _wording(words: str, opening: str) -> Wording:
    return WORDINGS.get(language_of(f"{words}\n{opening}"), WORDINGS["en"])


def _asks(text: str) -> bool:
    return text.rstrip().endswith(_ASKING_ENDS)
