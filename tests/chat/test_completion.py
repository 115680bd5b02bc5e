"""What the question field offers: only what the asker may see."""

from __future__ import annotations

import pytest

from chat.completion import offers_for
from chat.models import Persona
from tests.cast import Cast
from tests.chat.pages import make_note

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def notes(cast: Cast) -> None:
    make_note(cast.vault, title="Heron", path="Birds/Heron.md", tags=["birds/heron", "wet"])
    make_note(cast.vault, title="Grey heron", path="Birds/Grey heron.md", tags=["birds/heron"])
    make_note(cast.foreign_vault, title="Heronry", path="Secret/Heronry.md", tags=["heronry"])
    Persona.objects.create(name="Heron keeper", prompt="Answer as one who keeps herons.")


def values(cast: Cast, kind: str, text: str, vaults: list[str] | None = None) -> list[str]:
    return [each.value for each in offers_for(kind, text, cast.mate, vaults=vaults)]


def test_tags_folders_and_notes_come_from_readable_vaults_alone(cast: Cast) -> None:
    assert values(cast, "tag", "heron") == ["#birds/heron"]
    assert values(cast, "tag", "") == ["#birds/heron", "#wet"]
    assert values(cast, "path", "bir") == ['path:"Birds/"']
    assert values(cast, "path", "secret") == []
    assert values(cast, "note", "heron") == ["[[Heron]]", "[[Grey heron]]"]


def test_a_forbidden_or_unknown_vault_offers_nothing(cast: Cast) -> None:
    for slugs in (["foreign"], ["nowhere"]):
        assert [values(cast, kind, "", slugs) for kind in ("tag", "path", "note")] == [[], [], []]


def test_personas_are_found_by_their_name(cast: Cast) -> None:
    (offer,) = offers_for("persona", "keep", cast.mate, vaults=None)
    assert (offer.label, offer.id) == ("Heron keeper", str(Persona.objects.get().pk))


def test_an_unknown_kind_is_refused_with_the_known_ones(cast: Cast) -> None:
    with pytest.raises(ValueError, match="preset, persona, tag, path, note"):
        offers_for("nothing", "", cast.mate, vaults=None)


@pytest.mark.parametrize("text", ["%", "_", "\\", "'", "\x00", "((", "a" * 5000])
@pytest.mark.parametrize("kind", ["preset", "persona", "tag", "path", "note"])
def test_whatever_is_typed_is_looked_for_as_it_stands(cast: Cast, kind: str, text: str) -> None:
    assert offers_for(kind, text, cast.mate, vaults=None) is not None
