"""Facts of a vault for programs: `/api/vaults/<slug>/facts`."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import status
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from vault import access
from vault.facts import FactsOff, NewFact, add_fact, remove_fact
from vault.forms import read_number
from vault.models import Fact
from vault.serializers import FactSerializer, FactsSerializer

PAGE = 100


class _FactsAreOff(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "facts_off"


class FactsView(APIView):
    """The facts of a vault."""

    @extend_schema(
        operation_id="facts",
        summary="Facts that programs keep beside a vault",
        parameters=[
            OpenApiParameter("note", int, description="only those about this note"),
            OpenApiParameter("after", int, description="`next` of the page before"),
        ],
        responses=FactsSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        vault = access.readable_vault(request.user, slug)
        facts = access.facts_of(request.user, vault).select_related("note", "author")
        for name, column in (("note", "note_id"), ("after", "pk__gt")):
            if name in request.query_params:
                number = read_number(request.query_params[name])
                if number is None:
                    raise ValidationError({name: ["Give a number."]})
                facts = facts.filter(**{column: number})
        rows = list(facts[: PAGE + 1])
        following = rows[PAGE - 1].pk if len(rows) > PAGE else None
        return Response({"facts": [_json(fact) for fact in rows[:PAGE]], "next": following})

    @extend_schema(
        operation_id="add_fact",
        summary="Store a fact",
        request=FactSerializer,
        responses={201: FactSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """For editors, in a vault that keeps facts."""
        vault = access.editable_vault(request.user, slug)
        given = FactSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        values = given.validated_data
        note = None
        if values["note_id"] is not None:
            note = access.notes_of(request.user, vault).filter(pk=values["note_id"]).first()
            if note is None:
                raise ValidationError({"note_id": ["The vault has no such note."]})
        try:
            new = NewFact(values["text"], values["origin"], note)
            made = add_fact(vault, new, author=request.user)
        except FactsOff as error:
            raise _FactsAreOff(str(error)) from error
        return Response(_json(made), status=status.HTTP_201_CREATED)


class FactView(APIView):
    """One fact."""

    @extend_schema(operation_id="delete_fact", summary="Delete a fact", responses={204: None})
    def delete(self, request: Request, slug: str, fact_id: int) -> Response:
        """For editors."""
        vault = access.editable_vault(request.user, slug)
        if fact_id >= 2**63 or not remove_fact(request.user, vault, fact_id):
            raise NotFound("No such fact.")
        return Response(status=status.HTTP_204_NO_CONTENT)


def _json(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.pk,
        "text": fact.text,
        "origin": fact.origin,
        "note_id": fact.note_id,
        "path": fact.note.path if fact.note else "",
        "author": str(fact.author or ""),
        "created": fact.created,
    }
