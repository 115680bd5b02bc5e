"""What the terminal says while vaults are indexed."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from secondbrain.welcome import IndexProgress
from tests.cast import make_user, make_vault

pytestmark = pytest.mark.django_db


def test_a_vault_is_told_to_be_ready_once_for_each_number_of_notes() -> None:
    vault = make_vault("wiki", owner=make_user("owner"))
    told = StringIO()
    progress = IndexProgress(Console(file=told))
    for notes in (32, 32, 33, 33):
        progress.unfinished.add(vault.pk)
        progress._finish(vault, notes=notes)
    lines = told.getvalue().splitlines()
    assert [line.partition(": ")[2] for line in lines] == [
        "32 notes are ready.",
        "33 notes are ready.",
    ]
