"""What an owner fills in about how a vault is made searchable by meaning."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.utils.translation import gettext_lazy as _

from providers.models import ChatModel, EmbeddingModel
from vault.models import Enrichment

KEYWORDS_ONLY = "none"


class ModelForm(forms.Form):
    """Another embedding model, or none."""

    def __init__(
        self, data: object, *, models: Sequence[EmbeddingModel], serving: EmbeddingModel | None
    ) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self._models = {str(model.pk): model for model in models}
        self.fields["model"] = forms.ChoiceField(
            label=_("Embedding model"),
            choices=[
                *((key, _label(model)) for key, model in self._models.items()),
                (KEYWORDS_ONLY, _("None: search by words only")),
            ],
            initial=str(serving.pk) if serving else KEYWORDS_ONLY,
            error_messages={"invalid_choice": _("Choose one of the models that can be used now.")},
        )

    @property
    def chosen(self) -> EmbeddingModel | None:
        """The model of a valid form; None for words only."""
        return self._models.get(self.cleaned_data["model"])


class ContextForm(forms.Form):
    """Which model writes context lines, and whether it writes summaries too."""

    def __init__(
        self, data: object, *, models: Sequence[ChatModel], before: Enrichment | None = None
    ) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self._models = {str(model.pk): model for model in models}
        self.fields["model"] = forms.ChoiceField(
            label=_("Model"),
            choices=[(key, f"{m} ({m.provider.name})") for key, m in self._models.items()],
            initial=str(before.context_model_id) if before else None,
            error_messages={"invalid_choice": _("Choose one of the models that can be used now.")},
        )
        self.fields["summarize"] = forms.BooleanField(
            label=_("Also write a summary of each passage, for display"),
            required=False,
            initial=bool(before and before.summarize),
        )

    @property
    def chosen(self) -> ChatModel:
        """The model of a valid form."""
        return self._models[self.cleaned_data["model"]]


def _label(model: EmbeddingModel) -> str:
    price = f", ${model.price.normalize():f} for a million tokens" if model.price else ""
    return f"{model} ({model.provider.name}, {model.dimensions} numbers{price})"
