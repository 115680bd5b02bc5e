"""Search in one's own messages: by words, by any part of one, and past a slip of the pen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID

from django.contrib.auth.models import User
from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.functions import Left

from chat.core.excerpts import Excerpt, excerpt
from chat.models import Conversation, Message
from chat.models.conversations import LONGEST_SEARCHED
from chat.rights import lost_answers

MOST_HITS = 50
LONGEST_QUERY = 200
MOST_WORDS = 12
# A slip is looked for in words of this length: shorter ones are like too many others.
SHORTEST_MISTYPED = 4
# The likeness of a word to a long message takes 0.3 ms: half a second for so many.
MOST_LOOKED_PAST = 1_500
# Two letters in the wrong order leave a word of eight 0.38 of its trigrams.
NEAR = 0.35
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Hit:
    """A message that has what was looked for; without one it is the conversation's title."""

    conversation: Conversation
    message: UUID | None
    excerpt: Excerpt


def find_messages(user: User, wanted: str) -> list[Hit]:
    """Where `wanted` stands in the user's titles and messages, newest conversation first.

    Temporary and deleted conversations are left out, and answers that may not be read now:
    these must not be guessed letter by letter either.
    """
    text = " ".join(wanted.replace("\x00", "").split())[:LONGEST_QUERY]
    words = [word.casefold() for word in _WORD.findall(text)][:MOST_WORDS]
    if not text:
        return []
    mine = Conversation.objects.owned_by(user).listed()
    titled = mine.filter(title__icontains=text)[:MOST_HITS]
    said = Message.objects.filter(conversation__in=mine).exclude(pk__in=lost_answers(user))
    found = _with_words(said, words)
    if len(found) < MOST_HITS:
        known = [message.pk for message in found]
        found += _newest(said.filter(text__icontains=text).exclude(pk__in=known))
    if not found and not titled and max(map(len, words), default=0) >= SHORTEST_MISTYPED:
        found = _like(said, text)
    hits = [Hit(m.conversation, m.pk, excerpt(m.text, words)) for m in found]
    shown = {hit.conversation.pk for hit in hits}
    hits += [Hit(each, None, excerpt("", words)) for each in titled if each.pk not in shown]
    return sorted(hits, key=lambda hit: hit.conversation.updated, reverse=True)[:MOST_HITS]


def _with_words(said: QuerySet[Message], words: list[str]) -> list[Message]:
    """Every word stands in them, the last ones perhaps not typed to the end."""
    if not words:
        return []
    query = SearchQuery(
        " & ".join(f"'{word}':*" for word in words), search_type="raw", config="simple"
    )
    vector = SearchVector(Left("text", LONGEST_SEARCHED), config="simple")
    return _newest(said.annotate(words=vector).filter(words=query))


def _like(said: QuerySet[Message], text: str) -> list[Message]:
    """Late messages with a word like it, by trigrams; none where the server has none."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'pg_trgm'")
        if not cursor.fetchone():
            return []
        cursor.execute(f"SET LOCAL pg_trgm.word_similarity_threshold = {NEAR}")
        late = list(said.order_by("-created").values_list("pk", flat=True)[:MOST_LOOKED_PAST])
        return _newest(said.filter(pk__in=late, text__trigram_word_similar=text))


def _newest(said: QuerySet[Message]) -> list[Message]:
    return list(said.select_related("conversation").order_by("-created")[:MOST_HITS])
