"""Pieces of a text that hold a secret."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]` is a secret of this kind."""

    start: int
    end: int
    kind: str


def merge_spans(spans: Sequence[Span]) -> list[Span]:
    """Sorted spans that do not overlap.

    Where some overlapped, one span covers them all, and the one that came first in
    `spans` names the kind.
    """
    order = {id(span): index for index, span in enumerate(spans)}
    merged: list[Span] = []
    ranks: list[int] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        rank = order[id(span)]
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            kind = span.kind if rank < ranks[-1] else last.kind
            merged[-1] = replace(last, end=max(last.end, span.end), kind=kind)
            ranks[-1] = min(rank, ranks[-1])
        else:
            merged.append(span)
            ranks.append(rank)
    return merged
