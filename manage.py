#!/usr/bin/env python
"""Command line of the product: every command starts here."""

from __future__ import annotations

import os
import sys

from secondbrain.embedded import ensure_database

# These only read code or build files: they need no database.
WITHOUT_DATABASE = {"help", "collectstatic", "compilemessages", "makemessages"}

# What PostgreSQL calls a table that is not there.
NO_TABLE = "42P01"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "secondbrain.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command not in WITHOUT_DATABASE and not {"-h", "--help"} & set(sys.argv):
        ensure_database()
    from django.core.management import execute_from_command_line
    from django.db.utils import ProgrammingError

    try:
        execute_from_command_line(sys.argv)
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", "") != NO_TABLE:
            raise
        sys.exit("The database has not all its tables: run manage.py migrate first.")


if __name__ == "__main__":
    main()
