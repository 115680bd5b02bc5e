"""How fast search is at each size, beside its bare parts, and how much it misses.

    DATA_DIR=FOLDER python benchmarks/retrieval_speed.py [10k 100k 150k scopes 1m]
        [--queries 200] [--drop]

Makes installations of made-up text and vectors that cost what real ones do (speed_text.py,
speed_vectors.py), each in a database of its own on the server of FOLDER, where they stay:
the first run takes an hour and 20 GB, the next one some minutes. Prints:

- for each size the hybrid search of one question, as the product runs it but for embedding
  the question: first reading what nobody asked for before, then, after WARM_UP others, in the
  steady state of a server that runs for a while, beside a bare vector scan by the index and a
  bare full-text query; the ratio of its p95 to the sum of theirs, and how p95 grows from
  100,000 to 1,000,000 passages;
- how much of an exact BM25 over all rows the keyword arm finds (100,000 passages);
- for each size, and for scopes from 40 notes to all of 200,000 passages, how many of the ten
  nearest the vector arm finds against an exact scan, by which path, and what it takes;
- the same, and what a hybrid search takes, where filters let a part of a large index through.

For quality such data says nothing: that is retrieval_quality.py.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from retrieval_quality import start_django
from speed_installations import INSTALLATIONS, Installation, drop, installation
from speed_text import question_in
from speed_vectors import Cloud

DEPTH = 50
TOP = 10
# An exact BM25 reads most rows: a question takes half a second.
EXACT_QUERIES = 40
# Vectors of an index beyond which signs are kept.
LARGE = 100_000
# Searches after which what most questions need is in memory.
WARM_UP = 200
# Filters that let a fiftieth, a fifth and four fifths of the notes of a vault of 5,000 through.
NARROWING = ("path:0000", "path:000", "-path:000")


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of the vaults `vault_ids`: text, and its vector float32 (384,); of the notes
    that `filters` let through."""

    text: str
    vector: Any
    vault_ids: tuple[int, ...]
    filters: str = ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sizes", nargs="*", metavar="SIZE", default=list(INSTALLATIONS))
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--drop", action="store_true", help="remove these installations")
    options = parser.parse_args()
    start_django()
    if options.drop:
        for name in options.sizes:
            drop(name)
        return
    p95 = {}
    for name in options.sizes:
        place = installation(name)
        print(f"\n{name}: {sum(INSTALLATIONS[name]):,} passages in {len(place.vaults)} vaults")
        read_signs(place)
        if name == "scopes":
            for count in range(1, len(place.vaults) + 1):
                recall(place, place.vaults[:count], options.queries)
            for vault in place.vaults[1:]:
                recall(place, (vault,), options.queries)
        else:
            p95[name] = speed(place, options.queries)
            recall(place, place.vaults, options.queries)
            narrowed(place, options.queries)
        if name == "100k":
            keywords(place, questions(place, place.vaults, EXACT_QUERIES))
    if {"100k", "1m"} <= p95.keys():
        for state, least in p95["100k"].items():
            times = p95["1m"][state] / least
            print(f"\np95 at 1,000,000 passages, {state}: {times:.2f} times that at 100,000")


def read_signs(place: Installation) -> None:
    """Keep the signs of all vectors, as the first search has done by a thread of its own."""
    from retrieval.near_passages import keep_passages

    if sum(INSTALLATIONS[place.name]) <= LARGE:
        return
    started, own = time.perf_counter(), time.process_time()
    keep_passages(place.model, [vault.pk for vault in place.vaults])
    own, took = time.process_time() - own, time.perf_counter() - started
    print(f"signs read in {took:.1f} s, {own:.1f} s of them in this process")


def questions(place: Installation, vaults: Sequence[Any], count: int) -> list[Question]:
    """Always the same ones, each about a passage of `vaults`."""
    from vault.models import Chunk, ChunkVector

    ids = tuple(vault.pk for vault in vaults)
    cloud, dice = Cloud(sum(INSTALLATIONS[place.name]), seed=2), np.random.default_rng(3)
    everything = Chunk.objects.filter(vault_id__in=ids).order_by("pk").values_list("pk", flat=True)
    known = list(everything)
    asked = []
    for pk in dice.choice(known, size=count):
        vector = ChunkVector.objects.get(chunk_id=pk, embedding_model=place.model).vector
        text = question_in(Chunk.objects.get(pk=pk).content, dice)
        asked.append(Question(text, cloud.question(vector.astype(np.float32)), ids))
    return asked


PARTS = ("bare vector scan", "bare full text", "hybrid")


def speed(place: Installation, count: int) -> dict[str, float]:
    """Print what the search and its parts take; returns the p95 of the search in ms, at the
    first reading and in steady state.

    Each question goes through all parts before the next one comes, so that a busy moment of
    the machine meets all of them.
    """
    asked = questions(place, place.vaults, 3 * count + WARM_UP)
    parts = dict(zip(PARTS, (bare_vectors, bare_text, hybrid), strict=True))
    # The first search of a process also reads what it keeps, and makes its plan.
    hybrid(place, asked[-1])
    first = [timed(hybrid, place, question) for question in asked[:count]]
    p95 = {"first reading": told("first reading", first)}
    for question in asked[count : -2 * count]:
        hybrid(place, question)
    # Apart, since a bare full-text query of a million drives what the search needs from memory.
    steady = [timed(hybrid, place, question) for question in asked[-2 * count : -count]]
    p95["steady state"] = told("steady state", steady)
    took: dict[str, list[Took]] = {name: [] for name in parts}
    for question in asked[-count:]:
        for name, part in parts.items():
            took[name].append(timed(part, place, question))
    clock = {name: told(name, each) for name, each in took.items()}
    bare = clock["bare vector scan"] + clock["bare full text"]
    print(f"hybrid is {clock['hybrid'] / bare:.2f} times the sum of its bare parts (p95)")
    return p95


def told(name: str, took: Sequence[Took]) -> float:
    """Print the percentiles; returns the p95 by the clock, in ms."""
    clock, work = [each.clock for each in took], [each.work for each in took]
    print(
        f"{name:17} p50 {percentile(clock, 50):7.1f} ms   "
        f"p95 {percentile(clock, 95):7.1f} ms   "
        f"processor {percentile(work, 50):7.1f} / {percentile(work, 95):7.1f} ms",
        flush=True,
    )
    return percentile(clock, 95)


@dataclass(frozen=True, slots=True)
class Took:
    """Milliseconds by the clock, and of processor time in this process and its server.

    On a busy machine the second is the one to compare.
    """

    clock: float
    work: float


def timed(part: Callable[[Installation, Question], Any], *arguments: Any) -> Took:
    clock, own, server = time.perf_counter(), time.process_time(), server_work()
    part(*arguments)
    server = server_work() - server
    own = time.process_time() - own
    return Took((time.perf_counter() - clock) * 1000, own * 1000 + server)


def server_work() -> float:
    """Processor time of the server's process, in ms; 0 where the system does not tell."""
    from django.db import connection

    place = Path(f"/proc/{connection.connection.info.backend_pid}/schedstat")
    return int(place.read_text().split()[0]) / 1e6 if place.exists() else 0.0


def percentile(values: Sequence[float], share: int) -> float:
    return float(np.percentile(values, share))


def bare_vectors(place: Installation, question: Question) -> list[int]:
    """The fifty nearest by the index, with the settings of the product."""
    from django.db import connection, transaction

    from retrieval.core.types import EF_SEARCH
    from vault.fields import vector_literal
    from vault.vector_index import model_condition, vector_cast, vector_expression

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"SET LOCAL hnsw.ef_search = {EF_SEARCH}; SET LOCAL hnsw.iterative_scan = relaxed_order"
        )
        cursor.execute(
            f"SELECT v.chunk_id FROM vault_chunkvector v "
            f"WHERE {model_condition(place.model, table='v')} AND v.vault_id = ANY(%s) "
            f"ORDER BY {vector_expression(place.model, table='v')} <=> "
            f"%s::{vector_cast(place.model)} LIMIT {DEPTH}",
            [list(question.vault_ids), vector_literal(question.vector)],
        )
        return [row[0] for row in cursor.fetchall()]


def bare_text(_place: Installation, question: Question) -> None:
    """The fifty best of any word by ts_rank, as the manual of PostgreSQL has it."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.id FROM vault_chunk c, "
            "to_tsquery('english', array_to_string(%s::text[], ' | ')) AS query "
            "WHERE c.tsv @@ query AND c.vault_id = ANY(%s) "
            f"ORDER BY ts_rank(c.tsv, query) DESC LIMIT {DEPTH}",
            [question.text.split(), list(question.vault_ids)],
        )
        cursor.fetchall()


def hybrid(place: Installation, question: Question) -> Any:
    from retrieval.core.types import Knobs

    return found(place, question, knobs=Knobs(depth=DEPTH))


def found(place: Installation, question: Question, *, knobs: Any) -> Any:
    """What the product does for a question whose vector is known."""
    from retrieval.core.query import parse_query
    from retrieval.facts import scope_facts
    from retrieval.meaning import VectorArm
    from retrieval.statements import run_search
    from vault.core.types import Scope

    scope = Scope(user_id=0, vault_ids=question.vault_ids)
    facts = scope_facts(scope)
    arms = [VectorArm(place.model, scope.vault_ids, query=question.vector)]
    return run_search(
        replace(parse_query(question.text), filters=filters_of(question)),
        scope=scope,
        facts=facts,
        knobs=knobs,
        vectors=arms,
    )


def filters_of(question: Question) -> Any:
    from retrieval.core.query import parse_query

    return parse_query(question.filters, operators=True).filters


def keywords(place: Installation, asked: Sequence[Question]) -> None:
    """Print how much of exact BM25 over all rows the keyword arm finds."""
    from retrieval.core.types import Knobs, Mode

    shares: dict[int, list[float]] = {TOP: [], DEPTH: []}
    for question in asked:
        rows = found(place, question, knobs=Knobs(depth=DEPTH, mode=Mode.KEYWORD))
        ranked = sorted(rows.candidates, key=lambda row: row.lexical_rank or DEPTH + 1)
        best = exact_bm25(question, rows.terms)
        for most, each in shares.items():
            own = {row.chunk_id for row in ranked[:most] if row.lexical_rank}
            each.append(len(own & set(best[:most])) / max(1, len(best[:most])))
    print(
        f"keyword arm beside exact BM25: {mean(shares[TOP]):.3f} of its best {TOP}, "
        f"{mean(shares[DEPTH]):.3f} of its best {DEPTH}"
    )


_EXACT_BM25 = """
WITH corpus AS (
    SELECT sum(chunks)::float AS chunks,
        sum(chunks * average_length) / sum(chunks) AS average_length
    FROM vault_lexicalcorpus WHERE vault_id = ANY(%(vaults)s)
), terms AS (
    SELECT f.lexeme, ln(1 + (corpus.chunks - sum(f.chunks) + 0.5) / (sum(f.chunks) + 0.5)) AS idf
    FROM vault_lexemefrequency f CROSS JOIN corpus
    WHERE f.lexeme = ANY(%(terms)s) AND f.vault_id = ANY(%(vaults)s)
    GROUP BY f.lexeme, corpus.chunks
), words AS (
    SELECT c.id, each.lexeme, cardinality(each.positions)::float AS tf,
        sum(cardinality(each.positions)) OVER (PARTITION BY c.id)::float AS length
    FROM vault_chunk c CROSS JOIN LATERAL unnest(c.tsv) AS each
    WHERE c.vault_id = ANY(%(vaults)s) AND c.tsv @@ (
        SELECT string_agg('''' || lexeme || '''', ' | ')::tsquery FROM terms)
)
SELECT id FROM words JOIN terms USING (lexeme) CROSS JOIN corpus GROUP BY id
ORDER BY sum(idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * length / average_length))) DESC, id
LIMIT %(limit)s"""


def exact_bm25(question: Question, terms: Sequence[str]) -> list[int]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            _EXACT_BM25,
            {"terms": list(terms), "vaults": list(question.vault_ids), "limit": DEPTH},
        )
        return [row[0] for row in cursor.fetchall()]


def narrowed(place: Installation, count: int) -> None:
    """The same where filters let a part through, in an index that is large."""
    for filters in NARROWING if sum(INSTALLATIONS[place.name]) > LARGE else ():
        recall(place, place.vaults, count, filters=filters)


def recall(place: Installation, vaults: Sequence[Any], count: int, *, filters: str = "") -> None:
    """Print how many of the ten nearest a scope of `vaults` finds, and with `filters` what both
    arms take."""
    from retrieval.core.types import Knobs, Mode
    from retrieval.facts import scope_facts
    from vault.core.types import Scope

    knobs = replace(Knobs(depth=DEPTH), mode=Mode.SEMANTIC)
    facts = scope_facts(Scope(user_id=0, vault_ids=tuple(vault.pk for vault in vaults)))
    shares, times, path = [], [], ""
    asked = [replace(each, filters=filters) for each in questions(place, vaults, count // 2)]
    for question in asked:
        best = exact(place, question)
        if not best:
            continue
        started = time.perf_counter()
        outcome = found(place, question, knobs=knobs)
        rows = outcome.candidates
        path = "signs" if outcome.by_signs else "exact" if facts.is_small else "index"
        times.append((time.perf_counter() - started) * 1000)
        near = [row.chunk_id for row in sorted(rows, key=lambda row: row.vector_rank)][:TOP]
        shares.append(len(set(best) & set(near)) / len(best))
    if not shares:
        return
    sizes = dict(zip([vault.pk for vault in place.vaults], INSTALLATIONS[place.name], strict=True))
    print(
        f"{sum(sizes[vault.pk] for vault in vaults):>7,} passages in {len(vaults)} vaults, "
        f"{path}{filters and ', '}{filters}: recall@{TOP} {mean(shares):.3f}, "
        f"p50 {percentile(times, 50):.1f} ms, p95 {percentile(times, 95):.1f} ms",
        flush=True,
    )
    if filters:
        told(f"hybrid, {filters}", [timed(hybrid, place, question) for question in asked])


def exact(place: Installation, question: Question) -> list[int]:
    from django.db import connection

    from retrieval.filters import note_condition
    from vault.core.types import Scope
    from vault.fields import vector_literal
    from vault.vector_index import vector_cast, vector_expression

    allowed, values = note_condition(filters_of(question), Scope(0, question.vault_ids))
    values |= {
        "model": place.model.pk,
        "vaults": list(question.vault_ids),
        "vector": vector_literal(question.vector),
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT v.chunk_id FROM vault_chunkvector v WHERE v.embedding_model_id = %(model)s "
            "AND v.vault_id = ANY(%(vaults)s) AND v.chunk_id IN (SELECT c.id FROM vault_chunk c "
            f"JOIN vault_note n ON n.id = c.note_id WHERE {allowed}) "
            f"ORDER BY ({vector_expression(place.model, table='v')} <=> "
            f"%(vector)s::{vector_cast(place.model)}) + 0, v.chunk_id LIMIT {TOP}",
            values,
        )
        return [row[0] for row in cursor.fetchall()]


if __name__ == "__main__":
    main()
