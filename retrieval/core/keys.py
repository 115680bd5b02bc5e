"""Keys that a caller sends: one that nothing is done with is a slip, and is never passed over."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from providers.core.text import clean

# Characters of somebody's key that are said back.
_MOST_SHOWN = 60


def fault_of_keys(sent: Iterable[str], *, known: Iterable[str]) -> str:
    """In a sentence which key of `sent` is not among `known`, what was probably meant and what
    there is; "" where all are known."""
    known = sorted(known)
    for key in sent:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"Did you mean “{near[0]}”? " if near else ""
            shown = clean(key)[:_MOST_SHOWN]
            return f"“{shown}” is not known here. {hint}Known are: {', '.join(known)}."
    return ""
