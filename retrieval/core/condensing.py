"""From a conversation to a question that stands alone: the prompt, and reading the reply."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from providers.core.language import language_of
from providers.core.types import ChatMessage

# A query, two alternates and their JSON fit easily; a model that rambles is cut off.
REPLY_TOKENS = 200
MOST_ALTERNATES = 2
LONGEST_REWRITE = 400
# Turns of history shown to the model, and characters of each: the call stays small.
_HISTORY_TURNS = 6
_TURN_LENGTH = 600
# "Short" in the rule without a model: measured on 154 follow-up turns (mtrag-mini), the
# previous question helps below five words or with a pronoun, and hurts otherwise.
_SHORT = 5

_WORD = re.compile(r"\w+")
_OBJECT = re.compile(r"\{[^{}]*\}")
_REFUSAL = re.compile(
    r"^\W*(i('m| am)? (cannot|can't|sorry|unable)|as an ai|sorry\b)", re.IGNORECASE
)
# Words that point back: they have no meaning without the turn before. By language, since
# German "es" is Spanish for "is"; words that are more often something else ("that", German
# "das", French "ce") are left out.
_POINTING = {
    language: frozenset(words.split())
    for language, words in {
        "en": "it its they them their theirs he him his she her hers this these those one ones "
        "former latter",
        "ru": "он она оно они его её ее их ему ей им этот эта это эти",
        "uk": "він вона воно вони його її їх йому їй цей ця це ці",
        "de": "er sie es ihn ihm ihnen dies diese dieser dieses",
        "fr": "elle ils elles lui cela ça celui celle",
        "es": "él ella ellos ellas eso esa ese",
    }.items()
}
# A message that begins so goes on from the one before, also where it names something: it
# corrects it, asks the same of something else, or says for whom ("I'm on Windows").
_OPENINGS = """
    no, i meant, i mean, what about, how about, and, but, i am in, i am on, i am from, i am using,
    i m in, i m on, i m from, i m using, we are in, we are on, we are using, we re in, we re on,
    we re using, nein, ich meinte, ich meine, was ist mit, und, aber, ich bin in, ich bin auf,
    wir sind in, non, je voulais dire, et, mais, je suis en, je suis à, je suis sur, quise decir,
    qué hay de, y, pero, estoy en, нет, я имел в виду, я имела в виду, как насчет, а, и, но,
    я в, я на, ні, я мав на увазі, я мала на увазі, як щодо, і, але
"""
_GOES_ON = tuple(f"{opening.strip()} " for opening in _OPENINGS.split(","))
# A question of more words than this is specific.
_BROAD = 9
# In a message longer than this a pronoun mostly means something in the message itself.
_LONG = 12
# Small talk asks for nothing: "thanks" after an answer is no follow-up question.
_COURTESY_WORDS = """
    thanks thank you ok okay great perfect cool nice bye hello hi hey yes no
    спасибо привет дякую danke merci gracias
"""
_COURTESY = frozenset(_COURTESY_WORDS.split())

SYSTEM_PROMPT = (
    "You turn the last message of a conversation into a search query for a note archive. "
    "Resolve pronouns and ellipsis from the conversation. Keep names, numbers and "
    "identifiers exactly. Write in the language of the last message. If the last message "
    "starts a new subject, repeat it unchanged. Do not answer it. Reply with JSON alone: "
    '{"query": "...", "alternates": ["...", "..."]} where alternates are at most two other '
    "wordings, or an empty list."
)
WORDINGS_PROMPT = (
    "You help to search a note archive. The message is a question or a few words. Give up to "
    "two other wordings that notes which answer it may use: synonyms, the term of art, the "
    "plain word. Write in the language of the message, add no fact, and do not answer it. "
    'Reply with JSON alone: {"query": "the message unchanged", "alternates": ["...", "..."]}, '
    "with an empty list where nothing else would be said."
)


@dataclass(frozen=True, slots=True)
class Condensed:
    """What will be searched. `notice` says what went otherwise than planned."""

    query: str
    alternates: tuple[str, ...] = ()
    notice: str = ""

    @property
    def queries(self) -> tuple[str, ...]:
        return (self.query, *self.alternates)


def condense_prompt(question: str, history: Sequence[ChatMessage]) -> str:
    """The one user message of the condense call."""
    turns = [
        f"{message.role}: {message.content[:_TURN_LENGTH]}" for message in history[-_HISTORY_TURNS:]
    ]
    return "\n".join(("Conversation:", *turns, "", f"Last message: {question}"))


def read_reply(reply: str, *, alternates: bool) -> Condensed | None:
    """What a model replied, or None when it is no use: no JSON, a refusal, an essay.

    Alternates are taken for a broad query alone.

    Text around the JSON is tolerated, more than two alternates are cut. The last usable
    object counts: a model that thinks aloud drafts before it decides.
    """
    for found in reversed(_OBJECT.findall(reply)):
        try:
            value = json.loads(found)
        except ValueError:
            continue
        condensed = _from_json(value, alternates=alternates)
        if condensed is not None:
            return condensed
    return None


def other_wordings(question: str, reply: str) -> Condensed:
    """`question` as it was asked, with the wordings of a model's reply beside it.

    A reply that is no use adds nothing: the question stands alone already.
    """
    read = read_reply(reply, alternates=True)
    others = read.alternates if read is not None and is_broad(question) else ()
    same = question.casefold()
    return Condensed(question, tuple(other for other in others if other.casefold() != same))


def stand_alone(question: str, history: Sequence[ChatMessage]) -> Condensed:
    """Without a model: the previous question is put in front where the message needs it.

    That is when it is short or has a word that points back; never for thanks, and never
    for a message that names something by itself. The message alone is searched beside it:
    what both find is about the one and answers the other. Where a message goes on from the
    previous one and names something, it comes first, and both together stand beside it.
    """
    previous = next((m.content for m in reversed(history) if m.role == "user"), "")
    together = f"{previous[:_TURN_LENGTH]} {question}"
    if previous and _leans_on_history(question):
        queries = (together, question)
    elif previous and _goes_on(question):
        queries = (question, together)
    else:
        return Condensed(question)
    return Condensed(
        queries[0],
        queries[1:],
        notice="The previous question was added to the search: the message is short or "
        "points back to it.",
    )


def _leans_on_history(question: str) -> bool:
    words = _WORD.findall(question)
    lowered = [word.casefold() for word in words]
    if not words or all(word in _COURTESY for word in lowered):
        return False
    if len(words) <= _LONG and _points_back(words, language_of(question)):
        return True
    return len(words) < _SHORT and not _names_something(words)


def _goes_on(question: str) -> bool:
    words = _WORD.findall(question.casefold())
    is_courtesy = _COURTESY.issuperset(words)
    return len(words) <= _LONG and not is_courtesy and " ".join(words).startswith(_GOES_ON)


def _points_back(words: Sequence[str], language: str) -> bool:
    pointing = _POINTING.get(language, frozenset())
    return any(
        word.casefold() in pointing
        # German "Sie" within a sentence is the reader.
        and not (language == "de" and number > 0 and word == "Sie")
        for number, word in enumerate(words)
    )


def is_broad(question: str) -> bool:
    """Whether other wordings may find what this one does not: few words, and none of them a
    name, a number or quoted. A question that says exactly what it means is searched alone."""
    words = _WORD.findall(question)
    has_quotes = any(sign in question for sign in '"“”„«»`')
    return 0 < len(words) <= _BROAD and not has_quotes and not _names_something(words)


def _names_something(words: Sequence[str]) -> bool:
    """Identifiers, numbers and names stand alone however short the message is."""
    return any(
        any(letter.isdigit() for letter in word) or (len(word) > 1 and word.isupper())
        for word in words
    ) or any(word[0].isupper() for word in words[1:])


def _from_json(value: dict[str, object], *, alternates: bool) -> Condensed | None:
    query = _usable(value.get("query"))
    if query is None:
        return None
    others = value.get("alternates")
    listed = others if alternates and is_broad(query) and isinstance(others, list) else []
    usable = (wording for wording in map(_usable, listed) if wording is not None)
    distinct = dict.fromkeys(
        wording for wording in usable if wording.casefold() not in (query.casefold(), "")
    )
    return Condensed(query, tuple(distinct)[:MOST_ALTERNATES])


def _usable(text: object) -> str | None:
    if not isinstance(text, str):
        return None
    squeezed = " ".join(text.split())
    if not _WORD.search(squeezed) or len(squeezed) > LONGEST_REWRITE or _REFUSAL.match(squeezed):
        return None
    return squeezed
