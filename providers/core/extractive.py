"""An answer without a model: the sentences of the passages that fit the question best."""

from __future__ import annotations

import re
from collections.abc import Sequence

from providers.core.quotes import Candidate, pick_quotes
from providers.core.sentences import first_sentence, plain
from providers.core.types import Grounding

__all__ = ["compose_answer", "first_sentence"]

# The reader may have chosen quotes although there are models: nothing is said about those.
INTRODUCTION = (
    "These are the notes’ own words that fit the question best, without a language model."
)
NOTHING_FOUND = (
    "I found nothing in the notes that answers this. (Without a language model, only sentences "
    "that are close to the question can be quoted.)"
)


def compose_answer(grounding: Grounding, candidates: Sequence[Candidate]) -> str:
    """Markdown: one honest line, then the quotes by note, each with its `[n]`.

    `candidates` are sentences of the passages, the best first.
    """
    quotes = pick_quotes(grounding, candidates)
    if not quotes:
        return NOTHING_FOUND
    lines = [INTRODUCTION]
    title: str | None = None
    for quote in quotes:
        if quote.passage.title != title:
            title = quote.passage.title
            lines.append(f"\n**{_escaped(plain(title))}**\n")
        lines.append(f"- {quote.text} [{quote.passage.number}]")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>])", r"\\\1", text)
