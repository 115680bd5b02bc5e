"""What golden questions say of search settings before they are saved."""

from __future__ import annotations

import time
from dataclasses import replace

from retrieval.core.comparing import Comparison, compare
from retrieval.core.metrics import Scores
from retrieval.core.types import Knobs
from retrieval.evaluation.questions import golden_notes, read_golden_notes
from retrieval.evaluation.scoring import Asked, ask_all, questions_of
from vault.access import whole_vault
from vault.models import Vault

# Somebody waits for the page: so many questions and seconds at most, of all vaults.
MOST_QUESTIONS = 60
MOST_SECONDS = 20.0


def would_be_worse(before: Knobs, after: Knobs) -> Comparison | None:
    """Both knobs over golden questions of all vaults; None when there are none, or when
    nothing of a ranking differs."""
    before, after = ranking_knobs(before), ranking_knobs(after)
    if before == after:
        return None
    first: dict[str, Scores] = {}
    second: dict[str, Scores] = {}
    until = time.monotonic() + MOST_SECONDS
    for vault, question, golden in _sample():
        scope = whole_vault(vault)
        key = f"{vault.pk}:{question.key}"
        old = ask_all([question], scope=scope, knobs=before, without=golden)
        new = ask_all([question], scope=scope, knobs=after, without=golden)
        first[key], second[key] = old.answers[0].scores, new.answers[0].scores
        if time.monotonic() > until:
            break
    return compare(first, second) if first else None


def ranking_knobs(knobs: Knobs) -> Knobs:
    """`knobs` without what only chooses among candidates for an answer."""
    plain = Knobs()
    return replace(
        knobs,
        passages=plain.passages,
        chunks_per_note=plain.chunks_per_note,
        token_budget=plain.token_budget,
        neighbours=plain.neighbours,
        linked_notes=plain.linked_notes,
        alternates=plain.alternates,
    )


def _sample() -> list[tuple[Vault, Asked, list[str]]]:
    """Questions of every vault in turn, at most MOST_QUESTIONS."""
    waiting: list[list[tuple[Vault, Asked, list[str]]]] = []
    for vault in Vault.objects.order_by("pk"):
        read_golden_notes(vault)
        golden = [note.path for note in golden_notes(vault)]
        waiting.append([(vault, question, golden) for question in questions_of(vault)])
    taken: list[tuple[Vault, Asked, list[str]]] = []
    for number in range(max(map(len, waiting), default=0)):
        taken += [rows[number] for rows in waiting if number < len(rows)]
    return taken[:MOST_QUESTIONS]
