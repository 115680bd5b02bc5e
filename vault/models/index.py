"""What search reads: chunks, vectors, word counts."""

from __future__ import annotations

import hashlib

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from providers.models import EmbeddingModel
from vault.core.chunking import embedded_text
from vault.fields import TextSearchConfigField, VectorField
from vault.models.notes import Note
from vault.models.vaults import Vault
from vault.weighted_tsvector import WeightedTsvector


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
    context = models.TextField(
        blank=True, help_text=_("A line of a model's that says where the passage stands.")
    )
    summary = models.TextField(blank=True, help_text=_("A line of a model's, for display."))
    context_made = models.CharField(
        max_length=16,
        blank=True,
        help_text=_("Settings under which the context line was written; empty: not yet."),
    )
    made_tokens = models.TextField(
        blank=True, help_text=_("Identifiers and character n-grams made for keyword search.")
    )
    embedded_text = models.TextField(
        blank=True, help_text=_("What is embedded here from other notes, for keyword search.")
    )
    embedded_shown = models.IntegerField(
        default=0, help_text=_("Characters of it, from its start, that the vector covers.")
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
        max_length=85, blank=True, help_text=_("Fingerprints of the models that refused it.")
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
            F("embedded_text"),
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
            # Which configurations a vault holds is asked by every search: 5 ms instead of 30
            # for 7,500 chunks.
            models.Index(fields=["vault", "text_config"], name="chunk_vault_config"),
            # Every search asks how much code a vault holds, and some compare all of it.
            models.Index(fields=["vault"], name="chunk_code", condition=Q(is_code=True)),
            # Few, and asked for by every page of a vault: which passages a model refused.
            models.Index(fields=["vault"], name="chunk_refused", condition=~Q(embed_failed="")),
            # Asked by every scan: whether lines are left that are to be taken away.
            models.Index(fields=["vault"], name="chunk_context", condition=~Q(context_made="")),
        ]

    def __str__(self) -> str:
        return " > ".join(self.heading_path)

    def vector_text(self) -> str:
        """What its vector is made from, without the model's prefix."""
        shown = self.embedded_text[: self.embedded_shown]
        return embedded_text(self.heading_path, self.context, self.content, shown=shown)

    def renew_vector_hash(self) -> bool:
        """Set `embed_hash` after a part of the text changed; whether it is another now.

        That a model refused the old text is forgotten. Does not save.
        """
        text = self.vector_text().encode("utf-8", "surrogatepass")
        before, self.embed_hash = self.embed_hash, hashlib.sha256(text).hexdigest()
        if self.embed_hash == before:
            return False
        self.embed_failed, self.embed_failed_by, self.embed_attempts = "", "", 0
        return True


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
        indexes = [
            models.Index(fields=["embedding_model", "embed_hash"]),
            # Every search asks how many vectors of the model, as it is now, a vault has.
            models.Index(
                fields=["embedding_model", "vault", "fingerprint"], name="chunkvector_space"
            ),
        ]

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


class Lexeme(models.Model):
    """A word that some vault holds: what a typo is compared with. Who may hear of it is
    decided by LexemeFrequency."""

    lexeme = models.TextField(unique=True)

    def __str__(self) -> str:
        return self.lexeme


class LexemeFrequency(models.Model):
    """How many chunks of a vault hold a lexeme, for BM25; refreshed in the background.

    By vault, since a search must weigh by what its reader may read and nothing else.
    """

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    text_config = models.CharField(max_length=63)
    lexeme = models.TextField()
    chunks = models.PositiveIntegerField()

    class Meta:
        constraints = [
            # The word first: a search asks for a word in many vaults.
            models.UniqueConstraint(
                fields=["lexeme", "vault", "text_config"], name="lexeme_once_per_vault"
            )
        ]

    def __str__(self) -> str:
        return self.lexeme


class LexicalCorpus(models.Model):
    """Size of what is searched in a vault under one text configuration, for BM25."""

    vault = models.ForeignKey(Vault, on_delete=models.CASCADE)
    text_config = models.CharField(max_length=63)
    chunks = models.PositiveIntegerField()
    average_length = models.FloatField(help_text=_("lexemes in a chunk"))
    refreshed = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["vault", "text_config"], name="lexicalcorpus_once_per_vault"
            )
        ]

    def __str__(self) -> str:
        return self.text_config
