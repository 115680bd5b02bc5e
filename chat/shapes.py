"""Shapes of what the chat's REST API answers, for its description.

Rows are written where they are made (threads.py, options.py, …); a test calls every address
and holds what comes back against these.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from chat.asking_serializers import PresetSerializer
from chat.event_serializers import CitationSerializer, PassageSerializer, StepSerializer
from chat.models import ToolUse
from chat.serializers import ConversationSerializer, FolderSerializer

Shape = serializers.Serializer[Any]


def _texts(**fields: Any) -> serializers.ListField:
    return serializers.ListField(child=serializers.CharField(), **fields)


class OfferedModelSerializer(Shape):
    """A model that can answer."""

    id = serializers.IntegerField()
    label = serializers.CharField()  # type: ignore[assignment]
    provider = serializers.CharField()
    vault = serializers.CharField(allow_null=True, help_text="slug of the vault that brings it")
    chosen = serializers.BooleanField()
    is_free = serializers.BooleanField(help_text="it costs nothing and no limit holds for it")


class OfferedPersonaSerializer(Shape):
    """A persona that can be chosen."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    role = serializers.CharField(allow_blank=True)
    vault = serializers.CharField(allow_null=True, help_text="slug of the vault it stands in")


class OfferedModeSerializer(Shape):
    """What an answer may rest on, or how far its model may search on."""

    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]


class OfferedVaultSerializer(Shape):
    """A vault that can be searched."""

    slug = serializers.CharField()
    name = serializers.CharField()


class LimitAheadSerializer(Shape):
    """A limit that is nearly used up, or `is_spent`."""

    text = serializers.CharField()
    is_spent = serializers.BooleanField()


class OptionsSerializer(Shape):
    """What may be chosen, and what holds when nothing is."""

    models = OfferedModelSerializer(many=True)
    personas = OfferedPersonaSerializer(many=True)
    modes = OfferedModeSerializer(many=True)
    vaults = OfferedVaultSerializer(many=True)
    model = serializers.IntegerField(allow_null=True)
    model_from_vault = serializers.CharField(allow_blank=True)
    persona = serializers.IntegerField(allow_null=True)
    mode = serializers.CharField()
    tool_uses = OfferedModeSerializer(many=True)
    tool_use = serializers.CharField()
    notices = _texts()
    limit = LimitAheadSerializer(allow_null=True)


class VaultChoiceSerializer(Shape):
    """What a vault's settings file chooses."""

    name = serializers.CharField()
    provider = serializers.CharField(allow_blank=True)
    model = serializers.CharField(allow_blank=True)
    system_prompt = serializers.CharField(allow_blank=True)


class OwnSettingsSerializer(Shape):
    """The user's settings. Null or an empty text: the site's choice."""

    model = serializers.IntegerField(allow_null=True)
    persona = serializers.IntegerField(allow_null=True)
    system_prompt = serializers.CharField(allow_blank=True)
    mode = serializers.CharField(allow_blank=True)
    passages = serializers.IntegerField(allow_null=True)
    alternates = serializers.BooleanField(allow_null=True)
    rerank = serializers.BooleanField(allow_null=True)
    adds_sources = serializers.BooleanField(allow_null=True)
    follow_ups = serializers.CharField(allow_blank=True)
    shares_unanswered = serializers.BooleanField(allow_null=True)
    tool_use = serializers.CharField(allow_blank=True)
    tool_steps = serializers.IntegerField(allow_null=True)
    base_system_prompt = serializers.CharField(help_text="what a reset brings back")
    vaults = VaultChoiceSerializer(many=True)


class ListedConversationSerializer(ConversationSerializer):
    """A conversation in a list; `running`: an answer is being written in it."""

    running = serializers.BooleanField()

    class Meta(ConversationSerializer.Meta):
        fields = [*ConversationSerializer.Meta.fields, "running"]


class ConversationsSerializer(Shape):
    """A page of conversations; `next` is `before` of the next page, null: there is none."""

    results = ListedConversationSerializer(many=True)
    next = serializers.DateTimeField(allow_null=True)


class MessageErrorSerializer(Shape):
    """Why an answer failed; empty where it did not."""

    code = serializers.CharField(allow_blank=True)
    text = serializers.CharField(allow_blank=True)
    mend = serializers.CharField(allow_blank=True)


class CallSerializer(Shape):
    """A call to a model."""

    purpose = serializers.CharField()
    model = serializers.CharField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cost = serializers.CharField(help_text="USD")
    milliseconds = serializers.IntegerField()
    failed_with = serializers.CharField(allow_blank=True)


class NearestSerializer(Shape):
    """A note that comes near a question without an answer."""

    title = serializers.CharField()
    path = serializers.CharField()
    vault = serializers.CharField(help_text="slug")
    vault_name = serializers.CharField()
    url = serializers.CharField()


class MessageSerializer(Shape):
    """A question or an answer; those of the branch that is shown are `active`.

    A question has only the fields up to `nearest`. `run` and `seq` stand while the answer is
    written: its events are followed from there.
    """

    id = serializers.UUIDField()
    parent = serializers.UUIDField(allow_null=True)  # type: ignore[assignment]
    role = serializers.ChoiceField(["user", "assistant"])
    text = serializers.CharField(allow_blank=True)
    status = serializers.CharField(help_text="running, done, stopped, interrupted, failed")
    created = serializers.DateTimeField()
    active = serializers.BooleanField(required=False, help_text="not in what is shared")
    replaced = serializers.BooleanField(required=False)
    nearest = NearestSerializer(many=True, required=False)
    run = serializers.UUIDField(required=False)
    seq = serializers.IntegerField(required=False)
    withheld = serializers.BooleanField(
        required=False, help_text="it rests on a vault that you may not read any more"
    )
    html = serializers.CharField(allow_blank=True, required=False)
    mode = serializers.CharField(allow_blank=True, required=False)
    model = serializers.CharField(allow_blank=True, required=False)
    persona = serializers.CharField(allow_blank=True, required=False)
    error = MessageErrorSerializer(required=False)
    cut_short = serializers.BooleanField(required=False)
    sources_added = serializers.BooleanField(required=False)
    usage = serializers.DictField(child=serializers.IntegerField(), required=False)
    calls = CallSerializer(many=True, required=False)
    notices = _texts(required=False)
    citations = CitationSerializer(many=True, required=False)
    sources = PassageSerializer(many=True, required=False)
    hidden_sources = serializers.ListField(child=serializers.IntegerField(), required=False)
    retrieval_run = serializers.IntegerField(allow_null=True, required=False)
    tool_use = serializers.ChoiceField(ToolUse.choices, required=False)
    steps = StepSerializer(many=True, required=False)


class ThreadSerializer(ConversationSerializer):
    """A conversation with all its messages, oldest first."""

    messages = MessageSerializer(many=True)

    class Meta(ConversationSerializer.Meta):
        fields = [*ConversationSerializer.Meta.fields, "messages"]


class DeletedSerializer(Shape):
    """How many messages were deleted."""

    deleted = serializers.IntegerField()


class ExcerptSerializer(Shape):
    """A run of text, marked or not."""

    text = serializers.CharField()
    found = serializers.BooleanField()


class MessageHitSerializer(Shape):
    """Where the words stand; `message` is null where the title has them."""

    conversation = serializers.UUIDField()
    title = serializers.CharField()
    updated = serializers.DateTimeField()
    message = serializers.UUIDField(allow_null=True)
    excerpt = ExcerptSerializer(many=True)


class MessageHitsSerializer(Shape):
    """Newest conversation first."""

    results = MessageHitSerializer(many=True)


class FoldersSerializer(Shape):
    """Every folder of the user."""

    results = FolderSerializer(many=True)


class PresetsSerializer(Shape):
    """Every preset that the user may call."""

    results = PresetSerializer(many=True)


class OfferedSerializer(Shape):
    """`value` goes into the field; `id` names a preset or a persona; `asks`: it has gaps."""

    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    detail = serializers.CharField(allow_blank=True)
    id = serializers.CharField(allow_blank=True)
    asks = serializers.BooleanField()


class OfferedListSerializer(Shape):
    """A few, best first."""

    results = OfferedSerializer(many=True)


class GoldenSerializer(Shape):
    """A golden question of a vault."""

    id = serializers.IntegerField()
    vault = serializers.CharField(help_text="slug")


class GoldensSerializer(Shape):
    """One for each vault."""

    results = GoldenSerializer(many=True)


class FollowUpsSerializer(Shape):
    """What to ask next."""

    questions = _texts()


class UnansweredSerializer(Shape):
    """A question that a vault does not answer; `nearest` and `answered_by` are paths."""

    id = serializers.IntegerField()
    question = serializers.CharField()
    cause = serializers.CharField()
    state = serializers.CharField()
    asked = serializers.IntegerField(help_text="how often")
    last_asked = serializers.DateTimeField()
    nearest = _texts()
    answered_by = _texts()


class UnansweredListSerializer(Shape):
    """Those asked last come first."""

    results = UnansweredSerializer(many=True)


class LinkSerializer(Shape):
    """A link to a conversation or an answer; `state` is empty while it opens."""

    id = serializers.UUIDField()
    title = serializers.CharField()
    audience = serializers.CharField()
    url = serializers.CharField()
    created = serializers.DateTimeField()
    expires = serializers.DateTimeField()
    state = serializers.CharField(allow_blank=True)


class LinksSerializer(Shape):
    """Newest first."""

    results = LinkSerializer(many=True)


class SharedSerializer(Shape):
    """What is shared, less what rests on vaults that you may not read."""

    title = serializers.CharField()
    shared_by = serializers.CharField()
    created = serializers.DateTimeField()
    expires = serializers.DateTimeField()
    messages = MessageSerializer(many=True)


class CopiedSerializer(Shape):
    """The conversation that was made."""

    id = serializers.UUIDField()
    title = serializers.CharField()


class ImportedSerializer(Shape):
    """How many conversations were new, here already, not yours to read, or brought back."""

    added = serializers.IntegerField()
    known = serializers.IntegerField()
    withheld = serializers.IntegerField()
    restored = serializers.IntegerField()
