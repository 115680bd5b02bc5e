"""Questions that could follow an answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import regex

from chat.core.questions import question_on

MOST_OFFERED = 3
MOST_OF_A_NOTE = 2
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


@dataclass(frozen=True, slots=True)
class ReadNote:
    """A note that an answer rests on; `opening` is the beginning of its text."""

    title: str
    headings: tuple[str, ...]
    opening: str = ""


def follow_ups_from_notes(
    notes: Iterable[ReadNote], *, question: str, told: set[str]
) -> tuple[str, ...]:
    """Headings of the notes that were read and that the answer does not rest on, as questions.

    `told` are the headings whose passages were read.
    """
    found: list[str] = []
    for note in notes:
        beside = [text for text in note.headings if text not in told and text != note.title]
        beside.sort(key=lambda text: len(text.split()) == 1)  # one word says least
        asked = [question_on(note.title, text, opening=note.opening) for text in beside]
        found += list(filter(None, asked))[:MOST_OF_A_NOTE]
    return _fresh(found, question)


def _fresh(questions: Iterable[str], question: str) -> tuple[str, ...]:
    once = {each.casefold(): each for each in questions}
    once.pop(question.strip().casefold(), None)
    return tuple(once.values())[:MOST_OFFERED]
