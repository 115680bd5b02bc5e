"""The reader's own chat settings as a form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from chat.choosable import Choosable
from chat.core.options import FEWEST_PASSAGES, MOST_PASSAGES
from chat.core.tool_use import MOST_STEPS
from chat.models import AnswerMode, ChatSettings, FollowUps, Persona
from chat.options import settings_json, tool_uses
from providers.models import ChatModel, RerankModel

SITE_DEFAULT = _("As the site has it")
SWITCH = [("", SITE_DEFAULT), ("true", _("On")), ("false", _("Off"))]


class ModelByProvider(forms.ModelChoiceField):  # type: ignore[type-arg]
    """Models in groups of their provider, so that one list is enough without scripts."""

    def offer(self, models: list[ChatModel]) -> None:
        groups: dict[str, list[tuple[int, str]]] = {}
        for model in models:
            groups.setdefault(model.provider.name, []).append((model.pk, str(model)))
        self.queryset = ChatModel.objects.filter(pk__in=[model.pk for model in models])
        self.choices = [("", SITE_DEFAULT), *groups.items()]


def _switch(label: Any, help_text: Any) -> forms.TypedChoiceField:
    return forms.TypedChoiceField(
        label=label,
        help_text=help_text,
        choices=SWITCH,
        required=False,
        empty_value=None,
        coerce=lambda value: value == "true",
    )


class ChatSettingsForm(forms.ModelForm[ChatSettings]):
    """What a user chose for themselves. An empty field follows the site.

    The prompt field always shows the prompt in force; left as it is, nothing is stored.
    """

    model = ModelByProvider(queryset=ChatModel.objects.none(), required=False, label=_("Model"))
    alternates = _switch(
        _("Other phrasings"),
        _("Broad questions are also searched in one or two other wordings (costs a small call)."),
    )
    adds_sources = _switch(
        _("Sources added afterwards"),
        _("Where an answer cites nothing, its sentences are matched with the passages."),
    )
    rerank = _switch(
        _("Reranking"), _("A reranking model orders the passages again. Slower, not always better.")
    )

    shares_unanswered = _switch(
        _("Unanswered questions"),
        _(
            "A question the notes have no answer to is listed, without your name, for those "
            "who may edit the vaults that were searched."
        ),
    )

    class Meta:
        model = ChatSettings
        fields = [
            "model", "persona", "mode", "passages", "alternates", "adds_sources", "rerank",
            "follow_ups", "tool_use", "tool_steps", "shares_unanswered", "system_prompt",
        ]  # fmt: skip
        labels = {
            "persona": _("Persona"),
            "mode": _("How notes are used"),
            "passages": _("Passages per answer"),
            "follow_ups": _("What to ask next"),
            "tool_steps": _("Further searches per answer"),
            "system_prompt": _("Base prompt"),
        }

    def __init__(
        self,
        *args: Any,
        known: Choosable,
        base_prompt: str,
        prompt_vaults: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.auto_id = "chat-%s"
        self.base_prompt = base_prompt
        model_field = self.fields["model"]
        assert isinstance(model_field, ModelByProvider)  # noqa: S101 -- declared above
        model_field.offer(known.site_models)
        persona = self.fields["persona"]
        assert isinstance(persona, forms.ModelChoiceField)  # noqa: S101 -- a foreign key
        persona.queryset = Persona.objects.filter(pk__in=[each.pk for each in known.personas])
        persona.empty_label = str(SITE_DEFAULT)
        self.fields["mode"] = forms.ChoiceField(
            label=_("How notes are used"),
            choices=[("", SITE_DEFAULT), *AnswerMode.choices],
            required=False,
        )
        passages = self.fields["passages"]
        passages.widget = forms.NumberInput(
            attrs={"min": FEWEST_PASSAGES, "max": MOST_PASSAGES, "inputmode": "numeric"}
        )
        passages.help_text = _("1 to 30. Empty: as the site has it.")
        self.fields["system_prompt"].help_text = self._prompt_help(prompt_vaults)
        self.fields["system_prompt"].widget = forms.Textarea(attrs={"rows": 7})
        self.initial["system_prompt"] = self.instance.system_prompt or base_prompt
        self.fields["follow_ups"] = forms.ChoiceField(
            label=_("What to ask next"),
            choices=[("", SITE_DEFAULT), *FollowUps.choices],
            required=False,
        )
        self._offer_tool_use(known)
        for name in ("alternates", "adds_sources", "rerank", "shares_unanswered"):
            value = getattr(self.instance, name)
            self.initial[name] = "" if value is None else str(value).lower()
        if not RerankModel.objects.filter(enabled=True).exists():
            del self.fields["rerank"]

    def _offer_tool_use(self, known: Choosable) -> None:
        """Further searches, as far as the site lets anybody choose them."""
        self.fields["tool_use"] = forms.ChoiceField(
            label=_("Further searches"),
            choices=[("", SITE_DEFAULT), *tool_uses(known)],
            required=False,
            help_text=_(
                "A model that can may search your notes again before it answers, freely or "
                "asking you each time. Every search is shown."
            ),
        )
        steps = self.fields["tool_steps"]
        steps.widget = forms.NumberInput(
            attrs={"min": 1, "max": MOST_STEPS, "inputmode": "numeric"}
        )
        steps.help_text = _("1 to 12 at most. Empty: as the site has it.")

    @classmethod
    def of(cls, known: Choosable, data: Any = None) -> ChatSettingsForm:
        """The form of a user, filled with `data` when it was sent."""
        told = settings_json(known)
        return cls(
            data,
            instance=known.own_row or ChatSettings(user=known.user),
            known=known,
            base_prompt=told["base_system_prompt"],
            prompt_vaults=[vault["name"] for vault in told["vaults"] if vault["system_prompt"]],
        )

    @staticmethod
    def _prompt_help(vaults: Sequence[str]) -> str:
        text = _("Sent before every question of yours.")
        if not vaults:
            return str(text)
        own = _("These vaults bring a prompt of their own, unless you write one here: %(vaults)s.")
        return f"{text} {own % {'vaults': ', '.join(vaults)}}"

    def clean_system_prompt(self) -> str:
        """The reader's own prompt; "" when it is the base prompt, or was reset."""
        prompt = str(self.cleaned_data["system_prompt"]).replace("\r\n", "\n").strip()
        is_reset = "reset_prompt" in self.data
        return "" if is_reset or prompt == self.base_prompt.strip() else prompt
