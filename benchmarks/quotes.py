"""How often an answer without a model quotes the sentence that answers.

    python benchmarks/quotes.py [--meaning] [--each]

Reads `quotes.json`: questions about the handbook in docs/ and about small notes in three
languages, each with words of the sentence that answers it. The passages are the eight that
hold most of the question's rare words, as a keyword search would find them; with
`--meaning` every other one is the nearest by the bundled embedder. Prints, by
language: how many answers quote the sentence, how many quote it first, how many quotes an
answer has, and how many of the quotes say nothing (tags, links, a label without its text).

`--meaning` compares sentences by the embedder as well, as the product does. `--each` shows
the quotes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from providers.backends.extractive import by_meaning  # noqa: E402
from providers.backends.local_e5 import BUNDLED  # noqa: E402
from providers.core.quotes import Quote, candidates_for, pick_quotes, terms  # noqa: E402
from providers.core.types import Grounding, GroundingPassage  # noqa: E402
from vault.core.chunking import chunk_note  # noqa: E402
from vault.core.markdown import parse_markdown  # noqa: E402
from vault.core.types import ChunkLimits  # noqa: E402

QUESTIONS = Path(__file__).with_name("quotes.json")
MOST_PASSAGES = 8
Passage = tuple[str, str, tuple[str, ...]]  # title, text, headings


@dataclass
class Score:
    """`hits` quote the sentence at all, `first` before any other."""

    asked: int = 0
    hits: int = 0
    first: int = 0
    quotes: int = 0
    empty: int = 0
    missed: list[str] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--meaning", action="store_true")
    parser.add_argument("--each", action="store_true")
    options = parser.parse_args()
    data = json.loads(QUESTIONS.read_text())
    print("set | asked | quoted | quoted first | quotes an answer | say nothing")
    for name in ("docs", "ru", "de", "zh"):
        score = measure(data, name, meaning=options.meaning, show=options.each)
        print(
            f"{name} | {score.asked} | {score.hits} | {score.first} | "
            f"{score.quotes / score.asked:.1f} | {score.empty}"
        )
        for missed in score.missed:
            print("   missed:", missed)


def measure(data: dict[str, Any], name: str, *, meaning: bool, show: bool = False) -> Score:
    """How the questions of one set fare."""
    passages = _passages(_handbook() if name == "docs" else _notes(data, name))
    score = Score()
    for row in data[name]:
        found = _nearest(row["question"], passages, meaning=meaning)
        grounding = Grounding(row["question"], found)
        quotes = picked(grounding, meaning=meaning)
        _count(score, row, quotes)
        if show:
            print(f"\n? {row['question']}")
            for quote in quotes:
                print(f"  {'*' if _answers(quote.text, row) else '-'} {quote.text}")
    return score


def picked(grounding: Grounding, *, meaning: bool) -> list[Quote]:
    candidates = candidates_for(grounding)
    if meaning:
        candidates = asyncio.run(by_meaning(grounding.question, candidates))
    return pick_quotes(grounding, candidates)


def _count(score: Score, row: dict[str, Any], quotes: Sequence[Quote]) -> None:
    answering = [_answers(quote.text, row) for quote in quotes]
    score.asked += 1
    score.hits += any(answering)
    score.first += answering[:1] == [True]
    score.quotes += len(quotes)
    score.empty += sum(says_nothing(quote.text) for quote in quotes)
    if not any(answering):
        score.missed.append(row["question"])


def _answers(text: str, row: dict[str, Any]) -> bool:
    bare = text.replace("*", "").replace("`", "")
    return any(words.replace("*", "").replace("`", "") in bare for words in row["expected"])


def says_nothing(text: str) -> bool:
    """Whether a quote is a label, tags or links alone."""
    bare = re.sub(r"[#@][\w/-]+", "", text).strip("*_` .")
    return bare.endswith((":", "：")) or len(terms(bare)) < 2


def _handbook() -> list[tuple[str, str]]:
    return [(path.name, path.read_text()) for path in sorted((ROOT / "docs").glob("*.md"))]


def _notes(data: dict[str, Any], language: str) -> list[tuple[str, str]]:
    return [(path, text) for path, text in data["notes"].items() if path.startswith(language)]


def _passages(notes: Sequence[tuple[str, str]]) -> list[Passage]:
    """Every chunk."""
    found = []
    for path, text in notes:
        note = parse_markdown(text, path=path)
        chunks = chunk_note(note, limits=ChunkLimits())
        found += [(note.title, chunk.content, tuple(chunk.heading_path)) for chunk in chunks]
    return found


def _nearest(
    question: str, passages: Sequence[Passage], *, meaning: bool
) -> tuple[GroundingPassage, ...]:
    order = _by_words(question, passages)
    if meaning:
        other = _by_vectors(question, tuple(passages))
        order = list(dict.fromkeys(nth for pair in zip(order, other, strict=True) for nth in pair))
    return tuple(
        GroundingPassage(number, *passages[nth])
        for number, nth in enumerate(order[:MOST_PASSAGES], start=1)
    )


def _by_words(question: str, passages: Sequence[Passage]) -> list[int]:
    wanted = terms(question)
    words = [set(terms(f"{title} {text}")) for title, text, _ in passages]
    held = {word: sum(word in each for each in words) for word in wanted}

    def score(nth: int) -> float:
        return sum(
            math.log(1 + len(passages) / (1 + held[word])) for word in wanted if word in words[nth]
        ) / math.log(20 + len(passages[nth][1]))

    return sorted(range(len(passages)), key=score, reverse=True)


def _by_vectors(question: str, passages: tuple[Passage, ...]) -> list[int]:
    query = asyncio.run(BUNDLED.embed_statements([question]))[0]
    return [int(nth) for nth in np.argsort(-(_vectors(passages) @ query))]


@cache
def _vectors(passages: tuple[Passage, ...]) -> np.ndarray:
    texts = [" > ".join(headings) + "\n\n" + text for _, text, headings in passages]
    return asyncio.run(BUNDLED.embed_passages(texts))


if __name__ == "__main__":
    main()
