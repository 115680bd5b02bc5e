"""What people fill in about vaults."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from vault.models import VaultMember
from vault.uploads import LARGEST_ARCHIVE

_SPAN = re.compile(r"(\d{1,9})-(\d{1,9})")


class MemberForm(forms.Form):
    """Somebody new: a person by e-mail, or a group by name."""

    name = forms.CharField(
        label=_("E-mail or group"),
        max_length=254,
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    role = forms.ChoiceField(label=_("Role"), choices=VaultMember.Role.choices)


class ArchiveForm(forms.Form):
    """A zip archive of notes."""

    archive = forms.FileField(
        label=_("Zip archive"),
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip"}),
        error_messages={"required": _("Choose a zip archive of your notes.")},
    )

    def clean_archive(self) -> Any:
        """Refuse by size before anything looks inside."""
        archive = self.cleaned_data["archive"]
        if archive.size > LARGEST_ARCHIVE:
            raise forms.ValidationError(
                _("It has %(size)d MB; %(most)d MB are the most.")
                % {"size": archive.size // 10**6, "most": LARGEST_ARCHIVE // 10**6}
            )
        return archive


class UploadForm(ArchiveForm):
    """An archive and what its vault is called."""

    name = forms.CharField(label=_("Name"), max_length=120)
    field_order = ("name", "archive")


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
