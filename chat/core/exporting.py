"""A conversation as a file: JSON with a version, and Markdown with its sources as footnotes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from chat.core.marks import find_markers, split_prose

FORMAT = "secondbrain.conversations"
# Raise it when a reader of the old one would misread the new one.
VERSION = 1
LONGEST_NAME = 60
_UNSAFE = re.compile(r"[^\w\-. ]+")
_HEADING = re.compile(r"^(#{1,4})(?=\s)")


def envelope(conversations: Sequence[Mapping[str, Any]], *, exported: str) -> dict[str, Any]:
    """What stands around conversations in a JSON file."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "exported": exported,
        "conversations": list(conversations),
    }


def as_markdown(conversation: Mapping[str, Any]) -> str:
    """The branch that is shown: questions as headings, sources as footnotes at the end."""
    lines = [f"# {_one_line(conversation['title'])}", "", f"*{conversation['updated'][:10]}*", ""]
    notes: list[str] = []
    nth = 0
    for message in conversation["messages"]:
        if not message["active"]:
            continue
        if message["role"] == "user":
            lines += ["## " + "\n> ".join(message["text"].strip().splitlines() or [""]), ""]
            continue
        nth += 1
        lines += [_answer(message, nth), ""]
        notes += [_footnote(source, nth) for source in message["sources"] if source["cited"]]
    if notes:
        lines += ["", *notes]
    return "\n".join(lines).rstrip() + "\n"


def file_name(title: str, *, ending: str) -> str:
    """A name that every file system takes, made of a title."""
    plain = _UNSAFE.sub(" ", unicodedata.normalize("NFC", title))
    stem = " ".join(plain.split()).strip(". ")[:LONGEST_NAME].strip(". ")
    return f"{stem or 'conversation'}.{ending}"


def _answer(message: Mapping[str, Any], nth: int) -> str:
    """The answer's text with footnote marks; its headings stand below the question's."""
    if message["withheld"]:
        return "*This answer rests on a vault its reader may not read; it is not in this file.*"
    numbers = {source["number"] for source in message["sources"]}
    text = ""
    for piece, is_prose in split_prose(message["text"].strip()):
        shown = _with_footnotes(piece, numbers, nth) if is_prose else piece
        begins_line = is_prose and text[-1:] in {"", "\n"}
        text += _HEADING.sub(r"##\1", shown) if begins_line else shown
    if message["status"] != "done":
        text += f"\n\n*({message['status']})*"
    return "\n\n".join(filter(None, (_steps(message), text.strip())))


def _steps(message: Mapping[str, Any]) -> str:
    """The further searches of an answer, one line each."""
    return "\n".join(
        f"- *{step['tool']}: {_one_line(step['what'])} ({step['state']})*"
        for step in message.get("steps", ())
    )


def _with_footnotes(text: str, numbers: set[int], nth: int) -> str:
    made, at = "", 0
    for marker in find_markers(text, exists=numbers.__contains__):
        made += text[at : marker.start]
        made += "".join(f"[^{nth}-{number}]" for number in marker.numbers)
        at = marker.end
    return made + text[at:]


def _footnote(source: Mapping[str, Any], nth: int) -> str:
    where = " > ".join([source["title"], *source["heading_path"]])
    quote = _one_line(source["text"])
    shown = quote if len(quote) <= 300 else quote[:300].rstrip() + "…"
    return f"[^{nth}-{source['number']}]: {where} ({source['vault']}/{source['path']}): {shown}"


def _one_line(text: str) -> str:
    return " ".join(text.split())
