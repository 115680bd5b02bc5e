"""Passages that say the same in several notes: told once, with where else they stand.

Texts are the same when their words are, in one order, under the same headings: blanks, case,
kinds of quotes and the marks at the end of words do not count, and nothing else is passed
over. One word, number or sign may be all that matters: a version, a date, a "not".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import PurePosixPath

from retrieval.core.types import Candidate

# A shorter text says little: what its note is about stands in the title, which must be the
# same then. "To be written." is no copy of another "To be written.".
_SAYS_ENOUGH = 40
_BULLET = re.compile(r"^[ \t]*[*+-](?=[ \t])", re.MULTILINE)
_QUOTES = "\"'“”„‟«»‹›‘’‚‛"
_BEFORE = _QUOTES + "("
_AFTER = _QUOTES + ").,;:…。、，；："
_DASHES = str.maketrans({"–": "-", "—": "-", "−": "-", "‑": "-", "’": "'"})
_WORD = re.compile(r"\w+")
_NO_LETTER = re.compile(r"[\W_]")
# Folders for what is over, as people name them.
_PUT_AWAY = re.compile(
    r"archi(?:ves?|v|vio|vo)|backups?|old|alt|attic|\.?trash|papierkorb|архив|архів|corbeille|归档|备份"
)


def what_is_said(content: str, *, title: str, heading_path: Sequence[str]) -> str:
    """A text that is equal for two passages exactly when they say the same; "" for one that
    says nothing. The title of its note counts for a short passage alone."""
    text = _BULLET.sub("-", unicodedata.normalize("NFC", content)).translate(_DASHES)
    words = (word.lstrip(_BEFORE).rstrip(_AFTER) for word in text.casefold().split())
    said = " ".join(filter(None, words))
    if not said:
        return ""
    name = title.casefold()
    folded = [heading.casefold() for heading in heading_path]
    below = folded[1:] if folded[:1] == [name] else folded
    above = [name] if len(said) < _SAYS_ENOUGH else []
    return "\n".join([*above, *below, said])


@dataclass(frozen=True, slots=True)
class Telling:
    """A candidate, what its passage says (`what_is_said`), and its note."""

    candidate: Candidate
    said: str
    title: str
    path: str
    modified: datetime
    is_outdated: bool = False

    @property
    def note_id(self) -> int:
        return self.candidate.note_id


@dataclass(frozen=True, slots=True)
class Family:
    """A passage, and the other notes that say the same, whoever would lead next first.

    `best`: of all of them the candidate that was found first, with their best places.
    """

    lead: Telling
    best: Candidate
    others: tuple[Telling, ...] = ()

    @property
    def candidate(self) -> Candidate:
        """The passage that leads, with the places and the score that brought it where it is."""
        own = self.lead.candidate
        return replace(self.best, chunk_id=own.chunk_id, note_id=own.note_id)


def families(tellings: Iterable[Telling], *, asked: Sequence[str]) -> list[Family]:
    """Every passage once, in the place of its best candidate, each note once in a family.

    It is led by the note that the query names, then by one that still holds, that is not named
    after another ("Pump (conflicted copy)", "Copy of Pump" beside "Pump") nor put away in a
    folder such as Archive, whose path has more of the words `asked`, that changed last, that
    came first. Notes that the query names by different titles are no copies: both were asked
    for.
    """
    words = {word.casefold() for word in asked}
    groups: dict[object, list[Telling]] = {}
    for place, telling in enumerate(tellings):
        members = groups.setdefault(telling.said or place, [])
        if all(member.note_id != telling.note_id for member in members):
            members.append(telling)
    parts = [part for members in groups.values() for part in _by_name(members)]
    return [_family(part, words) for part in parts]


def one_a_note(found: Sequence[Family]) -> list[Family]:
    """The families that tell something new, best first, led by a different note each.

    Every note of `found` leads one or is among its `others`, and leads one when it alone says
    something.
    """
    leading: set[int] = set()
    known: set[int] = set()
    kept: list[Family] = []
    for family in found:
        members = [family.lead, *family.others]
        notes = {member.note_id for member in members}
        is_told = bool(notes & leading)
        fresh = [m for m in members if m.note_id not in known] if is_told else members
        known |= notes
        if fresh:
            lead = fresh[0]
            leading.add(lead.note_id)
            others = tuple(member for member in members if member is not lead)
            kept.append(Family(lead, family.best, others))
    return kept


def _by_name(members: list[Telling]) -> list[list[Telling]]:
    """`members`, apart where the query names notes by several titles; the others go with the
    first of those."""
    named = list(dict.fromkeys(m.title.casefold() for m in members if m.candidate.exact))
    if len(named) < 2:
        return [members]
    parts: dict[str, list[Telling]] = {title: [] for title in named}
    for member in members:
        title = member.title.casefold() if member.candidate.exact else named[0]
        parts[title].append(member)
    return list(parts.values())


def _family(members: Sequence[Telling], words: set[str]) -> Family:
    names = frozenset(_name(member.path) for member in members)

    def place(telling: Telling) -> tuple[bool, bool, bool, int, float, int]:
        named = words & set(_WORD.findall(telling.path.casefold()))
        return (
            not telling.candidate.exact,
            telling.is_outdated,
            _is_put_away(telling.path) or _is_named_after(_name(telling.path), names),
            -len(named),
            -telling.modified.timestamp(),
            telling.note_id,
        )

    lead, *others = sorted(members, key=place)
    best = replace(
        members[0].candidate,
        lexical_rank=_least(member.candidate.lexical_rank for member in members),
        vector_rank=_least(member.candidate.vector_rank for member in members),
    )
    return Family(lead, best, tuple(others))


def _least(ranks: Iterable[int | None]) -> int | None:
    return min((rank for rank in ranks if rank is not None), default=None)


def _name(path: str) -> str:
    return PurePosixPath(path).stem


def _is_named_after(name: str, others: frozenset[str]) -> bool:
    """Whether `name` is one of `others` and more before or behind it, in any language:
    "Pump (Kopie)", "Pump 1", "Pump.sync-conflict", "Copy of Pump"."""
    return any(
        (name[:place] in others and _NO_LETTER.match(name[place]))
        or (name[place:] in others and _NO_LETTER.match(name[place - 1]))
        for place in range(1, len(name))
    )


def _is_put_away(path: str) -> bool:
    return any(_PUT_AWAY.fullmatch(folder) for folder in path.casefold().split("/")[:-1])
