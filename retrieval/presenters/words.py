"""Plain words for what a search reports in terms of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from retrieval.core.standing import outdated_by
from retrieval.core.types import Arm, Candidate

_LONGEST_VALUE = 80


@dataclass(frozen=True, slots=True)
class ShownArm:
    """What an arm did, and why not, in words."""

    name: str
    text: str
    reason: str
    ran: bool


def outdated_words(properties: Mapping[str, Any]) -> str:
    """That a note no longer holds, by what it says of itself; "" while it does."""
    name, value = outdated_by(properties, today=timezone.localdate())
    if name == "superseded_by":
        return _("Superseded by %(note)s") % {"note": value[:_LONGEST_VALUE]}
    if name == "valid_until":
        return _("Valid until %(day)s") % {"day": value}
    return _("Status: %(status)s") % {"status": value} if name else ""


def arm_words(name: str) -> str:
    """What an arm is called on pages."""
    names = {
        "keyword": _("Keywords"),
        "meaning": _("Meaning"),
        "title": _("Names"),
        "text": _("Text as typed"),
        "days": _("Days"),
        "filter": _("Filters"),
        "rerank": _("Reranker"),
        "code": _("Code"),
        "note": _("Whole notes"),
    }
    return names.get(name, name.capitalize())


def path_words(path: str) -> str:
    """How an arm went about it; the name of a reranker stays what it is."""
    ways = {
        "bm25": _("ranked by how rare the words are"),
        "exact": _("every passage compared"),
        "hnsw": _("by the vector index"),
        "exact in memory": _("every passage compared, in memory"),
        "signs": _("by the signs of their vectors"),
        "lookup keys": _("titles, aliases, file names and paths"),
        "substring": _("read letter by letter"),
        "newest first": _("newest first"),
    }
    return ways.get(path, path)


def arm_sentence(arm: Arm) -> str:
    """What an arm did, in a line: "12 passages, by the vector index"."""
    if not arm.ran:
        return _("not used")
    if arm.name in {"title", "text", "filter", "note"}:
        count = ngettext("%d note", "%d notes", arm.found) % arm.found
    else:
        count = ngettext("%d passage", "%d passages", arm.found) % arm.found
    return f"{count}, {path_words(arm.path)}" if arm.path else count


def shown_arms(arms: tuple[Arm, ...]) -> tuple[ShownArm, ...]:
    """Arms in plain words."""
    return tuple(
        ShownArm(arm_words(arm.name), arm_sentence(arm), arm.reason, arm.ran) for arm in arms
    )


def found_by(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Labels of a hit ("keyword 1", "meaning 3", "title") as a reader understands them."""
    alone = {"title": _("by name"), "text": _("by text as typed"), "days": _("by its day")}
    shown = []
    for label in labels:
        name, _space, rank = label.partition(" ")
        if rank and not rank.isdigit():
            shown.append(label)  # a sentence: "linked from [2]"
        else:
            shown.append(_ranked(name, rank) if rank else alone.get(name, arm_words(name)))
    return tuple(shown)


def _ranked(name: str, rank: str) -> str:
    return _("%(arm)s: place %(rank)s") % {"arm": arm_words(name), "rank": rank}


def stage_words(name: str) -> str:
    """A stage of a search, as the list of timings calls it."""
    stages = {
        "condense": _("Question"),
        "embed": _("Question to vector"),
        "search": _("Database"),
        "rerank": _("Reranker"),
        "expand": _("Neighbours and budget"),
        "total": _("All"),
    }
    return stages.get(name, name.capitalize())


def is_named(candidate: Candidate) -> str:
    """The note-level signal of a candidate, in a word."""
    if candidate.exact:
        return _("named by the question")
    return _("holds the text as typed") if candidate.in_text else ""
