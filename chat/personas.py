"""The personas that a user may choose."""

from __future__ import annotations

from django.contrib.auth.models import User

from chat.models import Persona


def personas_for(user: User) -> list[Persona]:
    """What `user` may choose now, by name."""
    return list(Persona.objects.filter(enabled=True)) if user.is_active else []


def persona_for(user: User, pk: int | None) -> Persona | None:
    """The persona `pk` when `user` may choose it now."""
    return next((each for each in personas_for(user) if each.pk == pk), None)
