"""`manage.py search "question"`: the search page in a terminal."""

from __future__ import annotations

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from retrieval.core.standing import standing_words
from retrieval.core.types import Mode, SearchResult
from retrieval.forms import Given, Unreadable, read_asked
from retrieval.presenters.results import named_path, result_json
from retrieval.search import search_notes


class Command(BaseCommand):
    help = "Search notes with the rights of a user. Exit code 1: nothing found."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "query",
            help="any text; filters: path:Ops/ folder:Ops tag:project [status:draft] kind:code "
            'after:2026-01-31 before:2026-02-28 -word "exact words"',
        )
        parser.add_argument(
            "--vault", action="append", default=[], help="slug; may be repeated; default: all"
        )
        parser.add_argument("--mode", default="", help=f"{', '.join(Mode)}; default: {Mode.HYBRID}")
        parser.add_argument("--limit", default="", help="notes wanted, at most 100")
        parser.add_argument(
            "--user", default="", help="e-mail; default: the only superuser of this install"
        )
        parser.add_argument("--json", action="store_true", help="as GET /api/search gives it")

    def handle(self, *args: Any, **options: Any) -> None:
        user = _user(options["user"])
        try:
            asked = read_asked(
                user,
                Given(
                    query=options["query"],
                    mode=options["mode"],
                    slugs=options["vault"],
                    limit=options["limit"],
                ),
            )
        except Unreadable as error:
            named = "The query" if error.name == "q" else f"--{error.name}"
            raise CommandError(f"{named}: {error}", returncode=2) from error
        result = async_to_sync(search_notes)(
            asked.text, scope=asked.scope, mode=asked.mode, limit=asked.limit
        )
        if options["json"]:
            self.stdout.write(json.dumps(result_json(result), ensure_ascii=False, indent=2))
        else:
            self._print(result)
        if not result.hits:
            raise SystemExit(1)

    def _print(self, result: SearchResult) -> None:
        for hit in result.hits:
            self.stdout.write(f"{hit.rank:3} {named_path(hit)}  ({', '.join(hit.arms)})")
            self.stdout.write(f"    {hit.snippet}")
            if said := standing_words(hit.standing):
                self.stdout.write(f"    {said}")
            if hit.also_in:
                self.stdout.write(f"    also in: {', '.join(map(named_path, hit.also_in))}")
        for notice in result.notices:
            self.stderr.write(notice)


def _user(email: str) -> User:
    """Whose rights the search has. Raises CommandError that says whom one may name."""
    users = get_user_model().objects.filter(is_active=True)
    if email:
        named = users.filter(email__iexact=email).first()
        if named is None:
            raise CommandError(f"--user: no active user has the e-mail {email}.", returncode=2)
        return named
    admins = list(users.filter(is_superuser=True)[:2])
    if len(admins) != 1:
        raise CommandError(
            "--user: say whose rights the search has, by e-mail (there is "
            f"{'no superuser' if not admins else 'more than one superuser'}).",
            returncode=2,
        )
    return admins[0]
