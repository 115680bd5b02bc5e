"""Questions that a note answers, worded as its readers would ask them, in its language."""

from __future__ import annotations

from collections.abc import Sequence

from providers.core.language import language_of

SHORTEST, LONGEST = 4, 70
# Titles that say nothing about what a note holds.
_EMPTY_TITLES = {"readme", "index", "home", "untitled", "inbox", "changelog", "todo", "welcome"}
_ASKING_ENDS = ("?", "？", "؟")
# About a note; about a section of it. English where a language is not here.
_WORDINGS = {
    "en": ("What do the notes say about “{title}”?", "What does “{title}” say about “{heading}”?"),
    "de": ("Was steht in den Notizen über „{title}“?", "Was steht in „{title}“ über „{heading}“?"),
    "ru": (
        "Что сказано в заметках о теме «{title}»?",
        "Что в заметке «{title}» сказано о теме «{heading}»?",
    ),
    "uk": (
        "Що сказано в нотатках про тему «{title}»?",
        "Що в нотатці «{title}» сказано про тему «{heading}»?",
    ),
    "zh": ("笔记里关于“{title}”是怎么说的？", "《{title}》里关于“{heading}”是怎么说的？"),
    "ja": (
        "ノートには「{title}」について何と書いてありますか？",
        "「{title}」には「{heading}」について何と書いてありますか？",
    ),
    "fr": (
        "Que disent les notes au sujet de « {title} » ?",
        "Que dit « {title} » au sujet de « {heading} » ?",
    ),
    "es": ("¿Qué dicen las notas sobre «{title}»?", "¿Qué dice «{title}» sobre «{heading}»?"),
    "it": ("Che cosa dicono le note su «{title}»?", "Che cosa dice «{title}» su «{heading}»?"),
    "pt": ("O que dizem as notas sobre “{title}”?", "O que diz “{title}” sobre “{heading}”?"),
    "nl": ("Wat staat er in de notities over “{title}”?", "Wat zegt “{title}” over “{heading}”?"),
    "pl": ("Co mówią notatki o „{title}”?", "Co mówi „{title}” o „{heading}”?"),
}
# English headings that are half a question already.
_ENGLISH_OPENINGS = (
    ("how to ", "How do I {rest}?"),
    ("when ", "What happens when {rest}?"),
    ("if ", "What happens if {rest}?"),
    ("without ", "What happens without {rest}?"),
)
_ENGLISH_CLAUSES = ("how ", "what ", "where ", "which ", "who ", "why ", "whether ")


def question_about(title: str, headings: Sequence[str], *, opening: str = "", nth: int = 0) -> str:
    """A question that the note answers, or "" when its title says too little.

    A heading that is a question already is taken as it stands; `nth` varies the wording.
    `opening` is the beginning of its text, which tells its language.
    """
    asked = [text for text in headings if _asks(text) and says_something(text)]
    if asked:
        return asked[0].strip()
    if not says_something(title):
        return ""
    inner = [text for text in headings if says_something(text) and text != title]
    if inner and nth % 2:
        return question_on(title, inner[(nth // 2) % len(inner)], opening=opening)
    return _wording(title, opening)[0].format(title=title)


def question_on(title: str, heading: str, *, opening: str = "") -> str:
    """A question that the section `heading` of the note `title` answers."""
    heading = heading.strip()
    if _asks(heading):
        return heading
    wording = _wording(f"{title} {heading}", opening)
    if wording is _WORDINGS["en"]:
        lowered = heading[:1].lower() + heading[1:]
        for begin, form in _ENGLISH_OPENINGS:
            if lowered.startswith(begin):
                return form.format(rest=lowered.removeprefix(begin))
        if lowered.startswith(_ENGLISH_CLAUSES):
            return f"What does “{title}” say about {lowered}?"
    return wording[1].format(title=title, heading=heading)


def says_something(text: str) -> bool:
    """Whether a title or heading tells what is behind it: words, and not too many."""
    words = text.strip().casefold()
    # Scripts without letter case say as much in half the characters.
    shortest = SHORTEST if words.upper() != words else SHORTEST // 2
    has_letters = sum(character.isalpha() for character in words) >= shortest
    return has_letters and len(words) <= LONGEST and words not in _EMPTY_TITLES


def _wording(words: str, opening: str) -> tuple[str, str]:
    return _WORDINGS.get(language_of(f"{words}\n{opening}"), _WORDINGS["en"])


def _asks(text: str) -> bool:
    return text.rstrip().endswith(_ASKING_ENDS)
