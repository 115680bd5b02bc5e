"""The shapes of /v1, as the API's description has them. core/openai_reply.py writes them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework import serializers

from chat.event_serializers import EVENT_STREAM
from chat.models import AnswerMode

_STREAM = """\
data: {"id": "chatcmpl-5f0c…", "object": "chat.completion.chunk", "choices": [{"index": 0, \
"delta": {"content": "The pump failed in March. [1]"}, "finish_reason": null}], …}

data: {"id": "chatcmpl-5f0c…", "object": "chat.completion.chunk", "choices": [{"index": 0, \
"delta": {}, "finish_reason": "stop"}], "sources": [{"n": 1, "cited": true, …}], …}

data: [DONE]

"""


class ModelSerializer(serializers.Serializer[Any]):
    """A model: its provider and name; `@` and a vault where the vault brings it."""

    id = serializers.CharField()
    object = serializers.CharField(help_text="model")
    created = serializers.IntegerField(help_text="0: not known")
    owned_by = serializers.CharField()


class ModelListSerializer(serializers.Serializer[Any]):
    """Every model that may be asked."""

    object = serializers.CharField(help_text="list")
    data = ModelSerializer(many=True)  # type: ignore[assignment]


class ErrorDetailSerializer(serializers.Serializer[Any]):
    """What happened, and its code."""

    message = serializers.CharField()
    type = serializers.CharField()
    param = serializers.CharField(allow_null=True)
    code = serializers.CharField()


class ErrorSerializer(serializers.Serializer[Any]):
    """An error in OpenAI's form."""

    error = ErrorDetailSerializer()


class SaidSerializer(serializers.Serializer[Any]):
    """A message of the conversation."""

    role = serializers.ChoiceField(["system", "developer", "user", "assistant"])
    content = serializers.CharField(help_text="text, or a list of parts of text")


class WishesSerializer(serializers.Serializer[Any]):
    """What OpenAI's form has no field for. Other keys are left alone."""

    vaults = serializers.CharField(required=False, help_text="slugs, with commas between")
    mode = serializers.ChoiceField(AnswerMode.choices, required=False)
    persona = serializers.CharField(required=False, help_text="number of a persona; 0: none")
    footnotes = serializers.CharField(
        required=False, help_text="true: the cited sources stand below the text, too"
    )


class StreamOptionsSerializer(serializers.Serializer[Any]):
    """What a stream tells besides the words."""

    include_usage = serializers.BooleanField(required=False)


class CompletionRequestSerializer(serializers.Serializer[Any]):
    """A question with the conversation so far.

    `temperature`, `max_tokens` and the like are set by an admin for each model: sent, they
    are named in `notices`. `tools`, `n` over 1, JSON and images are refused.
    """

    model = serializers.CharField(help_text="of /v1/models")
    messages = SaidSerializer(many=True, help_text="the last one is the user's question")
    stream = serializers.BooleanField(required=False)
    stream_options = StreamOptionsSerializer(required=False)
    metadata = WishesSerializer(required=False)


class CitedUrlSerializer(serializers.Serializer[Any]):
    """Where in the text a mark stands, and what it leads to."""

    start_index = serializers.IntegerField()
    end_index = serializers.IntegerField()
    title = serializers.CharField()
    url = serializers.CharField(allow_blank=True)


class AnnotationSerializer(serializers.Serializer[Any]):
    """A mark, in the form of OpenAI's own searches."""

    type = serializers.CharField(help_text="url_citation")
    url_citation = CitedUrlSerializer()


class AnswerMessageSerializer(serializers.Serializer[Any]):
    """The answer's text."""

    role = serializers.CharField()
    content = serializers.CharField()
    refusal = serializers.CharField(allow_null=True)
    annotations = AnnotationSerializer(many=True)


class ChoiceSerializer(serializers.Serializer[Any]):
    """The one answer."""

    index = serializers.IntegerField()
    message = AnswerMessageSerializer()
    logprobs = serializers.CharField(allow_null=True)
    finish_reason = serializers.ChoiceField(["stop", "length", "content_filter"])


class TokensSerializer(serializers.Serializer[Any]):
    """Tokens as the provider told them; 0 where it told none."""

    prompt_tokens = serializers.IntegerField()
    completion_tokens = serializers.IntegerField()
    total_tokens = serializers.IntegerField()


class CompletionSourceSerializer(serializers.Serializer[Any]):
    """A passage that was read; `n` is its mark in the text."""

    n = serializers.IntegerField()
    cited = serializers.BooleanField()
    title = serializers.CharField()
    vault = serializers.CharField(allow_blank=True)
    path = serializers.CharField()
    heading_path = serializers.ListField(child=serializers.CharField())
    text = serializers.CharField()
    url = serializers.CharField(allow_blank=True)
    updated = serializers.DateTimeField(allow_null=True)
    date = serializers.DateField(allow_null=True)
    status = serializers.CharField(allow_blank=True)
    superseded_by = serializers.CharField(allow_blank=True)
    also_in = serializers.ListField(
        child=serializers.CharField(), help_text="vault and path of notes that said the same"
    )
    valid_until = serializers.CharField(allow_blank=True)


class CompletionSerializer(serializers.Serializer[Any]):
    """An answer; a stream's last chunk has the same fields from `sources` on."""

    id = serializers.CharField()
    object = serializers.CharField(help_text="chat.completion")
    created = serializers.IntegerField(help_text="seconds since 1970")
    model = serializers.CharField()
    choices = ChoiceSerializer(many=True)
    usage = TokensSerializer()
    sources = CompletionSourceSerializer(many=True)
    citations = serializers.ListField(child=serializers.DictField())
    notices = serializers.ListField(child=serializers.CharField())
    answered_by = serializers.CharField(allow_blank=True)
    conversation = serializers.UUIDField()
    message = serializers.UUIDField()


def completion_responses() -> dict[int | tuple[int, str], Any]:
    """An answer at once or as chunks, or an error."""
    streamed = OpenApiResponse(
        CompletionSerializer,
        description="Chunks as server-sent events, the last one with the sources; then [DONE].",
        examples=[OpenApiExample("Chunks", value=_STREAM, media_type=EVENT_STREAM)],
    )
    refused: dict[int | tuple[int, str], Any] = dict.fromkeys(
        (400, 401, 403, 404, 409, 413, 429, 500, 502, 503, 504), ErrorSerializer
    )
    return {
        (200, "application/json"): CompletionSerializer,
        (200, EVENT_STREAM): streamed,
        **refused,
    }
