"""The events of an answer and the question that begins one, as the API's description has them.

They are written by core/events.py and never pass through here; a test holds both alike.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse, PolymorphicProxySerializer
from rest_framework import serializers

from chat.core.asking import LONGEST_QUESTION
from chat.core.events import EventType
from chat.models import AnswerMode, ToolUse

EVENT_STREAM = "text/event-stream"
_EXAMPLE = """\
id: 1
event: sources
data: {"type": "sources", "seq": 1, "passages": [{"number": 1, "title": "Pumps", …}], …}

id: 2
event: delta
data: {"type": "delta", "seq": 2, "text": "The pump failed in March. [1]", …}

id: 3
event: done
data: {"type": "done", "seq": 3, "citations": [{"n": 1, "quote": "…", …}], …}

"""


class ProblemSerializer(serializers.Serializer[Any]):
    """Why nothing was done: `code` for programs, `detail` for people."""

    code = serializers.CharField()
    detail = serializers.CharField()


class AskSerializer(serializers.Serializer[Any]):
    """A question. What is left out, or null, is taken from the settings."""

    text = serializers.CharField(
        max_length=LONGEST_QUESTION,
        required=False,
        help_text="the question; not with `again` or `continue`",
    )
    mode = serializers.ChoiceField(AnswerMode.choices, required=False, allow_null=True)
    vaults = serializers.ListField(
        child=serializers.CharField(),
        required=False,
        allow_null=True,
        help_text="slugs of the vaults to search; null: the conversation's",
    )
    model = serializers.IntegerField(
        required=False, allow_null=True, help_text="`id` of a model of /api/chat/options"
    )
    persona = serializers.IntegerField(
        required=False, allow_null=True, help_text="`id` of a persona; 0: none"
    )
    tool_use = serializers.ChoiceField(
        ToolUse.choices,
        required=False,
        allow_null=True,
        help_text="whether the model may search again before it answers",
    )
    again = serializers.UUIDField(
        required=False, allow_null=True, help_text="the answer to write anew, beside the old one"
    )
    edit = serializers.UUIDField(
        required=False, allow_null=True, help_text="the question that `text` takes the place of"
    )

    def get_fields(self) -> dict[str, Any]:
        """`continue` is a word of Python's, so no attribute can have its name."""
        unfinished = serializers.UUIDField(
            required=False, allow_null=True, help_text="the answer that ended early and goes on"
        )
        return {**super().get_fields(), "continue": unfinished}


class _EventSerializer(serializers.Serializer[Any]):
    """What every event says: which answer it is of, and its number there, from 1."""

    type = serializers.CharField()
    run = serializers.UUIDField()
    conversation = serializers.UUIDField()
    message = serializers.UUIDField()
    seq = serializers.IntegerField(min_value=1)


class _ArmSerializer(serializers.Serializer[Any]):
    """An arm of the search: whether it ran, else why not."""

    name = serializers.CharField()
    ran = serializers.BooleanField()
    reason = serializers.CharField(allow_blank=True)
    found = serializers.IntegerField()
    path = serializers.CharField(allow_blank=True, help_text="how it looked: exact, index, …")


class CopyOfPassageSerializer(serializers.Serializer[Any]):
    """Another note that said the same as a passage, and was left out for that."""

    vault = serializers.CharField(help_text="slug")
    path = serializers.CharField()
    title = serializers.CharField()
    url = serializers.CharField()
    outdated = serializers.BooleanField(help_text="its note said that it no longer holds")


class PassageSerializer(serializers.Serializer[Any]):
    """A passage that the answer may cite by its number."""

    number = serializers.IntegerField(min_value=1)
    title = serializers.CharField()
    path = serializers.CharField()
    vault = serializers.CharField(allow_blank=True, help_text="slug")
    vault_name = serializers.CharField(allow_blank=True)
    heading_path = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField()
    start = serializers.IntegerField(help_text="where it stands in the note, in characters")
    end = serializers.IntegerField()
    url = serializers.CharField(allow_blank=True, help_text="its note, opened there")
    arms = serializers.ListField(child=serializers.CharField(), help_text="which found it, how")
    updated = serializers.DateTimeField(allow_null=True, help_text="when its file changed")
    date = serializers.DateField(allow_null=True, help_text="the day the note is of")
    status = serializers.CharField(allow_blank=True)
    superseded_by = serializers.CharField(allow_blank=True)
    valid_until = serializers.CharField(allow_blank=True)
    also_in = CopyOfPassageSerializer(many=True)


class CitationSerializer(serializers.Serializer[Any]):
    """A sentence of the answer and the quote that bears it out."""

    n = serializers.IntegerField(min_value=1)
    sentence = serializers.CharField()
    quote = serializers.CharField()
    quote_start = serializers.IntegerField()
    quote_end = serializers.IntegerField()
    headings = serializers.ListField(child=serializers.CharField())
    weak = serializers.BooleanField(help_text="the passage may not say so")
    url = serializers.CharField(allow_blank=True)


class _UsageSerializer(serializers.Serializer[Any]):
    """Tokens of the answer; 0 where the provider told none."""

    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()


class SourcesEventSerializer(_EventSerializer):
    """The first event: what was searched, and the passages that were found. It comes again,
    whole, when a step found more."""

    queries = serializers.ListField(child=serializers.CharField())
    passages = PassageSerializer(many=True)
    arms = _ArmSerializer(many=True)
    timings = serializers.DictField(child=serializers.FloatField(), help_text="seconds")
    notices = serializers.ListField(child=serializers.CharField())
    searched = serializers.ListField(child=serializers.CharField(), help_text="slugs")
    mode = serializers.CharField(allow_blank=True)
    model = serializers.CharField(allow_blank=True)
    persona = serializers.CharField(allow_blank=True)


class StepSerializer(serializers.Serializer[Any]):
    """A further search of the model: what it wanted, and what came of it."""

    number = serializers.IntegerField(min_value=1)
    tool = serializers.CharField()
    what = serializers.CharField(allow_blank=True, help_text="what it looked for")
    why = serializers.CharField(allow_blank=True, help_text="what it was missing")
    state = serializers.CharField(help_text="asked, running, done, refused, failed, interrupted")
    decision = serializers.CharField(
        allow_blank=True, help_text="the reader's word: allow, allow_all, refuse, time_out"
    )
    said = serializers.CharField(allow_blank=True, help_text="why it failed")
    found = serializers.ListField(
        child=serializers.IntegerField(), help_text="numbers of its passages"
    )
    milliseconds = serializers.IntegerField()
    retrieval_run = serializers.IntegerField(allow_null=True)


class ToolEventSerializer(_EventSerializer, StepSerializer):
    """A step came to another state; `html` is its line of the page's list."""

    html = serializers.CharField()


class StatusEventSerializer(_EventSerializer):
    """What is done now."""

    stage = serializers.CharField()
    text = serializers.CharField()


class DeltaEventSerializer(_EventSerializer):
    """The next piece of the answer's Markdown."""

    text = serializers.CharField()


class BlockEventSerializer(_EventSerializer):
    """The `index`-th block as HTML, in place of what was sent of it before."""

    index = serializers.IntegerField()
    html = serializers.CharField(allow_blank=True)
    closed = serializers.BooleanField(help_text="it does not change any more")


class ResetEventSerializer(_EventSerializer):
    """Forget all words and blocks so far: the answer begins anew with what follows."""

    reason = serializers.CharField(
        required=False,
        help_text="sources_added: the same words follow, with marks; abstained: no passage "
        "bears out what was said, and that there is no answer follows",
    )


class EndEventSerializer(_EventSerializer):
    """The last event of an answer that ended of itself, or was stopped."""

    citations = CitationSerializer(many=True)
    usage = _UsageSerializer()
    cut_short = serializers.BooleanField(help_text="the model reached its limit of tokens")
    sources_added = serializers.BooleanField()
    html = serializers.CharField(allow_blank=True)


class ErrorEventSerializer(_EventSerializer):
    """The last event of an answer that failed: why, and what mends it. Its text is kept."""

    code = serializers.CharField()
    text = serializers.CharField()
    mend = serializers.CharField(allow_blank=True)
    html = serializers.CharField(allow_blank=True)
    citations = CitationSerializer(many=True, required=False)


class ClosedEventSerializer(serializers.Serializer[Any]):
    """The caller may do nothing here any more; the answer is written on."""

    type = serializers.CharField()
    code = serializers.IntegerField()


EVENTS: dict[str, serializers.Serializer[Any] | type[serializers.Serializer[Any]]] = {
    EventType.SOURCES.value: SourcesEventSerializer,
    EventType.STATUS.value: StatusEventSerializer,
    EventType.TOOL.value: ToolEventSerializer,
    EventType.DELTA.value: DeltaEventSerializer,
    EventType.BLOCK.value: BlockEventSerializer,
    EventType.RESET.value: ResetEventSerializer,
    EventType.DONE.value: EndEventSerializer,
    EventType.STOPPED.value: EndEventSerializer,
    EventType.ERROR.value: ErrorEventSerializer,
    "closed": ClosedEventSerializer,
}


def stream_of_events(*refusals: int) -> dict[int | tuple[int, str], Any]:
    """Responses of a view that streams events, or refuses with one of these statuses."""
    events = PolymorphicProxySerializer(
        "AnswerEvent", serializers=EVENTS, resource_type_field_name="type"
    )
    streamed = OpenApiResponse(
        events,
        description="Server-sent events. The data of each is one of these objects, as JSON.",
        examples=[OpenApiExample("An answer", value=_EXAMPLE, media_type=EVENT_STREAM)],
    )
    refused: dict[int | tuple[int, str], Any] = dict.fromkeys(refusals, ProblemSerializer)
    return {(200, EVENT_STREAM): streamed, **refused}
