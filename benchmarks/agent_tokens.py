"""What an agent pays for an answer: pointers and one section, against whole notes.

    python benchmarks/agent_tokens.py FOLDER

FOLDER is a vault with golden questions. It becomes a throw-away vault of this database. For
each question whose note is among five hits, in estimated tokens: the section that the first
pointer into an expected note leads to, the search before it, and the whole note.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    start_django()
    from django.contrib.auth import get_user_model

    from vault.models import Vault

    name = f"tokens-{os.getpid()}"
    user = get_user_model().objects.create_user(name, f"{name}@example.com", "x" * 20)
    vault = build_vault(options.folder, name, user)
    try:
        report(rows_of(vault, user))
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


def rows_of(vault: Any, user: Any) -> list[tuple[int, int, int]]:
    """(section, search, whole note) in tokens for each question that was found."""
    from asgiref.sync import async_to_sync

    from retrieval.evaluation import questions_of, read_golden_notes
    from secondbrain.mcp_tools import Agent, call_tool
    from vault.core.tokens import estimate_tokens
    from vault.models import Note
    from vault.tokens import create_token, find_token

    token = find_token(create_token(user))
    assert token is not None
    agent = Agent(user_id=user.pk, token_id=token.pk)
    call = async_to_sync(call_tool)
    read_golden_notes(vault)
    rows = []
    for question in questions_of(vault):
        found = call(agent, "search", {"query": question.text, "vaults": [vault.slug]})
        for hit in found["results"]:
            note = Note.objects.get(pk=int(hit["section"].split("#")[0]))
            if note.path in question.relevant:
                section = call(agent, "get_section", {"section": hit["section"]})
                rows.append((section["tokens"], found["tokens"], estimate_tokens(note.body)))
                break
    return rows


def report(rows: list[tuple[int, int, int]]) -> None:
    sections, searches, wholes = zip(*rows, strict=True)
    print(f"{len(rows)} questions found")
    print(f"section     median {median(sections):7.0f} tokens")
    print(f"search      median {median(searches):7.0f} tokens")
    print(f"whole note  median {median(wholes):7.0f} tokens")
    print(f"section / whole note, median of ratios {median(s / w for s, _f, w in rows):.3f}")


if __name__ == "__main__":
    main()
