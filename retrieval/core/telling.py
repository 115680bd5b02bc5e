"""The sentences of a passage that tell most of what was asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from math import log

from retrieval.core.snippets import terms_by_sentence
from vault.core.sentences import Span, sentence_spans
from vault.core.tokens import estimate_tokens

# One sentence of prose, or two short ones.
MOST_TOKENS = 40


def telling_span(content: str, terms: Sequence[str], *, most: int = MOST_TOKENS) -> Span:
    """Whole sentences of `content`, one after the other, that hold most of `terms`.

    A term that few of its sentences hold counts more. At most `most` tokens, but never less
    than a sentence; of equals the shortest, of those the first. The first sentence where there
    is no term; the whole of a text without sentences.
    """
    sentences = [_bare(content, span) for span in sentence_spans(content, 0, len(content))]
    sentences = [span for span in sentences if _says_something(content[slice(*span)])]
    if not sentences:
        return 0, len(content)
    held = terms_by_sentence([content[slice(*span)] for span in sentences], terms)
    if not any(held):
        return sentences[0]
    counts = Counter(term for row in held for term in row)
    weights = {term: log(1 + len(sentences) / count) for term, count in counts.items()}
    costs = [0, *accumulate(estimate_tokens(content[slice(*span)]) for span in sentences)]
    best, best_rank = (0, 0), (-1.0, 0)
    for first in range(len(sentences)):
        found: set[str] = set()
        for last in range(first, len(sentences)):
            cost = costs[last + 1] - costs[first]
            if last > first and cost > most:
                break
            found |= held[last]
            rank = (round(sum(weights[term] for term in sorted(found)), 6), -cost)
            if rank > best_rank:
                best, best_rank = (first, last), rank
    return sentences[best[0]][0], sentences[best[1]][1]


def _bare(text: str, span: Span) -> Span:
    piece = text[slice(*span)]
    return span[0] + len(piece) - len(piece.lstrip()), span[0] + len(piece.rstrip())


def _says_something(sentence: str) -> bool:
    return not sentence.startswith("#") and any(map(str.isalnum, sentence))
