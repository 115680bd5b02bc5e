"""The shapes of what scripts get about vaults and notes, for the published schema."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class VaultSerializer(serializers.Serializer[Any]):
    """A vault that you may read."""

    slug = serializers.CharField()
    name = serializers.CharField()
    role = serializers.CharField(help_text="reader, editor or owner")
    notes = serializers.IntegerField()
    searchable = serializers.IntegerField(help_text="notes that keyword search finds")
    last_sync = serializers.DateTimeField(allow_null=True)


class VaultSettingsSerializer(serializers.Serializer[Any]):
    """What an owner may change of a vault; which fields, depends on where its notes are."""

    slug = serializers.CharField(read_only=True)
    name = serializers.CharField()
    place = serializers.CharField()
    git_branch = serializers.CharField()
    token_variable = serializers.CharField()
    ignored = serializers.CharField(help_text="patterns as in .gitignore, one a line")
    templates_folder = serializers.CharField()
    code_suffixes = serializers.CharField()
    largest_note_kb = serializers.IntegerField()
    largest_attachment_kb = serializers.IntegerField()
    scrub_emails = serializers.BooleanField()
    chunk_tokens = serializers.IntegerField()
    chunk_overlap = serializers.IntegerField()
    chunk_minimum = serializers.IntegerField()


class DeletedVaultSerializer(serializers.Serializer[Any]):
    """A vault that was deleted a moment ago."""

    slug = serializers.CharField()
    seconds = serializers.IntegerField(help_text="how long it can be restored")


class NoteRefSerializer(serializers.Serializer[Any]):
    """A note, named."""

    note_id = serializers.IntegerField()
    vault = serializers.CharField(help_text="slug")
    path = serializers.CharField()
    title = serializers.CharField()


class NoteSerializer(NoteRefSerializer):
    """A note with its text."""

    kind = serializers.CharField()
    body = serializers.CharField(help_text="as stored: without secrets and front matter")
    properties = serializers.JSONField()
    tags = serializers.ListField(child=serializers.CharField())
    aliases = serializers.ListField(child=serializers.CharField())
    sections = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="heading paths, for /section",
    )
    backlinks = NoteRefSerializer(many=True, help_text="by title, at most 200")
    more_backlinks = serializers.IntegerField(help_text="that are not named")
    links = NoteRefSerializer(many=True, help_text="by title, at most 200")
    more_links = serializers.IntegerField(help_text="that are not named")
    status = serializers.CharField()
    reason = serializers.CharField()
    content_hash = serializers.CharField()
    updated_at = serializers.DateTimeField()


class FactSerializer(serializers.Serializer[Any]):
    """A sentence that a program keeps beside a vault; about one note, or all of it."""

    id = serializers.IntegerField(read_only=True)
    text = serializers.CharField(max_length=2000, help_text="secrets are taken out of it")
    origin = serializers.CharField(max_length=500, help_text="where it comes from, in your words")
    note_id = serializers.IntegerField(
        allow_null=True, required=False, default=None, min_value=1, max_value=2**63 - 1
    )
    path = serializers.CharField(read_only=True, allow_blank=True, help_text="of the note")
    author = serializers.CharField(read_only=True, allow_blank=True, help_text="who stored it")
    created = serializers.DateTimeField(read_only=True)


class FactsSerializer(serializers.Serializer[Any]):
    """Facts in the order in which they were stored; `next` continues, null: that is all."""

    facts = FactSerializer(many=True)
    next = serializers.IntegerField(allow_null=True, help_text="for `after`")


class SimilarNoteSerializer(NoteRefSerializer):
    """A note that reads like the one asked about."""

    similarity = serializers.FloatField(help_text="cosine, only to compare within one answer")


class SimilarNotesSerializer(serializers.Serializer[Any]):
    """Nearest first. `reason` says why there are none, where that has one."""

    results = SimilarNoteSerializer(many=True)
    reason = serializers.CharField()


class SectionSerializer(NoteRefSerializer):
    """One section of a note; `below`: the subsections that were left out."""

    heading_path = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField()
    span = serializers.ListField(child=serializers.IntegerField())
    tokens = serializers.IntegerField(help_text="estimated")
    below = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))


class WindowSerializer(NoteRefSerializer):
    """The sentences around a place. `before`, `after`: the places next to them in the
    section, for `around`; null at its ends."""

    heading_path = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField()
    span = serializers.ListField(child=serializers.IntegerField())
    tokens = serializers.IntegerField(help_text="estimated")
    before = serializers.CharField(allow_null=True)
    after = serializers.CharField(allow_null=True)


class NoSectionSerializer(serializers.Serializer[Any]):
    """There is no such section; these are there."""

    code = serializers.CharField()
    detail = serializers.CharField()
    sections = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))


class FileProblemSerializer(serializers.Serializer[Any]):
    """What is wrong with a file, and how to mend it."""

    path = serializers.CharField()
    reason = serializers.CharField()
    mend = serializers.CharField(allow_blank=True)
    severity = serializers.CharField(help_text="missing, partly, doubtful or setting")
    line = serializers.IntegerField(allow_null=True)
    note_id = serializers.IntegerField(allow_null=True)
    kind = serializers.CharField(allow_blank=True)


class CurrentJobSerializer(serializers.Serializer[Any]):
    """What a worker does for the vault now."""

    kind = serializers.CharField()
    state = serializers.CharField()
    stage = serializers.CharField(allow_blank=True)
    done = serializers.IntegerField()
    total = serializers.IntegerField()
    per_second = serializers.FloatField()
    seconds_left = serializers.IntegerField(allow_null=True)
    attempts = serializers.IntegerField()
    last_error = serializers.CharField(allow_blank=True)


class LastRunSerializer(serializers.Serializer[Any]):
    """The last reading of the vault."""

    state = serializers.CharField()
    counts = serializers.DictField(child=serializers.IntegerField())
    not_read = serializers.DictField(
        child=serializers.IntegerField(), help_text="files of kinds that are not read, by suffix"
    )
    error = serializers.CharField(allow_blank=True)
    started = serializers.DateTimeField()
    finished = serializers.DateTimeField(allow_null=True)


class VaultStatusSerializer(serializers.Serializer[Any]):
    """How far a vault is. A number is null while counting takes too long."""

    slug = serializers.CharField()
    coverage = serializers.CharField(help_text="12 of 14")
    notes = serializers.IntegerField(allow_null=True)
    searchable = serializers.IntegerField(allow_null=True, help_text="by keyword")
    covered = serializers.IntegerField(allow_null=True, help_text="by meaning as well")
    chunks = serializers.IntegerField(allow_null=True)
    embedded = serializers.IntegerField(allow_null=True)
    pending = serializers.IntegerField(allow_null=True)
    failed = serializers.IntegerField(allow_null=True)
    failed_notes = serializers.IntegerField(allow_null=True)
    excluded = serializers.IntegerField(allow_null=True)
    embedding_model = serializers.CharField(allow_blank=True)
    next_embedding_model = serializers.CharField(allow_blank=True)
    state = serializers.CharField()
    question = serializers.CharField(allow_blank=True)
    following_done = serializers.IntegerField(help_text="chunks the next model has vectors of")
    following_total = serializers.IntegerField()
    problems = FileProblemSerializer(many=True)
    suspicious = FileProblemSerializer(many=True)
    jobs = CurrentJobSerializer(many=True)
    last_run = LastRunSerializer(allow_null=True)


class IndexStatusSerializer(serializers.Serializer[Any]):
    """How far every vault is: as `index_status --json`."""

    vaults = VaultStatusSerializer(many=True)
