"""The shape of search answers, for the published schema."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers


class CopySerializer(serializers.Serializer[Any]):
    """Another note that says the same as the passage that was found."""

    note_id = serializers.IntegerField()
    vault = serializers.CharField(help_text="slug")
    path = serializers.CharField()
    title = serializers.CharField()
    span = serializers.ListField(
        child=serializers.IntegerField(), help_text="characters of the note's body, [start, end)"
    )
    outdated = serializers.BooleanField(help_text="its note says that it no longer holds")


class SearchHitSerializer(serializers.Serializer[Any]):
    """A note, with the passage that was found."""

    rank = serializers.IntegerField()
    note_id = serializers.IntegerField()
    vault = serializers.CharField(help_text="slug")
    path = serializers.CharField()
    title = serializers.CharField()
    heading_path = serializers.ListField(child=serializers.CharField())
    snippet = serializers.CharField(help_text="plain text")
    arms = serializers.ListField(child=serializers.CharField())
    span = serializers.ListField(
        child=serializers.IntegerField(), help_text="characters of the note's body, [start, end)"
    )
    around = serializers.CharField(
        help_text="the sentences that tell most, for `around` of a note's section"
    )
    updated_at = serializers.DateTimeField(help_text="when its file changed")
    date = serializers.DateField(help_text="of the note: what it says, its path, or its file")
    status = serializers.CharField(allow_blank=True)
    superseded_by = serializers.CharField(allow_blank=True)
    valid_until = serializers.CharField(allow_blank=True)
    also_in = CopySerializer(many=True, help_text="no results of their own for this passage")


class ArmSerializer(serializers.Serializer[Any]):
    """Whether an arm ran, what it found and how, or why it was skipped."""

    ran = serializers.BooleanField()
    reason = serializers.CharField()
    found = serializers.IntegerField()
    path = serializers.CharField()


class SearchResultSerializer(serializers.Serializer[Any]):
    """Notes, best first, what each arm did, milliseconds by stage, and what to know of it."""

    results = SearchHitSerializer(many=True)
    arms = serializers.DictField(child=ArmSerializer())
    timings = serializers.DictField(child=serializers.FloatField())
    notices = serializers.ListField(
        child=serializers.CharField(), help_text="sentences for whoever reads the results"
    )
