"""How far a model's own token counts are from the estimate: learned from what it reports."""

from __future__ import annotations

LOWEST, HIGHEST = 0.5, 2.0
"""What a factor may be: a provider that reports nonsense must not empty a prompt."""
FEWEST_TOKENS = 300
"""Of a shorter request the frames of messages are too large a part."""
_RISE = 0.5
_FALL = 0.1


def next_factor(factor: float, *, estimated: int, reported: int, lowest: float = LOWEST) -> float:
    """The moving average of reported / estimated tokens, after one more call.

    It rises fast and falls slowly: a prompt that does not fit fails, one that could have
    been longer only holds a passage less. Servers that count no cached tokens report too
    few now and then.
    """
    if estimated < FEWEST_TOKENS or reported <= 0:
        return factor
    told = min(max(reported / estimated, LOWEST), HIGHEST)
    weight = _RISE if told > factor else _FALL
    return min(max(factor + (told - factor) * weight, lowest), HIGHEST)
