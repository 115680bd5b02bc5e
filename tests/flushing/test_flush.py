"""The tables after a test that commits: empty, but for what migrate filled."""

from __future__ import annotations

import secrets

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection

from chat.models import PromptPreset
from tests.cast import make_cast
from tests.flushing.management.commands.flush import SMALL, filled_tables
from tests.retrieval.library import write_note
from vault.models import Note

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("letters", [10, 2 * SMALL], ids=["small", "grown"])
def test_whatever_a_test_committed_is_gone_and_what_migrate_made_stays(letters: int) -> None:
    before = set(Permission.objects.values_list("pk", flat=True))
    presets = list(PromptPreset.objects.order_by("pk").values())
    assert [preset["owner_id"] for preset in presets] == [None] * 4
    kinds = ContentType.objects.count()
    with connection.cursor() as cursor:  # rows that other tests rolled back take room too
        cursor.execute(f"TRUNCATE {Note._meta.db_table} CASCADE")
    cast = make_cast()
    PromptPreset.objects.first().delete()  # type: ignore[union-attr]
    PromptPreset.objects.create(name="mine", text="?", owner=cast.owner)
    write_note(cast.vault, "a.md", "The pump.")
    Note.objects.update(body=secrets.token_hex(letters))
    assert (filled_tables(connection)[Note._meta.db_table] > SMALL) == (letters > SMALL)
    call_command("flush", interactive=False, verbosity=0)
    assert filled_tables(connection).keys() == {PromptPreset._meta.db_table}
    assert list(PromptPreset.objects.order_by("pk").values()) == presets
    assert not User.objects.exists()
    assert set(Permission.objects.values_list("pk", flat=True)) == before
    assert ContentType.objects.count() == kinds > 0
