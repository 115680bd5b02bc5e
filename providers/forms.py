"""The admin's form of a provider: the key goes in and never comes out."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from providers.core.base_urls import InvalidBaseURL, normalise_base_url
from providers.models import Provider
from providers.places import refusal_of
from providers.registry import KIND_LABELS, LOCAL_KINDS, default_version

# Variables of this product's own that must never leave it (docs/configuration.md).
SITE_SECRETS = frozenset(
    {"ADMIN_PASSWORD", "DATABASE_URL", "EMAIL_HOST_PASSWORD", "ENCRYPTION_KEYS"}
    | {"METRICS_TOKEN", "PGPASSWORD", "SECRET_KEY"}
)
GIT_TOKENS = "GIT_TOKEN"


class ProviderForm(forms.ModelForm[Provider]):
    """Everything but the stored key, which is only replaced or removed."""

    new_key = forms.CharField(
        label=_("New key"),
        required=False,
        strip=True,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
        help_text=_("Stored encrypted and never shown again. Empty: the key stays as it is."),
    )
    remove_key = forms.BooleanField(label=_("Remove the stored key"), required=False)

    class Meta:
        model = Provider
        fields = (
            "slug",
            "name",
            "kind",
            "base_url",
            "base_url_variable",
            "key_variable",
            "needs_key",
            "enabled",
            "position",
        )

        widgets = {"base_url": forms.Textarea(attrs={"rows": 2, "cols": 60})}
        labels = {"base_url": _("Base URL")}
        help_texts = {
            "base_url": _(
                "Further servers with the same embedding models, one a line: the next one "
                "embeds when one is down. All of them get the key."
            )
        }

    lost_key = False
    """Whether saving takes a key away that belongs to another host."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The scripted kind is for development; a row that has it already keeps its choice.
        is_shown = settings.DEBUG or self.instance.kind == "fake"
        self.fields["kind"] = forms.ChoiceField(
            label=_("Kind"),
            choices=[it for it in KIND_LABELS.items() if it[0] != "fake" or is_shown],
        )

    def clean_key_variable(self) -> str:
        return _own_variable(self.cleaned_data["key_variable"])

    def clean_base_url_variable(self) -> str:
        return _own_variable(self.cleaned_data["base_url_variable"])

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        kind = cleaned.get("kind", "")
        if kind not in LOCAL_KINDS:
            urls = (url.strip() for url in cleaned.get("base_url", "").splitlines())
            cleaned["base_url"] = "\n".join(_checked(url, kind) for url in urls if url)
        return cleaned

    def save(self, commit: bool = True) -> Provider:  # noqa: FBT001, FBT002 (Django's signature)
        provider = self.instance
        new_key = self.cleaned_data["new_key"]
        if new_key:
            provider.key = new_key
        elif self.cleaned_data["remove_key"]:
            provider.key = ""
        elif provider.key and self._moves_to_another_host():
            # A key is for one host: whoever may edit a URL must not send it elsewhere.
            provider.key = ""
            self.lost_key = True
        return super().save(commit=commit)

    def _moves_to_another_host(self) -> bool:
        before = _origins(self.initial.get("base_url"))
        after = _origins(self.cleaned_data["base_url"])
        return not after <= before or (not after and bool(before))


def _own_variable(name: str) -> str:
    """The name of a variable that is a provider's. Raises ValidationError for one that holds a
    secret of this site: its value would be sent to whatever address stands in the same form."""
    name = name.strip()
    if name.upper() in SITE_SECRETS or name.upper().startswith(GIT_TOKENS):
        said = _("%(name)s holds a secret of this site, which no provider gets.")
        raise ValidationError(said % {"name": name})
    return name


def _checked(url: str, kind: str) -> str:
    """The URL in its one form. Raises ValidationError for one that cannot be called."""
    try:
        normal = normalise_base_url(url, default_version=default_version(kind))
    except InvalidBaseURL as error:
        raise ValidationError({"base_url": str(error)}) from error
    refused = refusal_of(normal, is_trusted=False)
    if refused is not None:
        said = f"The call was refused: {refused.reason}. {refused.mend}"
        raise ValidationError({"base_url": said})
    return normal


def _origins(urls: object) -> set[tuple[str, str]]:
    return {_origin(url) for url in str(urls or "").splitlines() if url.strip()}


def _origin(url: object) -> tuple[str, str]:
    """Scheme and host: a key that was meant for https is not sent in the clear either."""
    parts = urlsplit(str(url or ""))
    return parts.scheme.lower(), parts.netloc.lower()
