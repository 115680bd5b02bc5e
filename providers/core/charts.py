"""The geometry of a bar chart: pure numbers, drawn by a template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH = 1000.0
HEIGHT = 100.0
# Of each bar's slot, the part that stays empty; and the most a lone bar may take.
_GAP = 0.25
_WIDEST = 60.0
# A millionth of a dollar is the least that is recorded.
_LEAST_POWER = -6


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle in a box of WIDTH x HEIGHT, y downwards, as attribute values of SVG."""

    x: str
    y: str
    width: str
    height: str


def nice_ceiling(value: float) -> float:
    """The least 1, 2 or 5 times a power of ten that is not under `value`; 1 for nothing."""
    if value <= 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** max(math.floor(math.log10(value)), _LEAST_POWER)
    return next(step * power for step in (1, 2, 5, 10, 20) if step * power >= value)


def bars(values: Sequence[float], *, top: float) -> tuple[Bar, ...]:
    """One bar for each value, side by side; `top` is the value of the full height."""
    slot = WIDTH / max(len(values), 1)
    width = min(slot * (1 - _GAP), _WIDEST)
    return tuple(
        Bar(
            x=_number(place * slot + (slot - width) / 2),
            y=_number(HEIGHT - _height(value, top)),
            width=_number(width),
            height=_number(_height(value, top)),
        )
        for place, value in enumerate(values)
    )


def _height(value: float, top: float) -> float:
    share = min(max(value / top, 0.0), 1.0) if top > 0 else 0.0
    # What is there but small is still seen.
    return max(share * HEIGHT, 1.0) if value > 0 else 0.0


def _number(value: float) -> str:
    return f"{value:.2f}"
