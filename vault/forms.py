"""What people fill in about vaults."""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from vault import access
from vault.core.folder_rules import BadFolder, read_folders
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


class RepositoryForm(forms.Form):
    """A git repository to follow. Only staff may name a token's variable."""

    address = forms.CharField(
        label=_("Address"),
        max_length=1000,
        widget=forms.TextInput(
            attrs={
                "placeholder": "https://git.example.com/team/notes.git",
                "inputmode": "url",
                "autocomplete": "off",
                "spellcheck": "false",
            }
        ),
    )
    name = forms.CharField(
        label=_("Name"), max_length=120, required=False, help_text=_("Empty: the repository's.")
    )
    branch = forms.CharField(
        label=_("Branch"), max_length=250, required=False, help_text=_("Empty: the default one.")
    )
    token_variable = forms.CharField(
        label=_("Token variable"),
        max_length=100,
        required=False,
        help_text=_("Of a private repository: an environment variable such as GIT_TOKEN_NOTES"),
    )

    def __init__(self, *arguments: Any, may_name_token: bool, **options: Any) -> None:
        super().__init__(*arguments, **options)
        if not may_name_token:
            del self.fields["token_variable"]


class FolderForm(forms.Form):
    """A folder of this server."""

    folder = forms.CharField(
        label=_("Folder"),
        max_length=1000,
        widget=forms.TextInput(
            attrs={"placeholder": "/srv/notes", "autocomplete": "off", "spellcheck": "false"}
        ),
        help_text=_("Its whole path on the server."),
    )
    name = forms.CharField(
        label=_("Name"), max_length=120, required=False, help_text=_("Empty: the folder's.")
    )


class FoldersField(forms.CharField):
    """Folders of a vault, one a line; cleaned to a tuple of paths."""

    widget = forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "autocapitalize": "off"})

    def clean(self, value: Any) -> tuple[str, ...]:
        """Raises ValidationError that names the line that is no folder."""
        try:
            return read_folders(super().clean(value))
        except BadFolder as error:
            raise forms.ValidationError(str(error)) from error


class RoleForm(forms.Form):
    """Another role for a member."""

    role = forms.ChoiceField(choices=VaultMember.Role.choices)


class FoldersForm(forms.Form):
    """Which folders a member may read."""

    only = FoldersField(
        label=_("Only these folders"),
        required=False,
        help_text=_("One a line, such as Team/Notes. Empty: all folders."),
    )
    hidden = FoldersField(
        label=_("Never these folders"),
        required=False,
        help_text=_("One a line. They stay out of search, answers, lists and counts."),
    )


def new_vault_forms(user: access.User) -> dict[str, forms.Form]:
    """The ways in which this user may make a vault: empty when there is none."""
    if not access.may_upload(user):
        return {}
    is_staff = bool(getattr(user, "is_staff", False))
    ways: dict[str, forms.Form] = {
        "upload": UploadForm(auto_id="upload_%s"),
        "repository": RepositoryForm(auto_id="repository_%s", may_name_token=is_staff),
    }
    return ways | ({"folder": FolderForm(auto_id="folder_%s")} if is_staff else {})


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
