"""Brings the rows of a provider's chat models in line with its own list."""

from __future__ import annotations

from dataclasses import dataclass, field

from asgiref.sync import async_to_sync
from django.db import transaction
from django.utils import timezone

from providers.core.errors import ProtocolError
from providers.core.model_lists import ListedModel, is_listed
from providers.core.types import TimeLimits
from providers.models import ChatModel, Origin, Provider
from providers.registry import endpoint_of

# An admin waits for this.
_LIMITS = TimeLimits(connect=5.0, first_content=20.0, between_content=20.0)


@dataclass(slots=True)
class Refreshed:
    """Names of models: made (switched off), gone from the list, there again; and those that
    are listed but not for chat, which have to be entered by hand with their dimensions."""

    added: list[str] = field(default_factory=list)
    vanished: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)
    by_hand: list[str] = field(default_factory=list)


def refresh_models(provider: Provider) -> Refreshed:
    """Ask the provider for its models; add what is new, mark what is gone, delete nothing.

    A new model is switched off: a list may have hundreds. One that is gone keeps its row,
    since conversations name it, and stays in use, since lists leave out aliases. Raises
    ProviderError.
    """
    from providers.backends.model_lists import list_models

    listed = async_to_sync(list_models)(endpoint_of(provider, limits=_LIMITS))
    if not listed:
        raise ProtocolError("The server lists no model at all, so nothing was changed.")
    return _bring_in_line(provider, listed)


@transaction.atomic
def _bring_in_line(provider: Provider, listed: tuple[ListedModel, ...]) -> Refreshed:
    refreshed = Refreshed()
    names = {model.name for model in listed}
    rows = list(ChatModel.objects.select_for_update().filter(provider=provider, of_vault=None))
    for row in rows:
        _mark(row, refreshed, is_there=is_listed(row.name, names))
    known = {row.name for row in rows}
    known |= {f"{name}:latest" for name in known}
    for model in listed:
        if model.use in {"embeddings", "rerank"}:
            refreshed.by_hand.append(model.name)
        elif model.use == "chat" and model.name not in known:
            _add(provider, model)
            refreshed.added.append(model.name)
    return refreshed


def _mark(row: ChatModel, refreshed: Refreshed, *, is_there: bool) -> None:
    if is_there == (row.missing_since is None):
        return
    row.missing_since = None if is_there else timezone.now()
    row.save(update_fields=["missing_since"])
    (refreshed.returned if is_there else refreshed.vanished).append(row.name)


def _add(provider: Provider, model: ListedModel) -> None:
    row = ChatModel(
        provider=provider,
        name=model.name,
        label=model.label,
        enabled=False,
        origin=Origin.LISTED,
    )
    if model.context_window is not None:
        row.context_window = model.context_window
    row.save()
