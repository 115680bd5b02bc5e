"""Providers, their models, and what each call used."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from providers.core.centring import REVISION as CENTRED
from providers.fields import EncryptedTextField


class Origin(models.TextChoices):
    PRESET = "preset", _("shipped preset")
    ADMIN = "admin", _("made here")
    LISTED = "listed", _("from the provider's own list")
    VAULT = "vault", _("from a vault's secondbrain.json")


class Provider(models.Model):
    """A service that answers: where it is and which key opens it."""

    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=100)
    kind = models.CharField(
        max_length=30, help_text=_("Which backend talks to it, see providers/registry.py.")
    )
    base_url = models.CharField(max_length=500, blank=True)
    base_url_variable = models.CharField(
        max_length=100,
        blank=True,
        help_text=_("Environment variable that overrides the base URL, such as OLLAMA_URL."),
    )
    key_variable = models.CharField(
        max_length=100,
        blank=True,
        help_text=_("Environment variable that holds the key, such as OPENAI_API_KEY."),
    )
    key = EncryptedTextField(
        blank=True, help_text=_("Stored encrypted; used only when the variable is unset.")
    )
    needs_key = models.BooleanField(default=True)
    vaults_may_add_models = models.BooleanField(
        default=True,
        help_text=_(
            "A vault's secondbrain.json may name further chat models of this provider, for "
            "questions to that vault. They are paid for with the site's key."
        ),
    )
    enabled = models.BooleanField(default=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.ADMIN)
    edited = models.BooleanField(
        default=False, help_text=_("Changed here: a reload of the presets leaves it alone.")
    )
    position = models.PositiveSmallIntegerField(default=100)

    class Meta:
        ordering = ["position", "slug"]

    def __str__(self) -> str:
        return self.name


class ProviderModel(models.Model):
    """What chat, embedding and rerank models have in common."""

    provider = models.ForeignKey(Provider, on_delete=models.CASCADE)
    name = models.CharField(max_length=200, help_text=_("The name the provider knows."))
    label = models.CharField(max_length=200, blank=True)
    is_default = models.BooleanField(default=False)
    enabled = models.BooleanField(default=True)
    origin = models.CharField(max_length=10, choices=Origin, default=Origin.ADMIN)
    edited = models.BooleanField(default=False)
    missing_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text=_("The provider's list of models did not name it any more."),
    )

    class Meta:
        abstract = True
        ordering = ["provider__position", "-is_default", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "name"], name="%(class)s_unique_name_in_provider"
            )
        ]

    def __str__(self) -> str:
        return self.label or self.name


class ChatModel(ProviderModel):
    context_window = models.PositiveIntegerField(default=8192, help_text=_("tokens"))
    max_output_tokens = models.PositiveIntegerField(default=2048, help_text=_("tokens"))
    input_price = models.DecimalField(
        max_digits=10, decimal_places=4, default=0, help_text=_("USD for a million tokens")
    )
    output_price = models.DecimalField(
        max_digits=10, decimal_places=4, default=0, help_text=_("USD for a million tokens")
    )
    token_factor = models.FloatField(
        default=1.0,
        editable=False,
        help_text=_("Tokens as the provider counts them, for one of the estimate: learned."),
    )
    can_call_tools = models.BooleanField(
        null=True,
        default=None,
        help_text=_(
            "Whether it may search again by itself. Unknown: it is tried, and a refusal of "
            "its provider is remembered here."
        ),
    )
    of_vault = models.PositiveBigIntegerField(
        null=True,
        blank=True,
        editable=False,
        help_text=_("Number of the vault whose settings file names it; offered there only."),
    )

    class Meta(ProviderModel.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["provider", "name"],
                condition=models.Q(of_vault=None),
                name="chatmodel_unique_name_in_provider",
            ),
            models.UniqueConstraint(
                fields=["provider", "name", "of_vault"],
                condition=models.Q(of_vault__isnull=False),
                name="chatmodel_unique_name_in_vault",
            ),
        ]


class EmbeddingModel(ProviderModel):
    dimensions = models.PositiveIntegerField()
    max_tokens = models.PositiveIntegerField(default=512)
    query_prefix = models.CharField(max_length=300, blank=True)
    passage_prefix = models.CharField(max_length=300, blank=True)
    price = models.DecimalField(
        max_digits=10, decimal_places=4, default=0, help_text=_("USD for a million tokens")
    )
    revision = models.CharField(
        max_length=60, blank=True, help_text=_("Change it when the same name gives new vectors.")
    )
    noise_bar = models.FloatField(
        null=True,
        editable=False,
        help_text=_("Cosine under which no passage is near a question: measured."),
    )
    noise_spread = models.FloatField(
        default=0.0, editable=False, help_text=_("Deviation of the cosines it was measured by.")
    )
    noise_passages = models.PositiveIntegerField(
        default=0, editable=False, help_text=_("Passages it was measured by.")
    )
    noise_of = models.PositiveBigIntegerField(
        default=0, editable=False, help_text=_("Vectors there were then.")
    )
    noise_space = models.CharField(
        max_length=16,
        blank=True,
        editable=False,
        help_text=_("Fingerprint of the model then; empty: not measured."),
    )

    @property
    def fingerprint(self) -> str:
        """What must be equal for two vectors to be comparable."""
        parts = (self.provider.kind, self.name, self.revision, str(self.dimensions))
        made = "|".join((*parts, self.query_prefix, self.passage_prefix))
        # What the backend does to vectors is not for the row to say: an edited row would
        # keep the old value and compare vectors of two makes.
        return f"{made}|{CENTRED}" if self.provider.kind == "local_e5" else made


class RerankModel(ProviderModel):
    class Shape(models.TextChoices):
        COHERE = "cohere", _("Cohere form (Cohere, Jina, Together)")
        TEI = "tei", _("text-embeddings-inference form")

    shape = models.CharField(max_length=10, choices=Shape, default=Shape.COHERE)


class UsageRecord(models.Model):
    """One call to a model: who, for what, how much."""

    class Purpose(models.TextChoices):
        ANSWER = "answer", _("answer")
        CONDENSE = "condense", _("condense")
        TITLE = "title", _("title")
        FOLLOW_UPS = "follow-ups", _("what to ask next")
        CONTEXT = "context", _("context line")
        EMBED_QUERY = "embed_query", _("embedding of a query")
        EMBED_PASSAGES = "embed_passages", _("embedding of passages")
        RERANK = "rerank", _("rerank")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    purpose = models.CharField(max_length=20, choices=Purpose)
    provider = models.CharField(max_length=60)
    model = models.CharField(max_length=200)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=12, decimal_places=6, default=0, help_text=_("USD"))
    milliseconds = models.PositiveIntegerField(default=0)
    failed_with = models.CharField(max_length=60, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["user", "created"]), models.Index(fields=["created"])]

    def __str__(self) -> str:
        return f"{self.purpose} by {self.model}"


class UsageLimit(models.Model):
    """How much may be used in a day or month before calls to chat models are refused."""

    class Period(models.TextChoices):
        DAY = "day", _("day")
        MONTH = "month", _("month")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    group = models.ForeignKey("auth.Group", null=True, blank=True, on_delete=models.CASCADE)
    per_person = models.BooleanField(
        default=False,
        help_text=_(
            "Each person of the group, or everybody, has this much. Otherwise all of them "
            "have it together. A limit of a person's own takes the place of these."
        ),
    )
    period = models.CharField(max_length=10, choices=Period, default=Period.MONTH)
    most_tokens = models.PositiveBigIntegerField(
        null=True, blank=True, help_text=_("Tokens in and out; empty: any number.")
    )
    most_cost = models.DecimalField(
        max_digits=10, decimal_places=2, null=True, blank=True, help_text=_("USD; empty: any.")
    )
    enabled = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user=None) | models.Q(group=None),
                name="usagelimit_of_a_user_or_a_group",
                violation_error_message=_(
                    "Choose a user or a group, not both; neither: everybody."
                ),
            ),
            models.CheckConstraint(
                condition=models.Q(most_tokens__isnull=False) | models.Q(most_cost__isnull=False),
                name="usagelimit_limits_something",
                violation_error_message=_("Enter the most tokens, the most cost, or both."),
            ),
            models.CheckConstraint(
                condition=models.Q(most_cost=None) | models.Q(most_cost__gte=0),
                name="usagelimit_cost_is_not_negative",
                violation_error_message=_("The most cost cannot be negative."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.whose} ({self.get_period_display()})"

    @property
    def whose(self) -> str:
        """Whom it limits, in words."""
        if self.user_id is not None:
            return str(self.user)
        group = str(self.group) if self.group_id is not None else ""
        if self.per_person:
            return (
                gettext("each of %(group)s") % {"group": group} if group else gettext("each person")
            )
        return (
            gettext("%(group)s together") % {"group": group}
            if group
            else gettext("everybody together")
        )
