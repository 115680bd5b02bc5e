"""What an agent pays for an answer: a search and the sentences around a hit, against notes.

    python benchmarks/agent_tokens.py FOLDER ANSWERS

FOLDER is a vault, or a set in BEIR layout whose documents with one title become one note.
ANSWERS is a table of two columns with a header: a question (of a set: its id) and the words
that answer it, as they stand in the note. The folder becomes a throw-away vault of this
database. For each question whose note is among five hits, in estimated tokens: the reply to
the search, the window around the first hit in that note, its section, the whole note; and
whether the answer is in what was read.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


@dataclass(frozen=True)
class Row:
    """Tokens of each way to read, and whether the answer stands in it. `found`: all notes of
    the search, read whole."""

    search: int
    found: int
    window: int
    section: int
    note: int
    in_search: bool
    in_window: bool
    in_section: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("answers", type=Path)
    options = parser.parse_args()
    start_django()
    from django.contrib.auth import get_user_model

    from vault.models import Vault

    asked = answers_of(options.folder, options.answers)
    name = f"tokens-{os.getpid()}"
    user = get_user_model().objects.create_user(name, f"{name}@example.com", "x" * 20)
    with notes_of(options.folder) as folder:
        vault = build_vault(folder, name, user)
    try:
        report(len(asked), rows_of(vault, user, asked))
    finally:
        Vault.objects.filter(pk=vault.pk).delete()
        user.delete()


def start_django() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "secondbrain.settings")
    os.environ.setdefault("LOG_LEVEL", "ERROR")
    from secondbrain.embedded import ensure_database

    ensure_database()
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)


def answers_of(folder: Path, table: Path) -> list[tuple[str, str]]:
    """(question, answer) rows; ids of a set are replaced by its questions."""
    with table.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines, delimiter="\t"))[1:]
    queries = folder / "queries.jsonl"
    if not queries.exists():
        return [(row[0], row[1]) for row in rows]
    texts = {row["_id"]: row["text"] for row in read_jsonl(queries)}
    return [(texts[row[0]], row[1]) for row in rows]


@contextmanager
def notes_of(folder: Path) -> Iterator[Path]:
    """`folder`, or a folder with one note for each title of a set: its documents joined."""
    corpus = folder / "corpus.jsonl"
    if not corpus.exists():
        yield folder
        return
    joined: dict[str, list[str]] = {}
    for row in read_jsonl(corpus):
        joined.setdefault(row["title"], []).append(row["text"])
    with tempfile.TemporaryDirectory() as made:
        for number, (title, texts) in enumerate(sorted(joined.items())):
            body = "\n\n".join([f"# {title}", *texts])
            Path(made, f"{number:03}.md").write_text(f"{body}\n", encoding="utf-8")
        yield Path(made)


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def build_vault(folder: Path, slug: str, user: Any) -> Any:
    from providers.presets import load_presets
    from vault.adding import add_vault, place_of
    from vault.embedding import embed_pending
    from vault.lexemes import refresh_lexemes
    from vault.sync import sync_vault

    load_presets()
    vault, _made = add_vault(place_of(folder), slug=slug, owner=user)
    sync_vault(vault.pk)
    refresh_lexemes(force=True)
    while embed_pending(vault.pk, most_seconds=60).left:
        pass
    return vault


def rows_of(vault: Any, user: Any, asked: list[tuple[str, str]]) -> list[Row]:
    """A row for each question that found a note with its answer."""
    from asgiref.sync import async_to_sync

    from secondbrain.mcp_tools import Agent, call_tool
    from vault.core.tokens import estimate_tokens
    from vault.models import Note
    from vault.tokens import create_token, find_token

    token = find_token(create_token(user))
    assert token is not None
    agent = Agent(user_id=user.pk, token_id=token.pk)
    call = async_to_sync(call_tool)
    bodies = dict(Note.objects.filter(vault=vault).values_list("pk", "body"))
    sizes = {pk: estimate_tokens(body) for pk, body in bodies.items()}
    rows = []
    for question, answer in asked:
        if not any(answer in body for body in bodies.values()):
            raise SystemExit(f"No note says “{answer}”, the answer to “{question}”.")
        found = call(agent, "search", {"query": question, "vaults": [vault.slug]})
        for hit in found["results"]:
            if answer in bodies[note_id(hit)]:
                window = call(agent, "get_section", {"section": hit["section"], "around": True})
                section = call(agent, "get_section", {"section": hit["section"]})
                rows.append(
                    Row(
                        search=found["tokens"],
                        found=sum(sizes[note_id(each)] for each in found["results"]),
                        window=window["tokens"],
                        section=section["tokens"],
                        note=sizes[note_id(hit)],
                        in_search=is_said(answer, found),
                        in_window=answer in window["text"],
                        in_section=answer in section["text"],
                    )
                )
                break
    return rows


def note_id(hit: dict[str, Any]) -> int:
    return int(hit["section"].split("@")[0])


def is_said(answer: str, found: dict[str, Any]) -> bool:
    """Whether a snippet of the search says `answer`."""
    from retrieval.core.snippets import plain_text

    return plain_text(answer) in " ".join(hit["snippet"] for hit in found["results"])


def report(asked: int, rows: list[Row]) -> None:
    print(f"{asked} questions, the note found for {len(rows)}; medians of those, in tokens")
    for name in ("search", "window", "section", "note", "found"):
        print(f"{name:8} {median(getattr(row, name) for row in rows):7.0f}")
    for name in ("search", "window", "section"):
        held = sum(getattr(row, f"in_{name}") for row in rows)
        print(f"answer in the {name:8} {held / len(rows):6.1%}")
    print(f"window / note                    {median(r.window / r.note for r in rows):.3f}")
    both = [r.search + r.window for r in rows]
    all_found = median(cost / r.found for cost, r in zip(both, rows, strict=True))
    one_note = median(cost / (r.search + r.note) for cost, r in zip(both, rows, strict=True))
    print(f"search and window / notes found  {all_found:.3f}")
    print(f"search and window / and note     {one_note:.3f}")


if __name__ == "__main__":
    main()
