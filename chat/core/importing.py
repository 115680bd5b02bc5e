"""A file of conversations, checked to the last field before any of it is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from chat.core.asking import MODES, TOOL_USES, BadAsk, clean_text
from chat.core.exporting import FORMAT, VERSION
from chat.core.moments import moment_in

MOST_CONVERSATIONS = 20_000
MOST_MESSAGES = 5_000
MOST_SOURCES = 200
LONGEST_TEXT = 500_000
LONGEST_LABEL = 200
# An answer may name more calls than it was allowed: those that were refused.
MOST_STEPS_KEPT = 1_000
LONGEST_STEP = 1_000
STEP_STATES = ("done", "refused", "failed", "interrupted")
STATUSES = ("done", "stopped", "interrupted", "failed")


class BadFile(BadAsk):
    """The file cannot be read: says where, and what should stand there."""


@dataclass(frozen=True, slots=True)
class ImportedSource:
    number: int
    vault: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ImportedStep:
    """A further search of an answer."""

    tool: str
    what: str
    why: str
    state: str
    said: str
    found: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    """Parents stand before their children, and questions and answers take turns."""

    id: UUID
    parent: UUID | None
    role: str
    text: str
    status: str
    mode: str
    model: str
    persona: str
    withheld: bool
    told: tuple[UUID, ...]
    created: datetime | None
    sources: tuple[ImportedSource, ...]
    tool_use: str
    steps: tuple[ImportedStep, ...]


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    id: UUID
    title: str
    folder: str
    pinned: bool
    archived: bool
    vaults: tuple[str, ...] | None
    leaf: UUID | None
    updated: datetime | None
    messages: tuple[ImportedMessage, ...]


def parse_file(data: object, *, now: datetime) -> tuple[ImportedConversation, ...]:
    """The conversations of a file, said before `now`. Raises BadFile with the wrong place."""
    at = _Place(data, "the file", now)
    if at.get("format") != FORMAT:
        raise BadFile(
            f"This is no file of conversations: its “format” is not “{FORMAT}”. Choose a file "
            "that was exported here, as JSON or as the zip of everything."
        )
    version = at.number("version", most=10**6)
    if version > VERSION:
        raise BadFile(
            f"This file has version {version}, and this server reads up to {VERSION}. Update "
            "the server, then import it again."
        )
    return tuple(_conversation(each) for each in at.places("conversations", MOST_CONVERSATIONS))


@dataclass(frozen=True, slots=True)
class _Place:
    """A value in the file, and how to name it to whoever has to mend it."""

    value: object
    name: str
    now: datetime

    def get(self, key: str) -> object:
        if not isinstance(self.value, Mapping):
            raise BadFile(f"{self.name} must be a JSON object.")
        return self.value.get(key)

    def wrong(self, key: str, should: str) -> BadFile:
        return BadFile(f"{self.name}, “{key}”: {should}.")

    def text(self, key: str, *, most: int = LONGEST_LABEL) -> str:
        value = self.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.wrong(key, "must be a text")
        if len(value) > most:
            raise self.wrong(key, f"has more than {most:,} characters")
        return clean_text(value)

    def number(self, key: str, *, most: int = 2**31 - 1) -> int:
        value = self.get(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise self.wrong(key, f"must be a whole number from 0 to {most:,}")
        return value

    def flag(self, key: str) -> bool:
        value = self.get(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "must be true or false")
        return bool(value)

    def uuid(self, key: str) -> UUID | None:
        value = self.get(key)
        if value is None:
            return None
        try:
            return UUID(value) if isinstance(value, str) else _no_uuid()
        except ValueError as error:
            raise self.wrong(key, "must be a UUID") from error

    def id(self) -> UUID:
        found = self.uuid("id")
        if found is None:
            raise self.wrong("id", "is missing")
        return found

    def moment(self, key: str) -> datetime | None:
        value = self.text(key, most=40)
        if not value:
            return None
        try:
            return moment_in(value, now=self.now)
        except ValueError as error:
            raise self.wrong(key, str(error)) from error

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in allowed:
            raise self.wrong(key, f"must be one of {', '.join(allowed)}")
        return value

    def places(self, key: str, most: int) -> list[_Place]:
        value = self.get(key)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.wrong(key, "must be a list")
        if len(value) > most:
            raise self.wrong(key, f"has more than {most:,} entries")
        start = "" if self.name == "the file" else f"{self.name}."
        return [_Place(each, f"{start}{key}[{nth}]", self.now) for nth, each in enumerate(value)]

    def texts(self, key: str, most: int) -> tuple[str, ...]:
        places = self.places(key, most)
        if not all(isinstance(place.value, str) for place in places):
            raise self.wrong(key, "must be a list of texts")
        return tuple(clean_text(str(place.value))[:LONGEST_LABEL] for place in places)


def _no_uuid() -> UUID:
    raise ValueError


def _conversation(at: _Place) -> ImportedConversation:
    messages: list[ImportedMessage] = []
    roles: dict[UUID | None, str] = {None: "assistant"}
    for place in at.places("messages", MOST_MESSAGES):
        message = _message(place, roles)
        roles[message.id] = message.role
        messages.append(message)
    return ImportedConversation(
        id=at.id(),
        title=" ".join(at.text("title").split()),
        folder=at.text("folder", most=80),
        pinned=at.flag("pinned"),
        archived=at.flag("archived"),
        vaults=at.texts("vaults", 500) if at.get("vaults") is not None else None,
        leaf=at.uuid("leaf"),
        updated=at.moment("updated"),
        messages=tuple(messages),
    )


def _message(at: _Place, roles: Mapping[UUID | None, str]) -> ImportedMessage:
    role, own_id, parent = at.one_of("role", ("user", "assistant")), at.id(), at.uuid("parent")
    if own_id in roles:
        raise at.wrong("id", "stands twice in this conversation")
    if parent not in roles:
        raise at.wrong("parent", "must name a message that stands before this one")
    if roles[parent] == role:
        raise at.wrong("role", "questions and answers must follow each other")
    is_answer = role == "assistant"
    return ImportedMessage(
        id=own_id,
        parent=parent,
        role=role,
        text=at.text("text", most=LONGEST_TEXT),
        status=at.one_of("status", STATUSES) if is_answer else "done",
        mode=at.one_of("mode", MODES) if is_answer else MODES[1],
        model=at.text("model"),
        persona=at.text("persona"),
        withheld=at.flag("withheld"),
        told=_told(at, roles),
        created=at.moment("created"),
        sources=tuple(_source(each) for each in at.places("sources", MOST_SOURCES)),
        tool_use=at.one_of("tool_use", ("", *TOOL_USES)) or TOOL_USES[0],
        steps=tuple(_step(each) for each in at.places("steps", MOST_STEPS_KEPT)),
    )


def _told(at: _Place, roles: Mapping[UUID | None, str]) -> tuple[UUID, ...]:
    known = {str(message): message for message in roles if message is not None}
    told = at.texts("told", MOST_MESSAGES)
    for message in told:
        if message not in known:
            raise at.wrong("told", "must name messages that stand before this one")
    return tuple(known[message] for message in told)


def _step(at: _Place) -> ImportedStep:
    found = at.places("found", MOST_SOURCES)
    if any(isinstance(it.value, bool) or not isinstance(it.value, int) for it in found):
        raise at.wrong("found", "must be a list of whole numbers")
    return ImportedStep(
        tool=at.text("tool", most=60),
        what=at.text("what", most=LONGEST_STEP),
        why=at.text("why", most=LONGEST_STEP),
        state=at.one_of("state", STEP_STATES),
        said=at.text("said", most=LONGEST_STEP),
        found=tuple(int(str(it.value)) for it in found),
    )


def _source(at: _Place) -> ImportedSource:
    start, end = at.number("start"), at.number("end")
    if end < start:
        raise at.wrong("end", "must not be before “start”")
    return ImportedSource(
        number=at.number("number", most=32_767),
        vault=at.text("vault"),
        path=at.text("path", most=4_000),
        title=at.text("title", most=1_000),
        heading_path=at.texts("heading_path", 20),
        text=at.text("text", most=LONGEST_TEXT),
        start=start,
        end=end,
    )
