"""What somebody wants to share, as it comes in."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from chat.core.asking import BadAsk
from chat.core.sharing import MOST_NAMES, ShareWish, parse_share

ID = "8a0f6a1e-7d5e-4c0a-9c55-0f7f3b1f5e11"


def test_nothing_chosen_shares_the_branch_for_thirty_days_with_whoever_signs_in() -> None:
    assert parse_share({}) == ShareWish(None, only_answer=False, audience="signed_in", days=30)


def test_a_form_and_a_script_say_the_same() -> None:
    form = {
        "message": ID,
        "only_answer": "1",
        "audience": "named",
        "names": "ann@example.com, engineers;\nann@example.com",
        "days": "7",
    }
    body = {**form, "only_answer": True, "names": ["ann@example.com", "engineers"], "days": 7}
    wish = ShareWish(UUID(ID), True, "named", ("ann@example.com", "engineers"), 7)  # noqa: FBT003
    assert parse_share(form) == parse_share(body) == wish


def test_names_beside_another_audience_share_with_nobody_by_mistake() -> None:
    for audience in ("signed_in", "readers", None):
        with pytest.raises(BadAsk, match="choose those that are named"):
            parse_share({"audience": audience, "names": "ann@example.com"})
    assert parse_share({"audience": "readers", "names": " "}).names == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"audience": "world"}, "must be one of"),
        ({"audience": "named"}, "at least one person"),
        ({"audience": "named", "names": " , "}, "at least one person"),
        ({"audience": "named", "names": [1]}, "must be a list"),
        ({"audience": "named", "names": [str(n) for n in range(MOST_NAMES + 1)]}, "At most"),
        ({"days": 0}, "1 to 365"),
        ({"days": "366"}, "1 to 365"),
        ({"days": "soon"}, "1 to 365"),
        ({"days": True}, "1 to 365"),
        ({"message": "x"}, "UUID"),
        ({"only_answer": "yes"}, "must be true or false"),
        ({"only_answer": 2}, "must be true or false"),
    ],
)
def test_a_wish_that_cannot_be_granted_says_why(data: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadAsk, match=reason):
        parse_share(data)
