"""How often a mark that is shown as valid is borne out by its passage.

    python benchmarks/citations.py [--meaning] [--hard | --named | --unseen]

With `--meaning` the bundled embedder decides where words do not, as it does in the product.
Reads `citation_pairs.json`: passages in several languages, and statements that they bear
out or do not (another number, a denial, another matter), each judged by hand. Prints, by
language: of the marks shown as valid, how many are (precision); of the statements that
are borne out, how many are shown as valid (recall); and the same for the marks that are
added to an answer which came without any. `--hard` reads `citation_pairs_hard.json` instead:
statements that say the same in words of their own, and false ones made of a passage's words.
`--named` reads statements with another name in them or the same in another grammar, which the
rules were written with in view; `--unseen` reads as many that nobody looked at before.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from chat.core.citations import Quotable, cite, find_quote  # noqa: E402
from chat.core.repair import best_passage  # noqa: E402
from chat.core.support import judge  # noqa: E402
from providers.backends.local_e5 import BUNDLED  # noqa: E402

PAIRS = Path(__file__).with_name("citation_pairs.json")
SETS = ("hard", "named", "unseen")


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


Weakness = Callable[[Quotable, str], bool]


def main() -> None:
    wanted = next((f"_{each}" for each in SETS if f"--{each}" in sys.argv), "")
    pairs = PAIRS.with_stem(PAIRS.stem + wanted)
    rows = json.loads(pairs.read_text())
    scores = measure(rows, is_weak=by_meaning if "--meaning" in sys.argv else by_words)
    columns = ["language", "borne out", "not", "precision", "recall", "added", "right"]
    print(" | ".join(columns))
    for language, score in scores.items():
        print(
            f"{language} | {score.supported} | {score.unsupported} | {score.precision:.3f} | "
            f"{score.recall:.3f} | {score.added} | {score.added_precision:.3f}"
        )
    for wrong in scores["all"].wrong:
        print(wrong)


def by_words(passage: Quotable, statement: str) -> bool:
    """Whether words alone call the citation weak."""
    return find_quote(passage, statement).weak


def by_meaning(passage: Quotable, statement: str) -> bool:
    """Whether it is called weak where the bundled embedder is at hand."""
    citation = cite(passage, statement)
    judged = asyncio.run(judge([citation], [passage], BUNDLED.embed_statements))
    return cite(passage, statement, judged).quote.weak


def measure(rows: list[dict[str, Any]], *, is_weak: Weakness = by_words) -> dict[str, Score]:
    """The scores by language, and of all."""
    scores: dict[str, Score] = defaultdict(Score)
    for row in rows:
        text = row["passage"]
        passage = Quotable(1, "Note", text, 0, len(text), "", 1)
        for statement, is_supported in _statements(row):
            is_valid = not is_weak(passage, statement)
            is_added = best_passage(statement, [passage]) is not None
            for name in (row["language"], "all"):
                score = scores[name]
                _count(score, is_valid=is_valid, is_added=is_added, is_supported=is_supported)
            if is_valid != is_supported:
                kind = "shown as valid" if is_valid else "shown as weak"
                scores["all"].wrong.append(f"{kind}: {statement}")
    return {"all": scores.pop("all"), **scores}


def _statements(row: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    yield from ((statement, True) for statement in row["supported"])
    yield from ((statement, False) for statement in row["unsupported"])


def _count(score: Score, *, is_valid: bool, is_added: bool, is_supported: bool) -> None:
    score.supported += is_supported
    score.unsupported += not is_supported
    score.valid += is_valid
    score.right += is_valid and is_supported
    score.added += is_added
    score.added_right += is_added and is_supported


if __name__ == "__main__":
    main()
