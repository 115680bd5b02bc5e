"""A step as its line of the list: every tool in every state."""

from __future__ import annotations

from itertools import product
from uuid import uuid4

import pytest

from chat.core.events import RunIds
from chat.core.tools import NAMES
from chat.models import Step
from chat.step_events import step_said

IDS = RunIds(run=uuid4(), conversation=uuid4(), message=uuid4())


@pytest.mark.parametrize(("tool", "state"), list(product([*NAMES, "forged"], Step.State.values)))
def test_every_step_has_its_line(tool: str, state: str) -> None:
    step = Step(number=2, tool=tool, what="a <b>", why="<i>why</i>", state=state, said="<u>")
    data = step_said(step, IDS).data
    assert data["state"] == state
    html = data["html"]
    assert f'data-step="2" data-state="{state}"' in html
    assert "a &lt;b&gt;" in html
    assert not {"<b>", "<i>", "<u>"} & {html[at : at + 3] for at in range(len(html))}
    assert ("data-decide" in html) is (state == "asked")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "done", "found": [1, 4]}, "2 passages: [1], [4]"),
        ({"state": "done"}, "nothing found"),
        ({"state": "refused", "decision": "time_out"}, "nobody answered in time"),
        ({"state": "failed", "said": "No such note."}, "failed: No such note."),
    ],
)
def test_the_outcome_is_said_in_a_few_words(fields: dict[str, object], said: str) -> None:
    step = Step(number=1, tool="search", what="x", **fields)
    assert said in step_said(step, IDS).data["html"]
