"""The models that a user may ask, under the names that OpenAI's clients choose by."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from django.contrib.auth.models import User

from chat.choosable import Choosable
from chat.core.asking import Refused
from chat.offers import Catalogue, Offer, Offers

# Whatever the user's, the vaults' and the site's settings choose.
DEFAULT_NAME = "secondbrain"


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model under its name; `number` is None for the one that the settings choose."""

    name: str
    number: int | None
    owner: str
    short: str = ""


def named_models(user: User, catalogue: Catalogue) -> list[NamedModel]:
    """What `user` may choose from: the default first, then as the page offers them."""
    offers = Offers(Choosable(user), catalogue).all
    return [NamedModel(DEFAULT_NAME, None, DEFAULT_NAME), *map(_named, offers)]


def model_named(user: User, catalogue: Catalogue, name: str) -> NamedModel:
    """The model called `name`, with or without its provider. Raises Refused.

    Without the provider the name must be of one model alone.
    """
    known = named_models(user, catalogue)
    found = [model for model in known if model.name == name]
    found = found or [model for model in known if model.short == name]
    if len(found) == 1:
        return found[0]
    if found:
        several = ", ".join(model.name for model in found)
        raise Refused("model_not_found", f"“{name}” is one of {several}: say which.", status=404)
    near = get_close_matches(name, [model.name for model in known], n=3, cutoff=0.4)
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise Refused(
        "model_not_found", f"There is no model “{name}” here. {hint}See /v1/models.", status=404
    )


def _named(offer: Offer) -> NamedModel:
    model = offer.model
    brought = f"@{offer.vault.slug}" if offer.vault else ""
    return NamedModel(
        f"{model.provider.slug}/{model.name}{brought}", model.pk, model.provider.name, model.name
    )
