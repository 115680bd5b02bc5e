"""How fast search is beside its bare parts, and how much the vector index misses.

    python benchmarks/retrieval_speed.py [--chunks 150000] [--vaults 20] [--queries 40] [--keep]

Fills vaults with made-up text (words by a long-tailed law) and made-up vectors (noise
around 1,000 centres), straight by SQL: for speed that is as good as real text, for quality
it says nothing. Prints, from one run:

- the hybrid search of one query, as the product runs it but for embedding the question,
  beside a bare vector scan by the index and a bare full-text query, and the ratio of its
  p95 to the sum of theirs;
- for scopes from 40 chunks to all of them, how many of the ten nearest the vector arm
  finds (against an exact scan), by which path, and what it takes.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from retrieval_quality import start_django

WORDS = 50_000
CENTRES = 1_000
SMALL = 40
DIMENSIONS = 384
DEPTH = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=150_000)
    parser.add_argument("--vaults", type=int, default=20)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--keep", action="store_true", help="leave the vaults in the database")
    options = parser.parse_args()
    start_django()
    from vault.models import Vault

    model = make_model()
    try:
        vaults = fill(model, options)
        asked = questions(model, vaults, options.queries)
        print(f"{options.chunks:,} chunks in {options.vaults} vaults")
        speed(model, vaults, asked)
        for number in sorted({1, 2, 3, options.vaults // 2, options.vaults}):
            recall(model, vaults[:number], asked)
        recall(model, [Vault.objects.get(slug="speed-small")], asked)
    finally:
        if not options.keep:
            remove(model)


def make_model() -> Any:
    from providers.models import EmbeddingModel, Provider

    provider, _ = Provider.objects.get_or_create(
        slug="speed", defaults={"name": "Speed", "kind": "fake", "needs_key": False}
    )
    model, _ = EmbeddingModel.objects.get_or_create(
        provider=provider, name="speed", defaults={"dimensions": DIMENSIONS}
    )
    return model


def fill(model: Any, options: argparse.Namespace) -> list[Any]:
    """The vaults, their word counts and the vector index; what is there already is kept."""
    from django.db import connection

    from vault.lexemes import refresh_lexemes
    from vault.models import Vault
    from vault.vector_index import fit_index

    slugs = [f"speed-{number:02}" for number in range(options.vaults)]
    sizes = dict.fromkeys(slugs, options.chunks // options.vaults) | {"speed-small": SMALL}
    with connection.cursor() as cursor:
        cursor.execute("SELECT setseed(0.5)")
        cursor.execute(CENTRE_TABLE.format(centres=CENTRES, dimensions=DIMENSIONS))
        for slug, size in sizes.items():
            vault, is_new = Vault.objects.get_or_create(
                slug=slug, defaults={"name": slug, "place": "", "embedding_model": model}
            )
            if is_new:
                write(cursor, vault.pk, model, size)
    refresh_lexemes(force=True)
    started = time.monotonic()
    fit_index(model)
    print(f"index: {time.monotonic() - started:.0f} s", file=sys.stderr)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE vault_chunk, vault_chunkvector, vault_note")
    return [Vault.objects.get(slug=slug) for slug in slugs]


CENTRE_TABLE = """
CREATE TEMP TABLE speed_centres AS
SELECT n AS id, (SELECT array_agg(random() - 0.5 + 0 * n * g)
    FROM generate_series(1, {dimensions}) AS g)
    ::vector::halfvec AS centre
FROM generate_series(1, {centres}) AS n
"""


def write(cursor: Any, vault_id: int, model: Any, size: int) -> None:
    """`size` chunks, ten a note, each with its vector."""
    from vault.models import Chunk, Note
    from vault.staleness import fingerprint

    dice = random.Random(vault_id)
    notes = Note.objects.bulk_create(
        Note(
            vault_id=vault_id, path=f"{number:06}.md", title=f"Note {number}", content_hash="x",
            file_modified="2026-01-01T00:00Z", status=Note.Status.INDEXED,
        )
        for number in range((size + 9) // 10)
    )  # fmt: skip
    for start in range(0, len(notes), 200):
        Chunk.objects.bulk_create(
            Chunk(
                vault_id=vault_id, note=note, ordinal=ordinal, heading_path=[note.title],
                heading_text=note.title, content=words(dice, 60), start=0, end=1, start_line=1,
                end_line=1, tokens=80, embed_hash="x", text_config="english",
            )
            for place, note in enumerate(notes[start : start + 200], start)
            for ordinal in range(min(10, size - place * 10))
        )  # fmt: skip
    cursor.execute(
        "INSERT INTO vault_chunkvector (vault_id, chunk_id, embedding_model_id, embed_hash, "
        "fingerprint, vector) SELECT c.vault_id, c.id, %s, 'x', %s, k.centre + (SELECT "
        f"array_agg(random() - 0.5 + 0 * c.id * g) FROM generate_series(1, {DIMENSIONS}) AS g)"
        "::vector::halfvec FROM vault_chunk c JOIN speed_centres k ON k.id = 1 + "
        "(hashint8(c.id) & 1023) %% %s WHERE c.vault_id = %s",
        [model.pk, fingerprint(model), CENTRES, vault_id],
    )


def words(dice: random.Random, count: int) -> str:
    """Words whose frequency falls as in a language: half of them from the first hundred."""
    return " ".join(f"w{int(WORDS ** dice.random()):x}q" for _ in range(count))


def questions(model: Any, vaults: Sequence[Any], count: int) -> list[tuple[str, Any]]:
    """Six words and a vector near one of the passages, for each question."""
    from vault.models import ChunkVector

    dice, noise = random.Random(1), np.random.default_rng(1)
    rows = ChunkVector.objects.filter(embedding_model=model).order_by("embed_hash", "pk")
    total = rows.count()
    asked = []
    for _ in range(count):
        vector = np.asarray(rows[dice.randrange(total)].vector, dtype=np.float32)
        near = vector + noise.normal(0, 0.15, DIMENSIONS).astype(np.float32)
        asked.append((words(dice, 6), near / np.linalg.norm(near)))
    return asked


def speed(model: Any, vaults: Sequence[Any], asked: Sequence[tuple[str, Any]]) -> None:
    parts = {
        "bare vector scan": bare_vectors,
        "bare full text": bare_text,
        "hybrid": hybrid,
    }
    p95 = {}
    for name, part in parts.items():
        for text, vector in asked[:5]:
            part(model, vaults, text, vector)
        times = sorted(timed(part, model, vaults, text, vector) for text, vector in asked)
        p95[name] = times[int(len(times) * 0.95)]
        print(f"{name:17} p50 {times[len(times) // 2]:6.1f} ms   p95 {p95[name]:6.1f} ms")
    bare = p95["bare vector scan"] + p95["bare full text"]
    print(f"hybrid is {p95['hybrid'] / bare:.2f} times the sum of its bare parts (p95)")


def timed(part: Callable[..., Any], *arguments: Any) -> float:
    started = time.perf_counter()
    part(*arguments)
    return (time.perf_counter() - started) * 1000


def bare_vectors(model: Any, vaults: Sequence[Any], _text: str, vector: Any) -> list[int]:
    from django.db import connection, transaction

    from vault.fields import vector_literal
    from vault.vector_index import model_condition, vector_cast, vector_expression

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "SET LOCAL hnsw.ef_search = 200; SET LOCAL hnsw.iterative_scan = relaxed_order"
        )
        cursor.execute(
            f"SELECT v.chunk_id FROM vault_chunkvector v WHERE {model_condition(model, table='v')} "
            f"AND v.vault_id = ANY(%s) ORDER BY {vector_expression(model, table='v')} <=> "
            f"%s::{vector_cast(model)} LIMIT {DEPTH}",
            [[vault.pk for vault in vaults], vector_literal(vector)],
        )
        return [row[0] for row in cursor.fetchall()]


def bare_text(_model: Any, vaults: Sequence[Any], text: str, _vector: Any) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.id FROM vault_chunk c, to_tsquery('english', %s) AS query "
            "WHERE c.tsv @@ query AND c.vault_id = ANY(%s) "
            f"ORDER BY ts_rank(c.tsv, query) DESC LIMIT {DEPTH}",
            [" | ".join(text.split()), [vault.pk for vault in vaults]],
        )
        cursor.fetchall()


def hybrid(model: Any, vaults: Sequence[Any], text: str, vector: Any) -> Any:
    from retrieval.core.types import Knobs

    return found(model, vaults, text, vector, knobs=Knobs(depth=DEPTH))


def found(model: Any, vaults: Sequence[Any], text: str, vector: Any, *, knobs: Any) -> Any:
    """What the product does for a query whose vector is known."""
    from retrieval.core.query import parse_query
    from retrieval.facts import scope_facts
    from retrieval.statements import VectorArm, run_search
    from vault.core.types import Scope

    scope = Scope(user_id=0, vault_ids=tuple(vault.pk for vault in vaults))
    facts = scope_facts(scope)
    arms = [VectorArm(model, scope.vault_ids, query=vector)]
    return run_search(parse_query(text), scope=scope, facts=facts, knobs=knobs, vectors=arms)


def recall(model: Any, vaults: Sequence[Any], asked: Sequence[tuple[str, Any]]) -> None:
    from retrieval.core.types import Knobs, Mode
    from retrieval.facts import scope_facts
    from vault.core.types import Scope

    knobs = replace(Knobs(depth=DEPTH), mode=Mode.SEMANTIC)
    facts = scope_facts(Scope(user_id=0, vault_ids=tuple(vault.pk for vault in vaults)))
    shares, times = [], []
    for text, vector in asked:
        best = exact(model, vaults, vector)
        started = time.perf_counter()
        rows = found(model, vaults, text, vector, knobs=knobs).candidates
        times.append((time.perf_counter() - started) * 1000)
        near = [c.chunk_id for c in sorted(rows, key=lambda c: c.vector_rank)][:10]
        shares.append(len(set(best) & set(near)) / len(best))
    path = "exact" if facts.is_small else "index"
    p95 = sorted(times)[int(len(times) * 0.95)]
    print(
        f"{len(vaults):3} vaults, {facts.chunks:>7,} chunks counted, {path}: "
        f"recall@10 {sum(shares) / len(shares):.3f}, p95 {p95:.1f} ms"
    )


def exact(model: Any, vaults: Sequence[Any], vector: Any) -> list[int]:
    from django.db import connection

    from vault.fields import vector_literal
    from vault.vector_index import vector_cast, vector_expression

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT v.chunk_id FROM vault_chunkvector v WHERE v.embedding_model_id = %s "
            f"AND v.vault_id = ANY(%s) ORDER BY ({vector_expression(model, table='v')} <=> "
            f"%s::{vector_cast(model)}) + 0, v.chunk_id LIMIT 10",
            [model.pk, [vault.pk for vault in vaults], vector_literal(vector)],
        )
        return [row[0] for row in cursor.fetchall()]


def remove(model: Any) -> None:
    from django.db import connection

    from vault.models import Vault
    from vault.vector_index import index_name

    for vault in Vault.objects.filter(slug__startswith="speed-"):
        vault.delete()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {index_name(model)}")
    model.provider.delete()


if __name__ == "__main__":
    main()
