"""Golden questions: where they come from, how they are asked, what became of them."""

from __future__ import annotations

from retrieval.evaluation.changes import fall_of, start_due_runs
from retrieval.evaluation.questions import (
    CannotAdd,
    add_question,
    read_golden_notes,
    remove_question,
)
from retrieval.evaluation.runs import cancel_run, go_on, start_run
from retrieval.evaluation.scoring import Asked, Evaluation, ask_all, questions_of
from retrieval.evaluation.settings import would_be_worse
from retrieval.evaluation.trials import try_next_model

__all__ = [
    "Asked",
    "CannotAdd",
    "Evaluation",
    "add_question",
    "ask_all",
    "cancel_run",
    "fall_of",
    "go_on",
    "questions_of",
    "read_golden_notes",
    "remove_question",
    "start_due_runs",
    "start_run",
    "try_next_model",
    "would_be_worse",
]
