"""What may be chosen for the next answer, in few words."""

from __future__ import annotations

import pytest

from chat.choosable import Choosable
from chat.presenters.page import choices_of
from tests.cast import Cast, make_vault
from tests.chat.pages import make_note
from tests.chat.world import make_model
from vault.models import Note

pytestmark = pytest.mark.django_db


def test_few_vaults_are_named_and_many_counted(cast: Cast) -> None:
    make_model("cite")
    make_vault("second", owner=cast.owner)
    make_vault("third", owner=cast.owner)
    assert choices_of(Choosable(cast.owner)).vaults_named == "All vaults"
    chosen = choices_of(Choosable(cast.owner), chosen=["second", "third"])
    assert chosen.vaults_named == "Second, Third"
    make_vault("fourth", owner=cast.owner)
    assert (
        choices_of(Choosable(cast.owner), chosen=["second", "third", "fourth"]).vaults_named
        == "3 vaults"
    )


def test_a_vault_says_how_many_of_its_notes_are_found(cast: Cast) -> None:
    make_model("cite")
    make_note(cast.vault, title="Pump")
    make_note(cast.vault, title="Boiler", status=Note.Status.PENDING)
    [vault] = choices_of(Choosable(cast.mate)).vaults
    assert (vault.notes, vault.all_notes) == (1, 2)
