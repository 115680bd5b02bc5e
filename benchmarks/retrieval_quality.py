"""How well search ranks: nDCG@10, recall@20 and MRR@10 of a set in BEIR layout.

    python benchmarks/retrieval_quality.py FOLDER [FOLDER ...] [--queries 300]
        [--documents 600] [--mode hybrid ...]

FOLDER holds `corpus.jsonl` (`_id`, `title`, `text`) or a folder `notes/`, `queries.jsonl`
(`_id`, `text`) and `qrels.tsv` (here or one folder up). The corpus becomes a throw-away
vault, read, cut, embedded and searched by the product's own functions, and is deleted
afterwards.

Several folders are one collection: translations of one corpus, where every translation of a
relevant document is relevant and the queries are those of the first folder. With
`--documents`, the documents that the chosen queries are judged by and others up to that
number: its figures are higher than those of the whole, so compare rows of one size only.

Dev and test apart: a query is dev when the first hex digit of the SHA-1 of its id is even.
Tune on dev alone.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

MODES = ("keyword", "semantic", "hybrid")
DEPTH = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER")
    parser.add_argument("--queries", type=int, default=0, help="at most so many; 0: all")
    parser.add_argument("--documents", type=int, default=0, help="about so many; 0: all")
    parser.add_argument("--mode", action="append", choices=MODES, default=[])
    parser.add_argument("--fusion", choices=("convex", "rrf"), default="convex")
    options = parser.parse_args()
    start_django()
    queries, relevant = read_queries(options.folders[0])
    chosen = sample([query for query in queries if relevant.get(query["_id"])], options.queries)
    with tempfile.TemporaryDirectory() as place:
        judged = {document for query in chosen for document in relevant[query["_id"]]}
        paths: dict[str, str] = {}
        for folder in options.folders:
            kept = Kept(judged, options.documents)
            paths |= write_notes(folder, Path(place), under=folder.name, kept=kept)
        relevant = translated(relevant, paths)
        vault = build_vault(Path(place))
        try:
            for mode in options.mode or MODES:
                for figures in evaluate(vault, chosen, relevant, mode=mode, fusion=options.fusion):
                    print(figures)
        finally:
            vault.delete()


def sample(queries: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """`most` of the queries, always the same; 0: all."""
    if not most:
        return queries
    # The first digit decides between dev and test: a sample must hold both.
    return sorted(queries, key=lambda query: digest(query["_id"])[1:])[:most]


def start_django() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "secondbrain.settings")
    os.environ.setdefault("LOG_LEVEL", "ERROR")
    from secondbrain.embedded import ensure_database

    ensure_database()
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def read_queries(folder: Path) -> tuple[list[dict[str, Any]], dict[str, dict[str, float]]]:
    """The queries, and for each id the grade of every relevant document."""
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    judged = next(p for p in (folder / "qrels.tsv", folder.parent / "qrels.tsv") if p.exists())
    relevant: dict[str, dict[str, float]] = defaultdict(dict)
    for line in judged.read_text(encoding="utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        if float(grade) > 0:
            relevant[query][document] = float(grade)
    return [json.loads(line) for line in lines if line.strip()], relevant


class Kept:
    """Which documents of a corpus are taken: the judged ones, and others up to a number."""

    def __init__(self, judged: set[str], most: int) -> None:
        self.judged = judged
        self.others = max(0, most - len(judged)) if most else -1

    def takes(self, document: str) -> bool:
        if document in self.judged or self.others < 0:
            return True
        self.others -= 1
        return self.others >= 0


def translated(
    relevant: dict[str, dict[str, float]], paths: dict[str, str]
) -> dict[str, dict[str, float]]:
    """The judgements by path: one of a document holds for each of its translations."""
    by_document: dict[str, list[str]] = defaultdict(list)
    for path, document in paths.items():
        by_document[document].append(path)
    return {
        query: {path: grade for document, grade in grades.items() for path in by_document[document]}
        for query, grades in relevant.items()
    }


def write_notes(folder: Path, place: Path, *, under: str, kept: Kept) -> dict[str, str]:
    """Write the corpus as Markdown files into `place`/`under`; document ids by path."""
    paths: dict[str, str] = {}
    notes = folder / "notes"
    if notes.is_dir():
        for source in sorted(notes.rglob("*.md")):
            document = source.relative_to(notes).as_posix()
            path = f"{under}/{document}"
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(source.read_bytes())
            paths[path] = document
        return paths
    corpus = (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(corpus):
        document = json.loads(line)
        if not kept.takes(document["_id"]):
            continue
        path = f"{under}/{number // 500:03}/{number:06}.md"
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        header = json.dumps({"title": document.get("title") or " "}, ensure_ascii=False)
        (place / path).write_text(f"---\n{header}\n---\n{document['text']}\n", encoding="utf-8")
        paths[path] = document["_id"]
    return paths


def build_vault(place: Path, *, slug: str = "", kept: Path | None = None) -> Any:
    """`place` as a vault, cut, counted and embedded; `kept`: where vectors are remembered."""
    from kept_vectors import KeptVectors

    from providers.presets import load_presets
    from providers.registry import embedder
    from vault.adding import add_vault, place_of
    from vault.embedding import embed_pending
    from vault.lexemes import refresh_lexemes
    from vault.staleness import fingerprint
    from vault.sync import sync_vault

    load_presets()
    started = time.monotonic()
    vault, _ = add_vault(place_of(place), slug=slug or f"quality-{os.getpid()}")
    sync_vault(vault.pk)
    refresh_lexemes(force=True)
    synced = time.monotonic()

    def backend_of(model: Any) -> Any:
        inner = embedder(model)
        return KeptVectors(inner, space=fingerprint(model), file=kept) if kept else inner

    while embed_pending(vault.pk, most_seconds=60, backend_of=backend_of).left:
        print(".", end="", flush=True, file=sys.stderr)
    embedded = time.monotonic()
    print(
        f"{vault.slug}: sync {synced - started:.0f} s, embed {embedded - synced:.0f} s",
        file=sys.stderr,
    )
    return vault


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over one half of the queries."""

    mode: str
    part: str
    queries: int
    ndcg: float
    recall: float
    mrr: float
    p50: float
    p95: float

    def __str__(self) -> str:
        return (
            f"{self.mode:9} {self.part:5} {self.queries:5} queries  nDCG@10 {self.ndcg:.3f}  "
            f"recall@20 {self.recall:.3f}  MRR@10 {self.mrr:.3f}  "
            f"p50 {self.p50:.0f} ms, p95 {self.p95:.0f} ms"
        )


def evaluate(
    vault: Any,
    queries: list[dict[str, Any]],
    relevant: dict[str, dict[str, float]],
    *,
    mode: str,
    fusion: str,
) -> list[Figures]:
    """Search for every query as the search page does, for those of a conversation as chat does;
    figures for dev and for test."""
    from retrieval.core.metrics import part_of, score
    from retrieval.core.types import Mode
    from retrieval.models import RetrievalSettings
    from vault.core.types import Scope

    before = RetrievalSettings.objects.filter(pk=1).values("fusion").first()
    RetrievalSettings.objects.update_or_create(pk=1, defaults={"fusion": fusion})
    scope = Scope(user_id=0, vault_ids=(vault.pk,))
    scores: dict[str, list[tuple[float, float, float]]] = {"dev": [], "test": []}
    times = []
    for query in queries:
        started = time.monotonic()
        ask = found_in_chat if "in_chat" in query else found_on_page
        ranked = ask(query, scope=scope, mode=Mode(mode))
        times.append((time.monotonic() - started) * 1000)
        got = score(ranked, relevant[query["_id"]])
        scores[part_of(query["_id"])].append((got.ndcg_10, got.recall_20, got.mrr_10))
    if before:
        RetrievalSettings.objects.filter(pk=1).update(**before)
    times.sort()
    half, most = times[len(times) // 2], times[int(len(times) * 0.95)]
    return [
        Figures(mode, part, len(rows), *map(mean, zip(*rows, strict=True)), half, most)
        for part, rows in scores.items()
        if rows
    ]


def found_on_page(query: dict[str, Any], *, scope: Any, mode: Any) -> list[str]:
    """The paths that the search page shows for a query, best first; notes that say the same as a
    hit stand with it."""
    from asgiref.sync import async_to_sync

    from retrieval.search import search_notes

    found = async_to_sync(search_notes)(query["text"], scope=scope, mode=mode, limit=DEPTH)
    return [path for hit in found.hits for path in (hit.path, *(copy.path for copy in hit.also_in))]


def found_in_chat(query: dict[str, Any], *, scope: Any, mode: Any) -> list[str]:
    """The paths that chat's search ranks for the queries of a turn, best first: every character
    is a part of the question, and several queries are fused."""
    from dataclasses import replace

    from asgiref.sync import async_to_sync

    from retrieval.arms import search_queries
    from retrieval.core.fusion import best_per_note, fuse_queries
    from retrieval.core.query import parse_query
    from retrieval.facts import scope_facts
    from retrieval.options import site_knobs
    from vault.models import Note

    knobs = replace(site_knobs(), mode=mode, depth=DEPTH * site_knobs().overfetch)
    found = async_to_sync(search_queries)(
        [parse_query(text) for text in query["in_chat"]],
        scope=scope,
        facts=scope_facts(scope),
        knobs=knobs,
    )
    ranked = best_per_note(fuse_queries(found.lists, k=knobs.rrf_k))
    paths = dict(Note.objects.filter(pk__in=[c.note_id for c in ranked]).values_list("pk", "path"))
    return [paths[candidate.note_id] for candidate in ranked[:DEPTH]]


def digest(text: str) -> str:
    return hashlib.sha1(text.encode()).hexdigest()


if __name__ == "__main__":
    main()
