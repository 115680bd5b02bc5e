"""A preset as a form: what it says, and what fills its gaps."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.models import Group, User
from django.utils.translation import gettext_lazy as _

from chat.core.presets import MOST_VARIABLES, variables_of
from chat.models import PromptPreset
from chat.presets import gaps_of

LONGEST_VALUE = 8_000


class PresetForm(forms.ModelForm[PromptPreset]):
    """A user's own preset; groups are those the user is in."""

    class Meta:
        model = PromptPreset
        fields = ["name", "title", "text", "group"]
        labels = {
            "name": _("Name"),
            "title": _("Title"),
            "text": _("Question"),
            "group": _("Shared with"),
        }
        widgets = {"text": forms.Textarea(attrs={"rows": 8})}

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.owner = user
        group = self.fields["group"]
        assert isinstance(group, forms.ModelChoiceField)  # noqa: S101 -- a foreign key
        group.queryset = Group.objects.filter(user=user.pk)
        group.empty_label = str(_("Nobody: it is mine alone"))
        if not group.queryset.exists():
            del self.fields["group"]

    def clean_name(self) -> str:
        """The name without the slash that people type with it."""
        return str(self.cleaned_data["name"]).removeprefix("/").lower()

    def clean_text(self) -> str:
        text = str(self.cleaned_data["text"]).replace("\r\n", "\n").strip()
        if len(variables_of(text)) > MOST_VARIABLES:
            raise forms.ValidationError(
                _("At most %(most)d different gaps: nobody fills in more."),
                params={"most": MOST_VARIABLES},
            )
        return text

    def _get_validation_exclusions(self) -> set[str]:
        """The owner is no field, and yet part of what must be unique."""
        return super()._get_validation_exclusions() - {"owner"}  # type: ignore[misc, no-any-return]


class FillForm(forms.Form):
    """The gaps of a preset, a field each."""

    def __init__(self, *args: Any, preset: PromptPreset, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.auto_id = "fill-%s"
        for number, gap in enumerate(gaps_of(preset)):
            self.fields[f"gap_{number}"] = forms.CharField(
                label=gap.name.capitalize(), initial=gap.default, max_length=LONGEST_VALUE
            )
        for field in list(self.fields.values())[:1]:  # a dialog begins there, not at its cross
            field.widget.attrs["autofocus"] = True
        self.names = [gap.name for gap in gaps_of(preset)]

    def values(self) -> dict[str, str]:
        """What was typed, by the names of the gaps."""
        return {name: self.cleaned_data[f"gap_{n}"] for n, name in enumerate(self.names)}
