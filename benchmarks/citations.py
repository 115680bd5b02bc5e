"""How often a mark that is shown as valid is borne out by its passage.

    python benchmarks/citations.py

Reads `citation_pairs.json`: passages in several languages, and statements that they bear
out or do not (another number, a denial, another matter), each judged by hand. Prints, by
language: of the marks shown as valid, how many are (precision); of the statements that
are borne out, how many are shown as valid (recall); and the same for the marks that are
added to an answer which came without any.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from chat.core.citations import Quotable, find_quote  # noqa: E402
from chat.core.repair import best_passage  # noqa: E402

PAIRS = Path(__file__).with_name("citation_pairs.json")


@dataclass
class Score:
    """`valid` of them were shown as valid; of these, `right` are borne out."""

    supported: int = 0
    unsupported: int = 0
    valid: int = 0
    right: int = 0
    added: int = 0
    added_right: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.valid if self.valid else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.supported if self.supported else 1.0

    @property
    def added_precision(self) -> float:
        return self.added_right / self.added if self.added else 1.0


def main() -> None:
    scores = measure(json.loads(PAIRS.read_text()))
    columns = ["language", "borne out", "not", "precision", "recall", "added", "right"]
    print(" | ".join(columns))
    for language, score in scores.items():
        print(
            f"{language} | {score.supported} | {score.unsupported} | {score.precision:.3f} | "
            f"{score.recall:.3f} | {score.added} | {score.added_precision:.3f}"
        )
    for wrong in scores["all"].wrong:
        print(wrong)


def measure(rows: list[dict[str, Any]]) -> dict[str, Score]:
    """The scores by language, and of all."""
    scores: dict[str, Score] = defaultdict(Score)
    for row in rows:
        text = row["passage"]
        passage = Quotable(1, "Note", text, 0, len(text), "", 1)
        for statement, is_supported in _statements(row):
            for name in (row["language"], "all"):
                _judge(scores[name], passage, statement, is_supported=is_supported)
    return {"all": scores.pop("all"), **scores}


def _statements(row: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    yield from ((statement, True) for statement in row["supported"])
    yield from ((statement, False) for statement in row["unsupported"])


def _judge(score: Score, passage: Quotable, statement: str, *, is_supported: bool) -> None:
    is_valid = not find_quote(passage, statement).weak
    is_added = best_passage(statement, [passage]) is not None
    score.supported += is_supported
    score.unsupported += not is_supported
    score.valid += is_valid
    score.right += is_valid and is_supported
    score.added += is_added
    score.added_right += is_added and is_supported
    if is_valid != is_supported:
        kind = "shown as valid" if is_valid else "shown as weak"
        score.wrong.append(f"{kind}: {statement}")


if __name__ == "__main__":
    main()
