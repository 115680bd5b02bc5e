"""What people fill in about vaults."""

from __future__ import annotations

import re

from django import forms
from django.utils.translation import gettext_lazy as _

from vault.models import VaultMember

_SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")


class MemberForm(forms.Form):
    """Somebody new: a person by e-mail, or a group by name."""

    name = forms.CharField(
        label=_("E-mail or group"),
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(label=_("Role"), choices=VaultMember.Role.choices)


class RoleForm(forms.Form):
    """Another role for a member."""

    role = forms.ChoiceField(choices=VaultMember.Role.choices)


def read_span(text: str) -> tuple[int, int] | None:
    """`12-40` as characters of a body; None when it is no span."""
    match = _SPAN.fullmatch(text)
    if match is None:
        return None
    start, end = int(match[1]), int(match[2])
    return (start, end) if start < end else None


def read_number(text: str) -> int | None:
    """A small whole number; None when it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None
