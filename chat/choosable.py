"""What a user may choose from, each part read once and when it is first asked for."""

from __future__ import annotations

from functools import cached_property

from django.contrib.auth.models import User

from chat.models import ChatSettings, Persona
from chat.personas import personas_for
from providers.models import ChatModel
from providers.registry import available_chat_models
from vault.access import scope_for, visible_to
from vault.core.types import Scope
from vault.models import Vault
from vault.settings_files import OwnSettings, own_settings


class Choosable:
    """Vaults, models, personas and settings of `user`, as they are while a page is made.

    For one page or answer: what is kept longer knows nothing of rights that were lost.
    """

    def __init__(self, user: User) -> None:
        self.user = user

    @cached_property
    def vaults(self) -> list[Vault]:
        """Those the user may read."""
        return list(visible_to(self.user))

    @cached_property
    def scope(self) -> Scope:
        """Of all these vaults."""
        return scope_for(self.user)

    @cached_property
    def own_settings(self) -> list[OwnSettings]:
        """What these vaults' files settle."""
        return own_settings(self.vaults)

    @cached_property
    def site_models(self) -> list[ChatModel]:
        """The site's models that can answer now."""
        return available_chat_models()

    @cached_property
    def personas(self) -> list[Persona]:
        return personas_for(self.user)

    @property
    def own_row(self) -> ChatSettings | None:
        """The user's own settings, if they have any."""
        return self._rows.get(self.user.pk)

    @property
    def site_row(self) -> ChatSettings | None:
        return self._rows.get(None)

    @cached_property
    def _rows(self) -> dict[int | None, ChatSettings]:
        own, site = (
            ChatSettings.objects.filter(user__in=[self.user.pk]),
            ChatSettings.objects.filter(user=None),
        )
        return {row.user_id: row for row in own | site}
