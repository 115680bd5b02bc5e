"""Questions that could follow an answer."""

from __future__ import annotations

from collections.abc import Iterable

import regex

MOST_OFFERED = 3
LONGEST = 140  # characters
FOLLOW_UPS_PROMPT = (
    "You are given a question and the answer that notes gave to it. Write three short "
    "questions that its reader may want to ask next and that the same notes are likely to "
    "answer. Write in the language of the question, one question on a line, nothing else."
)
_MARK = regex.compile(r"^\s*(?:[-*•]|\d+[.)])\s*")


def follow_ups_from_model(output: str, *, question: str) -> tuple[str, ...]:
    """The questions in a model's output, at most MOST_OFFERED; lines that are none are left."""
    lines = (_MARK.sub("", line).strip().strip('"“”*_') for line in output.splitlines())
    asked = [line for line in lines if line.endswith(("?", "？", "؟")) and len(line) <= LONGEST]
    return _fresh(asked, question)


def follow_ups_from_notes(
    notes: Iterable[tuple[str, list[str]]], *, question: str, told: set[str]
) -> tuple[str, ...]:
    """Headings of the notes that were read and that the answer does not rest on, as questions.

    `notes` are (title, headings); `told` are the headings whose passages were read.
    """
    found: list[str] = []
    for title, headings in notes:
        beside = [text for text in headings if text not in told and text != title]
        found += [_asking(title, text) for text in beside if 3 <= len(text) <= 70][:2]
    return _fresh(found, question)


def _asking(title: str, heading: str) -> str:
    return heading if heading.endswith("?") else f"{title}: {heading}?"


def _fresh(questions: Iterable[str], question: str) -> tuple[str, ...]:
    once = {each.casefold(): each for each in questions}
    once.pop(question.strip().casefold(), None)
    return tuple(once.values())[:MOST_OFFERED]
