"""How people get in: accounts are made by an admin, nobody signs up alone."""

from __future__ import annotations

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class ClosedSignupAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Private notes: an account is given, not taken."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
