"""What an owner may change of a vault."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from vault.adding import CannotAdd, Place, place_of
from vault.core.passage_sizes import PassageSizes
from vault.models import Vault
from vault.sources.ignoring import ignore_rules

MOST_PATTERNS = 500
LARGEST_FILE_KB = 200_000
# Tokens: smaller chunks say nothing, and a model's window cuts larger ones anyway.
SMALLEST_CHUNK, LARGEST_CHUNK = 50, 2_000
HOW_NOTES_ARE_CUT = ("chunk_tokens", "chunk_overlap", "chunk_minimum")


def read_patterns(text: str) -> str:
    """Patterns of files to leave out, tidied. Raises ValidationError that names the line
    which is none."""
    lines = text.replace("\r\n", "\n").split("\n")
    if len(lines) > MOST_PATTERNS:
        raise forms.ValidationError(_("Write at most %(most)d patterns.") % {"most": MOST_PATTERNS})
    for number, line in enumerate(lines, 1):
        try:
            ignore_rules(b"", templates_folder="", ignored=line)
        except ValueError as error:
            raise forms.ValidationError(
                _("Line %(number)d, “%(line)s”, is no pattern.")
                % {"number": number, "line": line[:80]}
            ) from error
    return "\n".join(lines).strip("\n")


def _tokens(label: Any, *, least: int, most: int) -> forms.IntegerField:
    return forms.IntegerField(min_value=least, max_value=most, label=label)


class PassageSizesForm(forms.Form):
    """How long passages are. `sizes` says so once the form is valid."""

    chunk_tokens = _tokens(_("Passage, tokens"), least=SMALLEST_CHUNK, most=LARGEST_CHUNK)
    chunk_overlap = _tokens(_("Overlap, tokens"), least=0, most=LARGEST_CHUNK // 2)
    chunk_minimum = _tokens(_("Smallest, tokens"), least=0, most=LARGEST_CHUNK // 2)

    def clean(self) -> dict[str, Any]:
        """The overlap leaves each passage something of its own."""
        data = super().clean() or self.cleaned_data
        if data.get("chunk_overlap", 0) * 2 > data.get("chunk_tokens", LARGEST_CHUNK):
            self.add_error("chunk_overlap", _("At most half of a passage."))
        return data

    @property
    def sizes(self) -> PassageSizes:
        return PassageSizes(*(self.cleaned_data[name] for name in HOW_NOTES_ARE_CUT))


class VaultSettingsForm(PassageSizesForm, forms.ModelForm[Vault]):
    """Name, place, what is left out, limits. `found_place` is the place, when it changed.

    Only staff may point a vault at another folder of the server, name a token's variable, or
    point a vault that has one elsewhere: each could reach what is not theirs, and the token
    would be sent to whatever address stands there.
    """

    found_place: Place | None = None

    class Meta:
        model = Vault
        fields = (
            "name",
            "place",
            "git_branch",
            "token_variable",
            "ignored",
            "templates_folder",
            "code_suffixes",
            "largest_note_kb",
            "largest_attachment_kb",
            "scrub_emails",
            *HOW_NOTES_ARE_CUT,
        )
        labels = {
            "place": _("Place"),
            "templates_folder": _("Templates folder"),
            "largest_note_kb": _("Largest note, kB"),
            "largest_attachment_kb": _("Largest PDF or picture, kB"),
            "scrub_emails": _("Take e-mail addresses out, as if they were secrets"),
        }
        widgets = {
            "place": forms.TextInput(attrs={"spellcheck": "false", "autocomplete": "off"}),
            "ignored": forms.Textarea(
                attrs={"rows": 4, "spellcheck": "false", "placeholder": "Private/\n*.draft.md"}
            ),
            "code_suffixes": forms.TextInput(attrs={"spellcheck": "false"}),
        }

    largest_note_kb = forms.IntegerField(
        min_value=1, max_value=LARGEST_FILE_KB, label=_("Largest note, kB")
    )
    largest_attachment_kb = forms.IntegerField(
        min_value=1, max_value=LARGEST_FILE_KB, label=_("Largest PDF or picture, kB")
    )

    def __init__(self, *arguments: Any, is_staff: bool, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in _closed(self.instance, is_staff=is_staff):
            del self.fields[name]

    def clean_ignored(self) -> str:
        """Refuse a pattern that no scan could read."""
        return read_patterns(self.cleaned_data["ignored"])

    def clean_templates_folder(self) -> str:
        """A folder of the vault, without slashes around it."""
        folder = str(self.cleaned_data["templates_folder"]).strip().strip("/")
        if ".." in folder.split("/"):
            raise forms.ValidationError(_("Name a folder inside the vault, such as Templates."))
        return folder

    def clean(self) -> dict[str, Any]:
        """A changed place is looked at before it is taken."""
        data = super().clean()
        if "place" in self.changed_data and "place" in data:
            try:
                self.found_place = self._place(data)
            except CannotAdd as refused:
                self.add_error("place", str(refused))
            else:
                data["place"] = self.found_place.text
        return data

    def save(self, commit: bool = True) -> Vault:  # noqa: FBT001, FBT002 (Django's signature)
        """Write the columns of this form alone: the others belong to whoever syncs the vault or
        switches its model, and may be others since the row was read."""
        if commit:
            self.instance.save(update_fields=list(self.fields))
        return self.instance

    def _place(self, data: dict[str, Any]) -> Place:
        place = place_of(data["place"])
        if place.kind != self.instance.source_kind:
            raise CannotAdd("This is another kind of place. Add it as a vault of its own.")
        return place


def _closed(vault: Vault, *, is_staff: bool) -> set[str]:
    """Fields that mean nothing for this vault, or are not this person's to change."""
    closed = set()
    if vault.source_kind != Vault.SourceKind.GIT:
        closed |= {"git_branch", "token_variable"}
    if vault.source_kind == Vault.SourceKind.UPLOAD:
        closed.add("place")
    if not is_staff:
        closed.add("token_variable")
        if vault.source_kind == Vault.SourceKind.FOLDER or vault.token_variable:
            closed.add("place")
    return closed
