"""How much of a limit is used, and when it begins anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

Period = Literal["day", "month"]
WARN_FROM = 0.8


@dataclass(frozen=True, slots=True)
class Allowance:
    """A limit on tokens, on cost (USD), or on both; the nearer one counts."""

    name: str
    used_tokens: int
    used_cost: Decimal
    most_tokens: int | None
    most_cost: Decimal | None
    resets: datetime

    @property
    def share(self) -> float:
        """What is used of it; 1.0 and more: nothing is left."""
        return max(
            _share(self.used_tokens, self.most_tokens), _share(self.used_cost, self.most_cost)
        )

    @property
    def is_spent(self) -> bool:
        return self.share >= 1

    @property
    def is_nearly_spent(self) -> bool:
        return WARN_FROM <= self.share < 1

    @property
    def is_about_cost(self) -> bool:
        """Whether the cost is nearer to its limit than the tokens are to theirs."""
        return _share(self.used_cost, self.most_cost) > _share(self.used_tokens, self.most_tokens)


def period_around(moment: datetime, period: Period) -> tuple[datetime, datetime]:
    """Begin and end of the day or month that `moment` is in, by its own time zone's clock."""
    begin = moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    if period == "day":
        return begin, begin + timedelta(days=1)
    begin = begin.replace(day=1)
    # The 1st plus 31 days is in the next month, whatever the month.
    return begin, (begin + timedelta(days=31)).replace(day=1)


def _share(used: int | Decimal, most: int | Decimal | None) -> float:
    if most is None:
        return 0.0
    return float(used / most) if most > 0 else 1.0
