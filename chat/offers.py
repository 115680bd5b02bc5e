"""Which models are offered for a question: the site's, and those its vaults bring along."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext as _

from chat.choosable import Choosable
from chat.core.options import OfferedModel, VaultDefaults, VaultLevel, vault_level
from providers.models import ChatModel
from retrieval.core.types import Knobs
from vault.models import Vault


@dataclass(frozen=True)
class Catalogue:
    """Where models and knobs come from; `of_vaults` says what these vaults bring along."""

    available: Callable[[], Sequence[ChatModel]]
    default: Callable[[], ChatModel]
    knobs: Callable[[], Knobs]
    of_vaults: Callable[[Collection[int]], Sequence[ChatModel]]


def site_catalogue() -> Catalogue:
    """The models of this install."""
    from providers.registry import available_chat_models, default_chat_model
    from providers.vault_models import available_vault_models
    from retrieval.options import site_knobs

    return Catalogue(available_chat_models, default_chat_model, site_knobs, available_vault_models)


@dataclass(frozen=True)
class Offer:
    """A model that can answer; `vault` is the one that brings it, None: the site's."""

    model: ChatModel
    vault: Vault | None = None

    def __str__(self) -> str:
        if self.vault is None:
            return str(self.model)
        return _("%(model)s (from vault %(vault)s)") % {
            "model": self.model,
            "vault": self.vault.name,
        }


class Offers:
    """What can answer a question of a user to the vaults named `slugs` (None: to all).

    Of vaults that the user may not read nothing is known here, whatever is named.
    """

    def __init__(
        self, known: Choosable, catalogue: Catalogue, *, slugs: Collection[str] | None = None
    ) -> None:
        self._known = known
        self._catalogue = catalogue
        self.readable = {vault.pk: vault for vault in known.vaults}
        self.vaults = {
            pk: vault for pk, vault in self.readable.items() if slugs is None or vault.slug in slugs
        }

    @cached_property
    def all(self) -> list[Offer]:
        """The site's models, less those that a vault overrides, then the vaults' own."""
        overridden = self._overrides
        site = [Offer(model) for model in self._site if model.pk not in overridden]
        brought = [Offer(model, self.vaults[model.of_vault or 0]) for model in self._brought]
        # What only quotes stands last, whoever brings the others.
        quoting = [offer for offer in site if offer.model.provider.kind == "extractive"]
        return [offer for offer in site if offer not in quoting] + brought + quoting

    @cached_property
    def by_id(self) -> list[tuple[int, ChatModel]]:
        """(number, model): a site's model that a vault overrides leads to the override."""
        offered = [(offer.model.pk, offer.model) for offer in self.all]
        return [*offered, *self._overrides.items()]

    def default(self) -> ChatModel:
        """The site's default, or what overrides it. Raises NotConfigured."""
        default = self._catalogue.default()
        return self._overrides.get(default.pk, default)

    @cached_property
    def level(self) -> VaultLevel:
        """What the vaults' own settings files choose."""
        defaults = [
            VaultDefaults(
                own.vault_id,
                own.vault_name,
                own.chat.provider,
                own.chat.model,
                own.chat.system_prompt,
            )
            for own in self._known.own_settings
            if own.vault_id in self.vaults
        ]
        return vault_level(defaults, [_offered(offer.model) for offer in self.all])

    def labels(self, wanted: Collection[int]) -> tuple[dict[int, str], dict[int, str]]:
        """Names of models that are known to this user, and the vaults of those elsewhere."""
        rows = ChatModel.objects.filter(pk__in=wanted).in_bulk()
        known = {
            pk: row
            for pk, row in rows.items()
            if row.of_vault is None or row.of_vault in self.readable
        }
        elsewhere = {
            pk: self.readable[row.of_vault].name
            for pk, row in known.items()
            if row.enabled and row.of_vault is not None and row.of_vault not in self.vaults
        }
        return {pk: str(row) for pk, row in known.items()}, elsewhere

    @cached_property
    def _site(self) -> Sequence[ChatModel]:
        return self._catalogue.available()

    @cached_property
    def _brought(self) -> Sequence[ChatModel]:
        return self._catalogue.of_vaults(self.vaults.keys()) if self.vaults else ()

    @cached_property
    def _overrides(self) -> dict[int, ChatModel]:
        by_name: dict[tuple[int, str], ChatModel] = {}
        for model in self._brought:
            by_name.setdefault((model.provider_id, model.name), model)
        pairs = ((model.pk, by_name.get((model.provider_id, model.name))) for model in self._site)
        return {pk: model for pk, model in pairs if model is not None}


def _offered(model: ChatModel) -> OfferedModel:
    return OfferedModel(model.pk, model.provider.slug, model.name, model.is_default, model.of_vault)
