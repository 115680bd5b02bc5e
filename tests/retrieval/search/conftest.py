"""A small library and a model that embeds it."""

from __future__ import annotations

import pytest

from providers.models import EmbeddingModel
from tests.cast import Cast
from tests.retrieval.library import make_embedding_model, write_note
from tests.retrieval.search.asking import CANARY


@pytest.fixture
def model() -> EmbeddingModel:
    return make_embedding_model()


@pytest.fixture
def library(cast: Cast) -> Cast:
    """Three notes in the team's vault, one in the foreign one."""
    write_note(
        cast.vault, "Pumps.md", "The blue pump stands in the cellar.", "It is serviced in May."
    )
    write_note(cast.vault, "Payroll.md", "The payroll export is written every night.")
    write_note(cast.vault, "Green/Garden.md", "Tomatoes need water and sun.")
    write_note(cast.foreign_vault, f"{CANARY}.md", f"The pump {CANARY} in the payroll garden.")
    return cast
