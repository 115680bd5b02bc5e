"""Marks for an answer that came without any: each sentence is matched with the passages.

No model is asked. A mark is added only where most of a sentence's words, and all of its
figures, stand in one passage; what is less certain stays unmarked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from chat.core.citations import Citation, Quotable, find_quote, sentence_spans, share_of, undecided
from chat.core.marks import fence_after
from chat.core.rendering import render_answer

# Of a sentence's words, by weight. Higher than for the model's own marks: nobody claimed it.
ADDED_FROM = 0.6
FEWEST_WORDS = 4
_NO_PROSE = re.compile(r"^(?:\s*$| {4}|\t|\s*(?:[#|<>]|`{3}|~{3}|\$\$|\\\[))")
_PAIRS = ("`", "$", "**")
_BRACKETS = (("[", "]"), ("(", ")"))


def add_marks(text: str, passages: Sequence[Quotable]) -> str:
    """`text` with marks after the sentences that a passage bears out; itself when none does."""
    lines, fence, added = [], "", 0
    for line in text.split("\n"):
        is_inside, fence = fence, fence_after(line, fence)
        if not (is_inside or fence or _NO_PROSE.match(line)):
            line, count = _mark_line(line, passages)  # noqa: PLW2901
            added += count
        lines.append(line)
    marked = "\n".join(lines)
    # Every mark must be one to the reader too: none may have fallen into code or a link.
    shown = len(render_answer(marked, passages).citations)
    return marked if added and shown == added else text


def bears_out(text: str, citations: Sequence[Citation], passages: Sequence[Quotable]) -> bool:
    """Whether a passage bears out something of `text`: by one of its citations, or, where it
    has none, by a sentence that could be given one."""
    if citations:
        return any(not citation.quote.weak for citation in citations)
    return add_marks(text, passages) != text


def best_passage(sentence: str, passages: Sequence[Quotable]) -> Quotable | None:
    """The passage that bears `sentence` out beyond doubt, or None."""
    if len(sentence.split()) < FEWEST_WORDS:
        return None
    best = max(passages, key=lambda passage: share_of(sentence, passage), default=None)
    if best is None or share_of(sentence, best) < ADDED_FROM:
        return None
    is_doubtful = find_quote(best, sentence).weak or undecided(best, sentence) == "swap"
    return None if is_doubtful else best


def _mark_line(line: str, passages: Sequence[Quotable]) -> tuple[str, int]:
    added = 0
    for start, end in reversed(sentence_spans(line)):
        sentence = line[start:end]
        found = best_passage(sentence, passages) if _is_whole(sentence) else None
        if found is not None:
            line = f"{line[:end]} [{found.number}]{line[end:]}"
            added += 1
    return line, added


def _is_whole(sentence: str) -> bool:
    """Whether no code, formula, emphasis or link begins in it and ends elsewhere."""
    pairs = all(sentence.count(mark) % 2 == 0 for mark in _PAIRS)
    return pairs and all(sentence.count(a) == sentence.count(b) for a, b in _BRACKETS)
