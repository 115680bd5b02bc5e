"""Collections in BEIR layout, evaluated through the whole product in a throw-away vault.

A collection is a folder with `corpus.jsonl` (`_id`, `title`, `text`) or a folder `notes/`,
`queries.jsonl` (`_id`, `text`, `metadata`) and `qrels.tsv` (here or one folder up). Each
document becomes a note that is read, cut and embedded as any other. The vault has no
members, so nobody sees it, and it is gone afterwards.
"""

from __future__ import annotations

import json
import secrets
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from providers.core.language import language_of
from providers.registry import default_embedding_model
from retrieval.core.metrics import part_of
from retrieval.evaluation import Asked
from vault.embedding import embed_pending
from vault.lexemes import refresh_lexemes
from vault.locks import Busy
from vault.models import Vault
from vault.sync import sync_vault
from vault.vector_index import fit_index

SLUG = "evaluation-"
# Files in one folder: listing stays quick.
_FOLDER = 500
_SLICE = 20.0
_BUSY = 0.5
_CLASSES = ("class", "direction", "kind", "form", "domain")

Tell = Callable[[str, int, int], None]


class Unreadable(ValueError):
    """A folder that is no collection; `str()` says which file and line, and why."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Questions with the grade of every relevant document, and where the documents are."""

    folders: tuple[Path, ...]
    questions: tuple[Asked, ...]

    def part(self, name: str) -> tuple[Asked, ...]:
        """The questions of "dev" or "test"."""
        return tuple(each for each in self.questions if part_of(each.key) == name)


def read_collection(folders: Sequence[Path]) -> Collection:
    """The questions of the first folder, judged by document id. Raises Unreadable.

    Several folders are one collection: translations of one corpus, in which every
    translation of a relevant document is relevant.
    """
    first = folders[0]
    judged = _judgements(first)
    questions = [
        Asked(
            key=str(row["_id"]),
            text=str(row["text"]),
            relevant=judged[str(row["_id"])],
            question_class=_class_of(row),
            language=str(row.get("metadata", {}).get("lang") or language_of(str(row["text"]))),
        )
        for row in _rows(first / "queries.jsonl", wanted=("_id", "text"))
        if judged.get(str(row["_id"]))
    ]
    if not questions:
        raise Unreadable(f"{first}: no question of queries.jsonl is judged in qrels.tsv.")
    return Collection(tuple(folders), tuple(questions))


@contextmanager
def throw_away_vault(
    collection: Collection, *, documents: int = 0, tell: Tell | None = None
) -> Iterator[tuple[Vault, tuple[Asked, ...]]]:
    """A vault of the collection's documents while the block runs, and the questions with
    the paths of its notes.

    `documents`: about so many, those that the questions are judged by among them; 0: all.
    What an earlier evaluation left behind when it was killed is cleared away first.
    """
    clear_leftovers()
    with tempfile.TemporaryDirectory(prefix="secondbrain-evaluation-") as place:
        paths = _write_all(collection, Path(place), documents)
        vault = Vault.objects.create(
            slug=f"{SLUG}{secrets.token_hex(4)}",
            name="Evaluation",
            place=place,
            embedding_model=default_embedding_model(),
            largest_note_kb=100_000,
        )
        try:
            _index(vault, tell or _silent)
            yield vault, tuple(_by_path(question, paths) for question in collection.questions)
        finally:
            _remove(vault)


def clear_leftovers() -> int:
    """Delete vaults whose evaluation was killed: their folder is gone. Returns how many."""
    left = [
        vault
        for vault in Vault.objects.filter(slug__startswith=SLUG, members=None)
        if not Path(vault.place).is_dir()
    ]
    for vault in left:
        vault.delete()
    return len(left)


def _index(vault: Vault, tell: Tell) -> None:
    while True:
        try:
            run = sync_vault(vault.pk, on_progress=lambda p: tell(p.stage, p.done, p.total))
        except Busy:
            time.sleep(_BUSY)  # the worker's scan is at it: go on when it is done
            continue
        if not run.counts.get("left") and not run.counts.get("busy"):
            break
        time.sleep(_BUSY)
    refresh_lexemes(force=True)
    while vault.embedding_model is not None:
        try:
            progress = embed_pending(
                vault.pk,
                most_seconds=_SLICE,
                on_progress=lambda p: tell("embed", p.embedded, p.embedded + p.left),
            )
        except Busy:
            time.sleep(_BUSY)
            continue
        if not progress.left:
            fit_index(vault.embedding_model)
            break


def _silent(text: str, done: int, total: int) -> None:
    """Nobody watches."""


def _remove(vault: Vault) -> None:
    model = vault.embedding_model
    vault.delete()
    # Words and vectors of the collection must not weigh in anybody's search.
    refresh_lexemes(force=True)
    if model is not None:
        fit_index(model)


def _write_all(collection: Collection, place: Path, documents: int) -> dict[str, list[str]]:
    """Write every document as a note; the paths of each document id."""
    judged = {document for each in collection.questions for document in each.relevant}
    paths: dict[str, list[str]] = defaultdict(list)
    for number, folder in enumerate(collection.folders):
        others = max(0, documents - len(judged)) if documents else None
        under = place / f"{number}-{folder.name}"
        for document, path, data in _documents(folder):
            if document not in judged and others is not None:
                if others == 0:
                    continue
                others -= 1
            file = under / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
            paths[document].append(file.relative_to(place).as_posix())
    return paths


def _documents(folder: Path) -> Iterator[tuple[str, str, bytes]]:
    """(id, path, file) of each document of a folder."""
    notes = folder / "notes"
    if notes.is_dir():
        for source in sorted(notes.rglob("*.md")):
            document = source.relative_to(notes).as_posix()
            yield document, document, source.read_bytes()
        return
    rows = _rows(folder / "corpus.jsonl", wanted=("_id", "text"))
    for number, row in enumerate(rows):
        header = json.dumps({"title": row.get("title") or " "}, ensure_ascii=False)
        text = f"---\n{header}\n---\n{row['text']}\n"
        yield str(row["_id"]), f"{number // _FOLDER:03}/{number:06}.md", text.encode()


def _by_path(question: Asked, paths: dict[str, list[str]]) -> Asked:
    relevant = {
        path: grade
        for document, grade in question.relevant.items()
        for path in paths.get(document, ())
    }
    return Asked(question.key, question.text, relevant, question.question_class, question.language)


def _judgements(folder: Path) -> dict[str, dict[str, float]]:
    """For each question id the grade of every relevant document."""
    places = (folder / "qrels.tsv", folder.parent / "qrels.tsv")
    place = next((path for path in places if path.is_file()), None)
    if place is None:
        raise Unreadable(f"{folder}: there is no qrels.tsv, here or one folder up.")
    judged: dict[str, dict[str, float]] = defaultdict(dict)
    for number, line in enumerate(place.read_text(encoding="utf-8").splitlines(), 1):
        parts = line.split("\t")
        if number == 1 or not line.strip():
            continue
        try:
            query, document, grade = parts[0], parts[1], float(parts[2])
        except (IndexError, ValueError):
            raise Unreadable(
                f"{place}, line {number}: three columns with tabs between are wanted: "
                "question id, document id, grade."
            ) from None
        if grade > 0:
            judged[query][document] = grade
    return judged


def _rows(file: Path, *, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, one a line, each with the keys of `wanted`."""
    if not file.is_file():
        raise Unreadable(f"{file} is missing.")
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            raise Unreadable(f"{file}, line {number}: this is no JSON.") from None
        if not isinstance(row, dict) or any(name not in row for name in wanted):
            raise Unreadable(f"{file}, line {number}: {' and '.join(wanted)} are wanted.")
        yield row


def _class_of(row: dict[str, Any]) -> str:
    """What kind of question the metadata say it is."""
    metadata = row.get("metadata") or {}
    return next((str(metadata[name]) for name in _CLASSES if metadata.get(name)), "")
