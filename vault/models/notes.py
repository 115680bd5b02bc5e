"""What a file becomes: a note with its links and findings."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models.functions import MD5
from django.utils.translation import gettext_lazy as _

from vault.core.types import NoteKind
from vault.models.vaults import Vault
from vault.querysets import NoteQuerySet


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
    links_due = models.BooleanField(
        default=True, help_text=_("Its links, and what shows it, are still to be looked at.")
    )
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


class FormerPath(models.Model):
    """Where a note was before it was moved: old links and citations still find it."""

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="former_paths")
    path = models.TextField()
    moved = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("vault", MD5("path"), name="former_path_names_one_note"),
        ]

    def __str__(self) -> str:
        return self.path


class ScrubFinding(models.Model):
    """Where a secret stood in a vault, and of what kind; never the secret."""

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    note = models.ForeignKey(Note, on_delete=models.CASCADE, related_name="findings")
    kind = models.CharField(max_length=40)
    line = models.PositiveIntegerField(help_text=_("line of the file, from 1"))

    def __str__(self) -> str:
        return f"{self.kind}, line {self.line}"
