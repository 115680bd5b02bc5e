"""Every set of a folder of benchmarks through the real search, as one table.

    python benchmarks/retrieval_suite.py FOLDER [--set scifact ...] [--queries 300]
        [--mode hybrid ...] [--fusion rrf] [--keep] [--part dev]

FOLDER holds sets in BEIR layout, as `retrieval_quality.py` reads them: `scifact`,
`django-docs-ids`, `trip2g-vecbench`, `xquad/<language>` and `mtrag-mini`. Each collection
becomes a vault, searched by the use case of the search page; vectors are remembered in
DATA_DIR/benchmarks, so only the first run embeds. The table that is printed is the one in
docs/retrieval.md: nDCG@10 of dev and test for each mode, and recall@20 of both arms.

mtrag-mini is asked in three forms, as chat asks: the last message, the rewrite of a person, and
what the rule without a model makes of the message and the one before it.

With `--keep` the vaults stay, and the next run reads only what changed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from retrieval_quality import (
    MODES,
    Figures,
    Kept,
    build_vault,
    evaluate,
    read_queries,
    sample,
    start_django,
    translated,
    write_notes,
)

LANGUAGES = ("de", "en", "ru", "th", "zh")


@dataclass(frozen=True, slots=True)
class Collection:
    """Folders that become one vault, and the sets of questions that are asked of it.

    `asked`: for each set its name, the folder of its queries and, for conversations, the
    form of the question.
    """

    slug: str
    folders: tuple[str, ...]
    asked: tuple[tuple[str, str, str], ...]


def collections() -> list[Collection]:
    single = ("trip2g-vecbench", "scifact", "django-docs-ids")
    languages = [f"xquad/{language}" for language in LANGUAGES]
    forms = ("lastturn", "rewrite", "condensed")
    return [
        *(Collection(f"bench-{name}", (name,), ((name, name, ""),)) for name in single),
        *(
            Collection(f"bench-xquad-{place[-2:]}", (place,), ((place, place, ""),))
            for place in languages
        ),
        Collection(
            "bench-xquad-mixed",
            tuple(languages),
            (("xquad mixed, en", "xquad/en", ""), ("xquad mixed, zh", "xquad/zh", "")),
        ),
        Collection(
            "bench-mtrag",
            ("mtrag-mini",),
            tuple((f"mtrag-mini, {form}", "mtrag-mini", form) for form in forms),
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--set", action="append", default=[], help="part of a set's name")
    parser.add_argument("--queries", type=int, default=0, help="at most so many a set; 0: all")
    parser.add_argument("--mode", action="append", choices=MODES, default=[])
    parser.add_argument("--fusion", choices=("convex", "rrf"), default="convex")
    parser.add_argument("--keep", action="store_true", help="leave the vaults in the database")
    options = parser.parse_args()
    start_django()
    modes = options.mode or list(MODES)
    print(header(modes))
    for collection in collections():
        asked = [a for a in collection.asked if wanted(a[0], options.set)]
        if asked:
            for name, figures in measured(collection, asked, options, modes):
                print(line(name, figures, modes), flush=True)


def wanted(name: str, parts: list[str]) -> bool:
    return not parts or any(part in name for part in parts)


def measured(
    collection: Collection,
    asked: list[tuple[str, str, str]],
    options: argparse.Namespace,
    modes: list[str],
) -> Iterator[tuple[str, list[Figures]]]:
    """For each set of questions its figures; the vault is made and removed around them."""
    from django.conf import settings

    home = Path(settings.DATA_DIR) / "benchmarks"
    place = home / collection.slug
    paths: dict[str, str] = {}
    for name in collection.folders:
        folder = options.folder / name
        paths |= write_notes(folder, place, under=folder.name, kept=Kept(set(), 0))
    vault = build_vault(place, slug=collection.slug, kept=home / "vectors.sqlite3")
    try:
        for name, folder, form in asked:
            queries, relevant = questions(options.folder / folder, form)
            chosen = sample(queries, options.queries)
            judged = translated(relevant, paths)
            figures = [
                row
                for mode in modes
                for row in evaluate(vault, chosen, judged, mode=mode, fusion=options.fusion)
            ]
            yield name, figures
    finally:
        if not options.keep:
            vault.delete()


def questions(folder: Path, form: str) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
    """The judged queries of a folder; of conversations, in one form."""
    queries, relevant = read_queries(folder)
    if form:
        queries, relevant = in_form(queries, relevant, form)
    return [query for query in queries if relevant.get(query["_id"])], relevant


def in_form(
    queries: list[dict[str, Any]], relevant: dict[str, dict[str, float]], form: str
) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
    """Turns under one id whatever their form, so that dev and test hold the same turns."""
    by_turn: dict[str, dict[str, str]] = {}
    judged: dict[str, dict[str, float]] = {}
    for query in queries:
        turn = query["_id"].rsplit("|", 1)[0]
        by_turn.setdefault(turn, {})[query["metadata"]["form"]] = query["text"]
        judged[turn] = relevant.get(query["_id"], {})
    return [
        {"_id": turn, "in_chat": condensed(forms) if form == "condensed" else (forms[form],)}
        for turn, forms in by_turn.items()
    ], judged


def condensed(forms: dict[str, str]) -> tuple[str, ...]:
    """What is searched for a turn when no model rewrites it."""
    from providers.core.types import ChatMessage
    from retrieval.core.condensing import stand_alone

    last = forms["lastturn"]
    before = forms["questions"].removesuffix(last).strip()
    history = [ChatMessage("user", text) for text in before.splitlines() if text.strip()]
    return stand_alone(last, history).queries


def header(modes: list[str]) -> str:
    columns = ["set", "questions", *modes, "recall@20", "ms (p50, p95)"]
    return f"| {' | '.join(columns)} |\n|{' --- |' * len(columns)}"


def line(name: str, figures: list[Figures], modes: list[str]) -> str:
    """nDCG@10 dev / test by mode; recall and times are those of the last mode."""
    by_mode = {mode: [row for row in figures if row.mode == mode] for mode in modes}
    last = by_mode[modes[-1]]
    cells = [
        name,
        " / ".join(str(row.queries) for row in last),
        *(" / ".join(f"{row.ndcg:.3f}" for row in by_mode[mode]) for mode in modes),
        " / ".join(f"{row.recall:.3f}" for row in last),
        f"{last[0].p50:.0f}, {last[0].p95:.0f}",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
