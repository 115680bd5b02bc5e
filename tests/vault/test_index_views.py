"""The page of a vault's vectors: choosing a model, watching it, and going back."""

from __future__ import annotations

import numpy as np
import pytest
from django.http import HttpResponse
from django.test import Client

from providers.models import EmbeddingModel
from tests.cast import Cast, make_user
from tests.vault.embedder import make_model
from tests.vault.notes import make_note
from vault.models import Chunk, ChunkVector, Job, Vault

pytestmark = pytest.mark.django_db
PAGE = "/vaults/team/index"


@pytest.fixture
def old(cast: Cast) -> EmbeddingModel:
    """Serves the vault, which has two passages, both with a vector."""
    model = make_model("one", dimensions=4)
    Vault.objects.filter(pk=cast.vault.pk).update(embedding_model=model)
    note = make_note(cast.vault, "a.md", "words")
    for ordinal in range(2):
        chunk = Chunk(
            vault=cast.vault,
            note=note,
            ordinal=ordinal,
            heading_path=["a"],
            content=f"words {ordinal}",
            start=0,
            end=5,
            start_line=1,
            end_line=1,
            tokens=500_000,
        )
        chunk.renew_vector_hash()
        chunk.save()
        add_vector(chunk, model)
    return model


def add_vector(chunk: Chunk, model: EmbeddingModel) -> None:
    from vault.staleness import fingerprint

    ChunkVector.objects.create(
        vault=chunk.vault,
        chunk=chunk,
        embedding_model=model,
        embed_hash=chunk.embed_hash,
        fingerprint=fingerprint(model),
        vector=np.ones(model.dimensions, dtype=np.float32),
    )


@pytest.fixture
def new(old: EmbeddingModel) -> EmbeddingModel:
    return make_model("two", dimensions=8, price="0.0200")


@pytest.fixture
def owner(cast: Cast) -> Client:
    client = Client()
    client.force_login(cast.owner)
    return client


def post(client: Client, to: str, **data: object) -> HttpResponse:
    return client.post(f"{PAGE}/{to}", data, follow=True)  # type: ignore[return-value]


def text_of(response: HttpResponse) -> str:
    return " ".join(response.content.decode().split())


def vault() -> Vault:
    return Vault.objects.get(slug="team")


def test_the_choice_is_told_what_it_takes_before_anything_happens(
    owner: Client, new: EmbeddingModel
) -> None:
    text = text_of(post(owner, "model", model=new.pk))
    assert "has to embed 2 passages, about 1,000,000 tokens" in text
    assert "about $0.02" in text
    assert vault().next_embedding_model is None
    assert not Job.objects.exists()


def test_a_confirmed_choice_is_built_beside_what_serves(
    owner: Client, old: EmbeddingModel, new: EmbeddingModel
) -> None:
    text = text_of(post(owner, "model", model=new.pk, confirm=1))
    assert "new generation: 0 of 2" in text
    assert "2 of 2 passages have a vector" in text
    assert (vault().embedding_model, vault().next_embedding_model) == (old, new)
    assert set(Job.objects.values_list("kind", flat=True)) == {
        "cleanup",
        "embed",
        "evaluate_changes",
        "sync",
    }
    part = owner.get(f"{PAGE}/generations")
    assert "new generation: 0 of 2" in text_of(part)  # type: ignore[arg-type]
    assert "HX-Refresh" not in part
    assert "0 of 2 passages" in text_of(owner.get("/vaults/team/state"))  # type: ignore[arg-type]


def test_a_switch_can_be_called_off(
    owner: Client, old: EmbeddingModel, new: EmbeddingModel
) -> None:
    post(owner, "model", model=new.pk, confirm=1)
    text = text_of(post(owner, "switch", action="cancel"))
    assert "was called off" in text
    assert (vault().embedding_model, vault().next_embedding_model) == (old, None)


def test_the_way_back_and_its_end(owner: Client, old: EmbeddingModel, new: EmbeddingModel) -> None:
    post(owner, "model", model="none", confirm=1)
    assert vault().embedding_model is None
    text = text_of(owner.get(PAGE))  # type: ignore[arg-type]
    assert "searched by words only" in text
    assert "Go back to one" in text
    assert "one serves again" in text_of(post(owner, "switch", action="back"))
    assert vault().embedding_model == old
    Vault.objects.update(previous_embedding_model=new)
    assert "being deleted" in text_of(post(owner, "switch", action="discard"))
    assert "not kept any more" in text_of(post(owner, "switch", action="back"))


def test_a_model_that_cannot_be_used_is_refused_by_name(owner: Client, old: EmbeddingModel) -> None:
    response = post(owner, "model", model="999999")
    assert response.status_code == 400
    assert "Choose one of the models" in text_of(response)
    assert post(owner, "switch", action="?").status_code == 400


def test_choosing_what_serves_changes_nothing(owner: Client, old: EmbeddingModel) -> None:
    assert "Nothing was changed" in text_of(post(owner, "model", model=old.pk))


def test_the_part_that_moves_asks_for_a_fresh_page_at_the_end(
    owner: Client, old: EmbeddingModel
) -> None:
    assert owner.get(f"{PAGE}/generations")["HX-Refresh"] == "true"


def test_an_admin_switches_many_vaults_at_once(
    cast: Cast, old: EmbeddingModel, new: EmbeddingModel
) -> None:
    admin = Client()
    admin.force_login(make_user("admin", is_superuser=True))
    ids = [cast.vault.pk, cast.foreign_vault.pk]
    Vault.objects.filter(pk=cast.foreign_vault.pk).update(embedding_model=old)
    data = {"action": "switch_model", "_selected_action": ids}
    asked = admin.post("/admin/vault/vault/", data)
    assert "two (Fake, 8 numbers" in text_of(asked)  # type: ignore[arg-type]
    admin.post("/admin/vault/vault/", data | {"confirm": "1", "model": str(new.pk)})
    assert set(Vault.objects.values_list("next_embedding_model", flat=True)) == {new.pk}
    form = text_of(admin.get(f"/admin/vault/vault/{cast.vault.pk}/change/"))  # type: ignore[arg-type]
    assert 'name="embedding_model"' not in form


def test_an_admin_writes_the_schedule_and_is_told_what_is_wrong_with_it() -> None:
    admin = Client()
    admin.force_login(make_user("admin", is_superuser=True))
    wrong = admin.post(
        "/admin/vault/upkeep/add/", {"check_schedule": "every day", "keep_vectors_days": 3}
    )
    assert "is no schedule" in text_of(wrong)  # type: ignore[arg-type]
    right = {"check_schedule": "30 2 * * *", "keep_vectors_days": 3}
    assert admin.post("/admin/vault/upkeep/add/", right).status_code == 302
    assert admin.get("/admin/vault/upkeep/add/").status_code == 403
