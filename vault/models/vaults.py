"""A vault and who may do what in it."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from providers.models import EmbeddingModel
from vault.bare_names import BareName
from vault.core.file_kinds import DEFAULT_CODE_SUFFIXES, read_suffixes
from vault.core.folder_rules import BadFolder, read_folders
from vault.core.passage_sizes import PassageSizes
from vault.querysets import VaultManager, VaultQuerySet

BY_NAME = (BareName("name"), "pk")


def validate_suffixes(text: str) -> None:
    """Refuse what is no list of suffixes."""
    try:
        read_suffixes(text)
    except ValueError as error:
        raise ValidationError(str(error)) from error


class Vault(models.Model):
    """A folder of notes that a team shares."""

    class SourceKind(models.TextChoices):
        FOLDER = "folder", _("folder on this server")
        UPLOAD = "upload", _("uploaded zip archive")
        GIT = "git", _("git repository")

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        PAUSED = "paused", _("paused, waiting for an answer")
        DELETED = "deleted", _("deleted, can be brought back")
        REMOVING = "removing", _("being removed")
        TRIAL = "trial", _("copies for a trial, shown to nobody")

    class SwitchVerdict(models.TextChoices):
        """What was found of the next embedding model before it may serve; empty: not yet."""

        WORSE = "worse", "worse"
        AGREED = "agreed", "agreed"

    # States in which a vault is there for nobody: vault/removal.py.
    GONE = (State.DELETED, State.REMOVING)

    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=120)
    source_kind = models.CharField(max_length=10, choices=SourceKind, default=SourceKind.FOLDER)
    place = models.CharField(
        max_length=1000,
        help_text=_("Absolute path of the folder, or the https address of the repository."),
    )
    git_branch = models.CharField(
        _("branch"),
        max_length=250,
        blank=True,
        help_text=_("Of a git repository; empty: its default branch."),
    )
    token_variable = models.CharField(
        max_length=100,
        blank=True,
        validators=[RegexValidator(r"^GIT_TOKEN[A-Z0-9_]*$", _("Names begin with GIT_TOKEN."))],
        help_text=_(
            "Environment variable that holds the token of a private repository, such as "
            "GIT_TOKEN_DOCS; its value is never stored or shown."
        ),
    )
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    pause_reason = models.TextField(blank=True)
    deleted = models.DateTimeField(null=True, blank=True, editable=False)
    embedding_model = models.ForeignKey(
        EmbeddingModel,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        help_text=_("Serves search by meaning. Empty: keyword search only."),
    )
    next_embedding_model = models.ForeignKey(
        EmbeddingModel,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text=_(
            "To change the model, choose the new one here: its vectors are made beside the "
            "old ones, and it takes over when every note has one."
        ),
    )
    previous_embedding_model = models.ForeignKey(
        EmbeddingModel,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text=_("Served before; its vectors are kept for a while, as the way back."),
    )
    model_switched = models.DateTimeField(
        null=True, blank=True, help_text=_("When another model began to serve.")
    )
    switch_verdict = models.CharField(
        max_length=10, blank=True, default="", choices=SwitchVerdict, editable=False
    )
    switch_report = models.JSONField(default=dict, editable=False)
    scrub_emails = models.BooleanField(default=False)
    templates_folder = models.CharField(
        max_length=200, blank=True, help_text=_("Notes in this folder are not indexed.")
    )
    ignored = models.TextField(
        _("left out"),
        blank=True,
        help_text=_(
            "Files and folders that are not read, one pattern a line as in .gitignore, such as "
            "Private/ or *.draft.md. A .brainignore file of the vault counts as well."
        ),
    )
    code_suffixes = models.TextField(
        _("source files"),
        blank=True,
        default=DEFAULT_CODE_SUFFIXES,
        validators=[validate_suffixes],
        help_text=_("Suffixes of the files that are read as code, such as .py .js; empty: none."),
    )
    largest_note_kb = models.PositiveIntegerField(default=5000)
    largest_attachment_kb = models.PositiveIntegerField(
        default=20_000, help_text=_("Of PDF files and pictures; larger ones are only listed.")
    )
    chunk_tokens = models.PositiveSmallIntegerField(default=400)
    chunk_overlap = models.PositiveSmallIntegerField(default=60)
    chunk_minimum = models.PositiveSmallIntegerField(default=60)
    keeps_facts = models.BooleanField(
        _("keeps facts"),
        default=False,
        help_text=_("Programs of its editors may store facts beside the notes, over the API."),
    )
    loss_allowed = models.BooleanField(
        default=False,
        help_text=_("The next scan may delete any number of notes: somebody said so."),
    )
    links_due = models.BooleanField(
        default=False,
        help_text=_("Names of notes changed: every link is still to be looked at."),
    )
    created = models.DateTimeField(auto_now_add=True)

    # Copies for a trial are in no list, no count and no choice: who works on them says `every`.
    objects = VaultManager()
    every = VaultQuerySet.as_manager()

    class Meta:
        ordering = BY_NAME

    def __str__(self) -> str:
        return self.name

    @property
    def passage_sizes(self) -> PassageSizes:
        return PassageSizes(self.chunk_tokens, self.chunk_overlap, self.chunk_minimum)


class VaultMember(models.Model):
    """What a user, or everybody in a group, may do in a vault."""

    class Role(models.TextChoices):
        READER = "reader", _("reader: search and ask")
        EDITOR = "editor", _("editor: also sync and upload")
        OWNER = "owner", _("owner: also members and settings")

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE
    )
    group = models.ForeignKey(Group, null=True, blank=True, on_delete=models.CASCADE)
    role = models.CharField(max_length=10, choices=Role, default=Role.READER)
    only_folders = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text=_("Folders that may be read, separated by commas; empty: all of them."),
    )
    hidden_folders = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text=_("Folders that may not be read. An owner reads everything."),
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(user__isnull=False, group__isnull=True)
                | Q(user__isnull=True, group__isnull=False),
                name="member_is_user_or_group",
            ),
            models.UniqueConstraint(
                fields=["vault", "user"], condition=Q(user__isnull=False), name="member_user_once"
            ),
            models.UniqueConstraint(
                fields=["vault", "group"],
                condition=Q(group__isnull=False),
                name="member_group_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user or self.group}: {self.role}"

    def clean(self) -> None:
        """Folders in the form that paths of notes have. Raises ValidationError."""
        for name in ("only_folders", "hidden_folders"):
            try:
                setattr(self, name, list(read_folders("\n".join(getattr(self, name) or []))))
            except BadFolder as error:
                raise ValidationError({name: str(error)}) from error


class ApiToken(models.Model):
    """A personal token. Only its SHA-256 is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    name = models.CharField(max_length=100, blank=True)
    digest = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name or f"token {self.pk}"
