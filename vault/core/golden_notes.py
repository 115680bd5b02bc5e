"""Which notes hold golden questions: questions with the notes that should answer them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vault.core.names import file_name, without_suffix

GOLDEN = "golden-questions"


def is_golden_note(path: str, properties: Mapping[str, Any]) -> bool:
    """Whether a note is called `golden-questions.md`, or its front matter says
    `type: golden-questions` or `golden-questions: true`.

    Such a note holds every question word for word: it would be the best hit of each of
    them, so it is read but not searched.
    """
    if without_suffix(file_name(path)).casefold() == GOLDEN:
        return True
    kind = properties.get("type")
    return (isinstance(kind, str) and kind.strip().casefold() == GOLDEN) or (
        properties.get(GOLDEN) is True
    )
