"""Whether a text repeats a passage that its reader may not see."""

from __future__ import annotations

from collections.abc import Iterable

# Letters and digits in a row, whatever stands between them: about six words of English.
# Shorter runs are shared by texts that know nothing of each other.
LONGEST_SHARED = 30
# A character of these scripts says as much as about three letters.
LONGEST_SHARED_DENSE = 12
_FIRST_DENSE = "⺀"


def repeats(text: str, hidden: Iterable[str]) -> bool:
    """Whether `text` has a long run of letters and digits in common with one of `hidden`."""
    letters = _letters(text)
    size = LONGEST_SHARED_DENSE if _is_dense(letters) else LONGEST_SHARED
    if len(letters) < size:
        return False
    runs = {letters[at : at + size] for at in range(len(letters) - size + 1)}
    return any(_has_run(_letters(other), runs, size) for other in hidden)


def _has_run(letters: str, runs: set[str], size: int) -> bool:
    return any(letters[at : at + size] in runs for at in range(len(letters) - size + 1))


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _is_dense(letters: str) -> bool:
    dense = sum(character >= _FIRST_DENSE for character in letters)
    return dense * 2 > len(letters)
