"""What agents may do: search, read one section, find similar notes, ask.

Replies are small on purpose. A search gives pointers, each with the tokens that following
it costs; a section is read alone, and a pointer that leads nowhere is an error with the
sections that are there, never the whole note. Knows nothing of the protocol.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User

from retrieval.core.standing import STANDING
from retrieval.core.types import Mode
from retrieval.forms import CHOSEN, Given, Unreadable, read_asked
from retrieval.search import search_notes
from secondbrain.mcp_arguments import ToolRefused, flag_of, names_of, number_of, text_of
from secondbrain.mcp_pointers import (
    breadcrumb,
    copies_named,
    note_of,
    pointer_to,
    pointers_of,
    section_reply,
    window_reply,
)
from vault.access import notes_at, scope_for
from vault.core.tokens import estimate_tokens
from vault.models import ApiToken
from vault.related import MOST_RELATED, related_notes
from vault.sections import section_at

DEFAULT_HITS, MOST_HITS = 5, 20
DEFAULT_SIMILAR = 5
# Arms that most searches do well without.
_ONLY_WHEN_USEFUL = ("code", "note", "text")
# Windows that one call may pass over; who reads on for longer wants the section.
MOST_STEPS = 50


@dataclass(frozen=True, slots=True)
class Agent:
    """On whose behalf tools are called: a user, by one of their tokens."""

    user_id: int
    token_id: int


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as agents are told of it. `properties` is its JSON schema's."""

    name: str
    description: str
    properties: Mapping[str, Any]
    required: tuple[str, ...]
    call: Callable[[Agent, Mapping[str, Any]], Awaitable[dict[str, Any]]]


def tools() -> dict[str, Tool]:
    """Every tool by name; `ask` only where chat is mounted."""
    offered = [_SEARCH, _GET_SECTION, _SIMILAR_NOTES]
    if "chat" in settings.MODULES:
        offered.append(_ASK)
    return {tool.name: tool for tool in offered}


async def call_tool(agent: Agent, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The reply of a tool, with its own cost in tokens. Raises ToolRefused."""
    tool = tools().get(name)
    if tool is None:
        raise ToolRefused(f"There is no tool “{name}”.", tools=list(tools()))
    unknown = sorted(set(arguments) - set(tool.properties))
    if unknown:
        raise ToolRefused(f"“{name}” takes no “{unknown[0]}”.", takes=list(tool.properties))
    return with_cost(await tool.call(agent, arguments))


def with_cost(reply: dict[str, Any]) -> dict[str, Any]:
    """`reply` with what reading it costs, in estimated tokens."""
    return {**reply, "tokens": estimate_tokens(as_text(reply))}


def as_text(reply: Mapping[str, Any]) -> str:
    """A reply as agents get it: JSON without blanks that would only cost tokens."""
    return json.dumps(reply, ensure_ascii=False, separators=(",", ":"))


async def search(agent: Agent, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Notes for a query, each with a pointer to the section that was found."""
    user = await sync_to_async(_user)(agent)
    given = Given(
        query=text_of(arguments, "query", default=""),
        mode=text_of(arguments, "mode", default=""),
        slugs=names_of(arguments, "vaults"),
        limit=number_of(arguments, "limit", default=DEFAULT_HITS, least=1, most=MOST_HITS),
        chosen={name: names_of(arguments, name) for name in CHOSEN},
    )
    try:
        asked = await sync_to_async(read_asked)(user, given)
    except Unreadable as error:
        raise ToolRefused(str(error)) from error
    found = await search_notes(asked.text, scope=asked.scope, mode=asked.mode, limit=asked.limit)
    pointers = await sync_to_async(pointers_of)(user, found.hits)
    reply: dict[str, Any] = {"results": pointers}
    if found.notices:
        reply["notices"] = list(found.notices)
    return reply


async def get_section(agent: Agent, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One section, in parts when it is long; or only the sentences around a place."""
    user = await sync_to_async(_user)(agent)
    pointer = text_of(arguments, "section")
    below, around = flag_of(arguments, "below"), flag_of(arguments, "around")
    steps = number_of(arguments, "steps", default=0, least=-MOST_STEPS, most=MOST_STEPS)
    if around:
        return await sync_to_async(window_reply)(user, pointer, steps=steps)
    if steps:
        raise ToolRefused("“steps” go from a place: set “around” to true with them.")
    part = number_of(arguments, "part", default=1, least=1, most=10_000)
    return await sync_to_async(section_reply)(user, pointer, below=below, part=part)


async def similar_notes(agent: Agent, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Notes that read like the one a pointer leads into."""
    user = await sync_to_async(_user)(agent)
    pointer = text_of(arguments, "section")
    limit = number_of(arguments, "limit", default=DEFAULT_SIMILAR, least=1, most=MOST_RELATED)
    return await sync_to_async(_similar)(user, pointer, limit)


async def ask(agent: Agent, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """An answer with its sources, from a conversation that is kept for a day."""
    from chat.core.asking import Refused, parse_ask
    from chat.core.events import EventType, said_text
    from chat.core.marks import without_invented
    from chat.rights import Caller
    from chat.runs import SignedOut, runs_here

    caller = Caller(user_id=agent.user_id, token_id=agent.token_id)
    await sync_to_async(_user)(agent)
    vaults = names_of(arguments, "vaults")
    try:
        wanted = parse_ask(
            {
                "text": text_of(arguments, "question"),
                "mode": text_of(arguments, "mode", default="") or None,
                "vaults": vaults or None,
                "temporary": True,
                # An agent searches again by itself, and has nobody here to ask.
                "tool_use": "never",
            }
        )
        turn = await runs_here().start(wanted, caller=caller)
    except (Refused, SignedOut) as error:
        raise ToolRefused(str(error) or "This token is not valid any more.") from error
    async with aclosing(runs_here().follow(turn.ids.run)) as followed:
        events = [event async for event in followed]
    last = events[-1] if events else None
    if last is None or last.type is EventType.ERROR:
        said = last.data if last else {}
        words = (said.get("text") or "There is no answer.", said.get("mend"))
        raise ToolRefused(" ".join(filter(None, words)))
    read = next((e.data for e in events if e.type is EventType.SOURCES), {})
    passages = read.get("passages", [])
    cited = {each["n"] for each in last.data.get("citations", ())}
    found = await sync_to_async(_sources)(caller.user_id, passages, cited)
    answer = without_invented(said_text(events), numbers={each["number"] for each in passages})
    return {"answer": answer, "sources": found, **_how_found(read, last.data)}


def _user(agent: Agent) -> User:
    """The user as the database knows them now. Raises ToolRefused."""
    user = get_user_model().objects.filter(pk=agent.user_id, is_active=True).first()
    tokens = ApiToken.objects.filter(pk=agent.token_id, user=user)
    if user is None or not tokens.exists():
        raise ToolRefused("You may do nothing here any more: make a new token.")
    return user


def _similar(user: User, pointer: str, limit: int) -> dict[str, Any]:
    note, _path = note_of(user, pointer)
    found = related_notes(note, scope=scope_for(user), limit=limit)
    rows = [
        {
            "section": pointer_to(row, ()),
            "breadcrumb": breadcrumb(row, ()),
            "title": row.title,
            "similarity": round(likeness, 3),
        }
        for row, likeness in found
    ]
    reply: dict[str, Any] = {"results": rows}
    if not rows:
        reply["notices"] = ["The note, or every other one, has no vector yet."]
    return reply


def _how_found(read: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """What was searched and how, what was skipped and why, and which claims are in doubt."""
    reply: dict[str, Any] = {
        "mode": read.get("mode", ""),
        "searched": read.get("searched", []),
        "queries": read.get("queries", []),
    }
    weak = {each["n"] for each in said.get("citations", ()) if each.get("weak")}
    skipped = {
        arm["name"]: arm["reason"]
        for arm in read.get("arms", ())
        if not arm["ran"] and arm["name"] not in _ONLY_WHEN_USEFUL
    }
    return reply | {
        name: value
        for name, value in (
            ("notices", read.get("notices", [])),
            ("skipped", skipped),
            ("weak", sorted(weak)),
        )
        if value
    }


def _sources(
    user_id: int, passages: Sequence[Mapping[str, Any]], cited: set[int]
) -> list[dict[str, Any]]:
    """The passages that an answer cites as pointers; all that were read when it cites none."""
    user = get_user_model().objects.get(pk=user_id)
    told = [each for each in passages if not cited or each["number"] in cited]
    notes = notes_at(user, {(each["vault"], each["path"]) for each in told})
    rows = []
    for passage in told:
        note = notes.get((passage["vault"], passage["path"]))
        if note is not None:
            path = section_at(note, int(passage["start"]))
            rows.append(
                {
                    "n": passage["number"],
                    "section": pointer_to(note, path),
                    "breadcrumb": breadcrumb(note, path),
                    "date": passage["date"],
                    **{name: passage[name] for name in STANDING if passage[name]},
                    **copies_named(
                        [
                            (copy["vault"], copy["path"], copy["outdated"])
                            for copy in passage["also_in"]
                        ]
                    ),
                }
            )
    return rows


_STRINGS = {"type": "array", "items": {"type": "string"}}
_FILTERS: dict[str, Any] = {
    "vaults": {**_STRINGS, "description": "short names of vaults; none: all you may read"},
    "folder": {**_STRINGS, "description": "only notes in this folder or below"},
    "path": {**_STRINGS, "description": "only notes whose path begins so"},
    "tag": {**_STRINGS, "description": "only notes with this tag or one nested in it"},
    "prop": {**_STRINGS, "description": "only notes with this property: name=value"},
    "kind": {**_STRINGS, "description": "note, code, canvas, attachment"},
    "after": {**_STRINGS, "description": "only notes of this day (2026-01-31) or later"},
    "before": {**_STRINGS, "description": "only notes of an earlier day"},
}
_POINTER = {
    "type": "string",
    "description": "as a search gives it: 12@120-151.3fa9 or 12#Heading > Sub",
}

_SEARCH = Tool(
    "search",
    "Search the team's notes by words and meaning. Gives the sentences that tell most, each "
    "with a pointer for get_section: with around=true a few sentences about them, else all of "
    "the section, which costs section_tokens.",
    {
        "query": {"type": "string", "description": "a question or words; may be empty"},
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_HITS},
        "mode": {"type": "string", "enum": [str(mode) for mode in Mode]},
        **_FILTERS,
    },
    ("query",),
    search,
)
_GET_SECTION = Tool(
    "get_section",
    "Read one section of a note: only that, without its subsections unless below is true. "
    "Long ones come in parts. With around=true only a few sentences about what a search "
    "found; steps=1 reads those after them, steps=-1 those before.",
    {
        "section": _POINTER,
        "around": {"type": "boolean", "description": "only the sentences about the place"},
        "steps": {"type": "integer", "minimum": -MOST_STEPS, "maximum": MOST_STEPS},
        "below": {"type": "boolean", "description": "with its subsections"},
        "part": {"type": "integer", "minimum": 1},
    },
    ("section",),
    get_section,
)
_SIMILAR_NOTES = Tool(
    "similar_notes",
    "Notes that read like the one a pointer leads into.",
    {
        "section": _POINTER,
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST_RELATED},
    },
    ("section",),
    similar_notes,
)
_ASK = Tool(
    "ask",
    "Have a question answered from the notes, with numbered sources. Slower and dearer than "
    "search: it asks the team's model.",
    {
        "question": {"type": "string"},
        "vaults": _FILTERS["vaults"],
        "mode": {"type": "string", "enum": ["notes_only", "notes_first", "no_notes"]},
    },
    ("question",),
    ask,
)
