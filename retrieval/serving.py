"""Embedding models as a process knows them: loaded once, and again when their rows change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from providers.models import EmbeddingModel
from vault.staleness import fingerprint
from vault.vector_index import index_name


@dataclass(frozen=True, slots=True)
class Known:
    """A model as its rows were at `version`, with the names of its vector space and index.

    A version is any text that tells one state of the rows from every other.
    """

    version: str
    model: EmbeddingModel
    space: str
    index: str


_known: dict[int, Known] = {}


def as_known(model: EmbeddingModel, *, version: str = "") -> Known:
    return Known(version, model, fingerprint(model), index_name(model))


def known_models() -> dict[int, Known]:
    """By id, those that this process came across."""
    return dict(_known)


def learn(versions: Mapping[int, str]) -> None:
    """Load the models with these ids. Their versions must have been read before: what changes
    meanwhile is then known under a version that no row has, and is loaded again."""
    found = EmbeddingModel.objects.select_related("provider").in_bulk(list(versions))
    _known.update({pk: as_known(model, version=versions[pk]) for pk, model in found.items()})
