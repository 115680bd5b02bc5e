"""manage.py add_vault: make a folder on this server, or a git repository, a vault."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from providers.models import EmbeddingModel
from providers.presets import load_presets
from vault.adding import CannotAdd, add_vault, place_of
from vault.tasks import request_sync


class Command(BaseCommand):
    help = "Make a folder on this server, or a git repository, a vault. It is only ever read."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "place", metavar="FOLDER", help="A folder here, or the https address of a repository."
        )
        parser.add_argument("--slug", default="", help="Name in addresses; default: folder name.")
        parser.add_argument("--branch", default="", help="Of a repository; default: its own.")
        parser.add_argument(
            "--token-variable",
            default="",
            metavar="GIT_TOKEN_…",
            help="Environment variable that holds the token of a private repository.",
        )
        parser.add_argument("--name", default="", help="Name for people; default: folder name.")
        parser.add_argument(
            "--owner", default="", metavar="EMAIL", help="Default: the first administrator."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not EmbeddingModel.objects.exists():
            load_presets()
        owner = _owner(options["owner"])
        try:
            place = place_of(
                options["place"],
                branch=options["branch"],
                token_variable=options["token_variable"],
            )
            vault, created = add_vault(
                place, slug=options["slug"], name=options["name"], owner=owner
            )
        except CannotAdd as error:
            raise CommandError(str(error), returncode=2) from error
        request_sync(vault.pk)
        if owner is None:
            self.stderr.write("Nobody may read it yet: name an owner with --owner EMAIL.")
        if vault.embedding_model is None:
            self.stderr.write("No embedding model can be used here: keyword search only.")
        self.stdout.write(f"{vault.slug}\t{'added' if created else 'there already'}\t{vault.place}")


def _owner(email: str) -> User | None:
    if not email:
        return User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    user = User.objects.filter(email__iexact=email, is_active=True).first()
    if user is None:
        raise CommandError(f"--owner: no active user has the e-mail address {email}.", returncode=2)
    return user
