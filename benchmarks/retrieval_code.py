"""How well questions about source code, and others, find their answer where both lie together.

    DATA_DIR=FOLDER python benchmarks/retrieval_code.py [--files 60] [--beside FOLDER ...] [--keep]

The product's own source and its handbook become one throw-away vault. Questions and the files
that answer them are in code_questions.tsv: about code by description without its names, about
code by a name in it, and about what the handbook says. Prints nDCG@10 and recall@20 of each
kind without and with the code path, dev and test apart: tune on dev alone.

`--files`: only the source that answers a question and so many other files; `--beside`: sets in
BEIR layout whose notes lie in the vault too, so that code is scarce. Vectors are remembered in
DATA_DIR/benchmarks, so that only the first run embeds.
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from retrieval_quality import Kept, build_vault, start_django, write_notes

ROOT = Path(__file__).resolve().parent.parent
APPS = ("chat", "providers", "retrieval", "secondbrain", "vault")
SOURCE, HANDBOOK = "source", "docs"
DEPTH = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", type=int, default=0, help="other source files; 0: all")
    parser.add_argument("--beside", type=Path, nargs="*", default=[], metavar="FOLDER")
    parser.add_argument("--keep", action="store_true", help="leave the vault in the database")
    options = parser.parse_args()
    start_django()
    from django.conf import settings

    home = Path(settings.DATA_DIR) / "benchmarks"
    place = home / f"code-{options.files}-{len(options.beside)}"
    questions = read_questions()
    for path in chosen_files(questions, options.files):
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / path.removeprefix(f"{SOURCE}/")).read_bytes())
    for folder in options.beside:
        write_notes(folder, place, under=folder.name, kept=Kept(set(), 0))
    vault = build_vault(place, slug=f"bench-{place.name}", kept=home / "vectors.sqlite3")
    try:
        print(about(vault))
        print("| questions | number | without | with the code path | recall@20 |")
        print("| --- | --- | --- | --- | --- |")
        for row in measured(vault, questions):
            print(row, flush=True)
    finally:
        if not options.keep:
            vault.delete()


def read_questions() -> list[dict[str, str]]:
    """Rows of `kind`, `question` and `answers`: paths, one blank between two."""
    table = Path(__file__).with_name("code_questions.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(table.splitlines(), delimiter="\t"))


def chosen_files(questions: Sequence[dict[str, str]], others: int) -> list[str]:
    """Paths in the vault: the handbook, the source that answers, and `others` of the rest."""
    answers = {path for row in questions for path in row["answers"].split()}
    source = [
        f"{SOURCE}/{path.relative_to(ROOT).as_posix()}"
        for app in APPS
        for path in sorted((ROOT / app).rglob("*.py"))
        if path.name != "__init__.py" and "migrations" not in path.parts
    ]
    rest = [path for path in source if path not in answers]
    step = max(1, len(rest) // others) if others else 1
    handbook = [f"{HANDBOOK}/{path.name}" for path in sorted((ROOT / HANDBOOK).glob("*.md"))]
    chosen = [path for path in source if path in answers]
    return [*handbook, *chosen, *(rest[::step][:others] if others else rest)]


def about(vault: Any) -> str:
    from vault.models import Chunk

    chunks = Chunk.objects.filter(vault=vault)
    code = chunks.filter(is_code=True).count()
    return f"{chunks.count():,} passages, of which {code:,} are code"


def measured(vault: Any, questions: Sequence[dict[str, str]]) -> Iterator[str]:
    """A row of a table for each kind of question: dev / test."""
    from retrieval.core.metrics import part_of, score

    scores: dict[tuple[str, str, bool], list[tuple[float, float]]] = defaultdict(list)
    for row in questions:
        relevant = dict.fromkeys(row["answers"].split(), 1.0)
        for has_path in (False, True):
            got = score(found(vault, row["question"], has_path=has_path), relevant)
            key = (row["kind"], part_of(row["question"]), has_path)
            scores[key].append((got.ndcg_10, got.recall_20))
    for kind in dict.fromkeys(row["kind"] for row in questions):
        halves = [[scores[kind, part, has] for part in ("dev", "test")] for has in (False, True)]
        number = " / ".join(str(len(rows)) for rows in halves[0])
        ndcg = [" / ".join(f"{mean(row[0] for row in rows):.3f}" for rows in half)
                for half in halves]  # fmt: skip
        recall = " / ".join(f"{mean(row[1] for row in rows):.3f}" for rows in halves[1])
        yield f"| {kind} | {number} | {ndcg[0]} | {ndcg[1]} | {recall} |"


def found(vault: Any, question: str, *, has_path: bool) -> list[str]:
    """The paths that the search page shows for a question, best first."""
    from asgiref.sync import async_to_sync

    from retrieval.core.types import Knobs, Mode
    from retrieval.search import search_notes
    from vault.core.types import Scope

    knobs = Knobs(code_path=has_path)
    scope = Scope(user_id=0, vault_ids=(vault.pk,))
    result = async_to_sync(search_notes)(
        question, scope=scope, mode=Mode.HYBRID, limit=DEPTH, knobs=knobs
    )
    return [hit.path for hit in result.hits]


if __name__ == "__main__":
    main()
