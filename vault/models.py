"""Vaults, their notes, and everything derived from them. Only this app writes here."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import MD5
from django.utils.translation import gettext_lazy as _

from providers.models import EmbeddingModel
from vault.core.types import NoteKind
from vault.fields import TextSearchConfigField, VectorField
from vault.querysets import JobQuerySet, NoteQuerySet, VaultQuerySet
from vault.weighted_tsvector import WeightedTsvector


class Vault(models.Model):
    """A folder of notes that a team shares."""

    class SourceKind(models.TextChoices):
        FOLDER = "folder", _("folder on this server")

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        PAUSED = "paused", _("paused, waiting for an answer")

    slug = models.SlugField(unique=True, max_length=60)
    name = models.CharField(max_length=120)
    source_kind = models.CharField(max_length=10, choices=SourceKind, default=SourceKind.FOLDER)
    place = models.CharField(max_length=1000, help_text=_("Absolute path of the folder."))
    state = models.CharField(max_length=10, choices=State, default=State.ACTIVE)
    pause_reason = models.TextField(blank=True)
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
    scrub_emails = models.BooleanField(default=False)
    templates_folder = models.CharField(
        max_length=200, blank=True, help_text=_("Notes in this folder are not indexed.")
    )
    largest_note_kb = models.PositiveIntegerField(default=5000)
    chunk_tokens = models.PositiveSmallIntegerField(default=400)
    chunk_overlap = models.PositiveSmallIntegerField(default=60)
    chunk_minimum = models.PositiveSmallIntegerField(default=60)
    loss_allowed = models.BooleanField(
        default=False,
        help_text=_("The next scan may delete any number of notes: somebody said so."),
    )
    created = models.DateTimeField(auto_now_add=True)

    objects = VaultQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


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


class Note(models.Model):
    """One file of a vault, scrubbed, as search and the note page see it."""

    class Status(models.TextChoices):
        PENDING = "pending", _("waiting to be indexed")
        INDEXED = "indexed", _("indexed")
        FAILED = "failed", _("failed")
        EXCLUDED = "excluded", _("excluded")

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    path = models.TextField(help_text=_("Relative to the vault, NFC, forward slashes."))
    title = models.TextField()
    body = models.TextField(blank=True)
    body_line = models.PositiveIntegerField(default=1)
    kind = models.CharField(
        max_length=12, choices=[(kind.value, kind.value) for kind in NoteKind], default="note"
    )
    language = models.CharField(max_length=40, blank=True)
    properties = models.JSONField(default=dict, blank=True)
    tags = ArrayField(models.TextField(), default=list, blank=True)
    aliases = ArrayField(models.TextField(), default=list, blank=True)
    lookup_keys = ArrayField(
        models.TextField(),
        default=list,
        blank=True,
        help_text=_("Normalised title, aliases, file name and path: exact hits."),
    )
    headings = models.JSONField(default=list, blank=True)
    size = models.PositiveBigIntegerField(default=0, help_text=_("bytes of the file"))
    content_hash = models.CharField(max_length=64, help_text=_("SHA-256 of the file."))
    indexed_hash = models.CharField(
        max_length=64,
        blank=True,
        help_text=_("What the chunks were made from: content, chunker version, settings."),
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    reason = models.TextField(blank=True, help_text=_("Why it failed or was excluded."))
    warnings = models.JSONField(
        default=list, blank=True, help_text=_("What is doubtful in the file: reason and line.")
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    file_modified = models.DateTimeField()
    created = models.DateTimeField(auto_now_add=True)
    updated = models.DateTimeField(auto_now=True, help_text=_("Last change of the text."))

    objects = NoteQuerySet.as_manager()

    class Meta:
        ordering = ["path"]
        constraints = [
            # A path may be longer than a b-tree entry: its hash is what is unique.
            models.UniqueConstraint("vault", MD5("path"), name="note_unique_path_in_vault"),
        ]
        indexes = [
            models.Index(fields=["vault", "content_hash"]),
            models.Index(fields=["vault", "status"]),
            GinIndex(fields=["lookup_keys"], name="note_lookup_keys"),
            GinIndex(fields=["tags"], name="note_tags"),
        ]

    def __str__(self) -> str:
        return self.title


class Link(models.Model):
    """A link from one note to another, resolved or not."""

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    source = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="links")
    target = models.ForeignKey(
        Note, null=True, blank=True, on_delete=models.SET_NULL, related_name="backlinks"
    )
    raw_target = models.TextField()
    anchor = models.TextField(blank=True)
    alias = models.TextField(blank=True)
    is_embed = models.BooleanField(default=False)
    start = models.PositiveIntegerField(default=0)
    line = models.PositiveIntegerField(default=1)

    def __str__(self) -> str:
        return self.raw_target


class Chunk(models.Model):
    """A piece of a note: what is embedded, found and cited."""

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="chunks")
    ordinal = models.PositiveIntegerField()
    heading_path = ArrayField(models.TextField())
    heading_text = models.TextField(
        blank=True, help_text=_("Heading path and aliases, as keyword search sees them.")
    )
    content = models.TextField()
    context = models.TextField(blank=True)
    summary = models.TextField(blank=True)
    made_tokens = models.TextField(
        blank=True, help_text=_("Identifiers and character n-grams made for keyword search.")
    )
    start = models.PositiveIntegerField(help_text=_("character offset in the note's body"))
    end = models.PositiveIntegerField()
    start_line = models.PositiveIntegerField()
    end_line = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    is_code = models.BooleanField(default=False)
    embed_hash = models.CharField(max_length=64, help_text=_("SHA-256 of the embedded text."))
    embed_failed = models.TextField(blank=True, help_text=_("Why it could not be embedded."))
    embed_failed_by = models.CharField(
        max_length=16, blank=True, help_text=_("Fingerprint of the model that refused it.")
    )
    embed_attempts = models.PositiveSmallIntegerField(default=0)
    text_config = TextSearchConfigField(default="simple")
    tsv = models.GeneratedField(
        expression=WeightedTsvector(
            F("text_config"),
            F("heading_text"),
            F("context"),
            F("content"),
            F("made_tokens"),
        ),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    class Meta:
        ordering = ["note", "ordinal"]
        constraints = [
            models.UniqueConstraint(
                fields=["vault", "note", "ordinal"],
                name="chunk_unique_ordinal_in_note",
                # An edited note renumbers its chunks in place.
                deferrable=models.Deferrable.DEFERRED,
            )
        ]
        indexes = [
            GinIndex(fields=["tsv"], name="chunk_tsv"),
            models.Index(fields=["vault", "embed_hash"]),
        ]

    def __str__(self) -> str:
        return " > ".join(self.heading_path)


class ChunkVector(models.Model):
    """The vector of a chunk under one embedding model."""

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    chunk = models.ForeignKey(Chunk, on_delete=models.CASCADE, related_name="vectors")
    embedding_model = models.ForeignKey(EmbeddingModel, on_delete=models.CASCADE)
    embed_hash = models.CharField(max_length=64)
    fingerprint = models.CharField(
        max_length=16, blank=True, help_text=_("Of the embedding model when it was made.")
    )
    vector = VectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["embedding_model", "vault", "chunk"], name="chunkvector_once_per_model"
            )
        ]
        indexes = [models.Index(fields=["embedding_model", "embed_hash"])]

    def __str__(self) -> str:
        return f"vector of chunk {self.chunk_id}"


class NoteVector(models.Model):
    """The vector of a whole note under one embedding model."""

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="vectors")
    embedding_model = models.ForeignKey(EmbeddingModel, on_delete=models.CASCADE)
    embed_hash = models.CharField(max_length=64)
    fingerprint = models.CharField(
        max_length=16, blank=True, help_text=_("Of the embedding model when it was made.")
    )
    vector = VectorField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["embedding_model", "vault", "note"], name="notevector_once_per_model"
            )
        ]

    def __str__(self) -> str:
        return f"vector of note {self.note_id}"


class LexemeFrequency(models.Model):
    """How many chunks hold a lexeme, for BM25; refreshed in the background."""

    text_config = models.CharField(max_length=63)
    lexeme = models.TextField()
    chunks = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["text_config", "lexeme"], name="lexeme_once_per_config")
        ]

    def __str__(self) -> str:
        return self.lexeme


class LexicalCorpus(models.Model):
    """Size of what is searched under one text configuration, for BM25."""

    text_config = models.CharField(max_length=63, unique=True)
    chunks = models.PositiveIntegerField()
    average_length = models.FloatField(help_text=_("lexemes in a chunk"))
    refreshed = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return self.text_config


class SyncRun(models.Model):
    """One reading of a vault's source: what changed, and what was wrong with which file."""

    class State(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        WARNINGS = "warnings", _("done with warnings")
        PAUSED = "paused", _("paused with a question")
        FAILED = "failed", _("failed")

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE, related_name="sync_runs")
    state = models.CharField(max_length=10, choices=State, default=State.RUNNING)
    counts = models.JSONField(default=dict)
    warnings = models.JSONField(default=list)
    error = models.TextField(blank=True)
    started = models.DateTimeField(auto_now_add=True)
    finished = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-started"]

    def __str__(self) -> str:
        return f"{self.vault} {self.started:%Y-%m-%d %H:%M}"


class ScrubFinding(models.Model):
    """Where a secret stood in a vault, and of what kind; never the secret."""

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="findings")
    kind = models.CharField(max_length=40)
    line = models.PositiveIntegerField(help_text=_("line of the file, from 1"))

    def __str__(self) -> str:
        return f"{self.kind}, line {self.line}"


class Job(models.Model):
    """Work to be done. This row is the truth; the queue only rings the bell."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    OPEN = (State.QUEUED, State.RUNNING)

    key = models.CharField(
        max_length=200, help_text=_("Names the work; only one open job may have it.")
    )
    kind = models.CharField(max_length=40)
    vault = models.ForeignKey(Vault, null=True, blank=True, on_delete=models.CASCADE)
    payload = models.JSONField(default=dict, help_text=_("ids only"))
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempts = models.PositiveSmallIntegerField(default=0)
    most_attempts = models.PositiveSmallIntegerField(default=5)
    run_after = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    wanted_again = models.BooleanField(
        default=False, help_text=_("Asked for while it ran: run once more.")
    )
    rung = models.DateTimeField(
        null=True, blank=True, help_text=_("When the queue was last told of it.")
    )
    progress = models.JSONField(default=dict)
    last_error = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)
    started = models.DateTimeField(null=True, blank=True)
    finished = models.DateTimeField(null=True, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        ordering = ["-created"]
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=Q(state__in=["queued", "running"]),
                name="job_open_once_per_key",
            )
        ]
        indexes = [models.Index(fields=["state", "lease_until"])]

    def __str__(self) -> str:
        return self.key


class ApiToken(models.Model):
    """A personal token. Only its SHA-256 is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    name = models.CharField(max_length=100, blank=True)
    digest = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name or f"token {self.pk}"
