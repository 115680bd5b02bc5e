"""manage.py create_token: a personal token for scripts."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from vault.tokens import create_token


class Command(BaseCommand):
    help = "Print a new token for “Authorization: Bearer …”. It is shown this once only."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="", help="What it is for.")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=options["email"], is_active=True).first()
        if user is None:
            raise CommandError(
                f"No active user has the e-mail address {options['email']}.", returncode=2
            )
        self.stdout.write(create_token(user, name=options["name"]))
