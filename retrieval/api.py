"""Search for scripts."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from retrieval.core.types import Mode
from retrieval.forms import Unreadable, read_asked
from retrieval.presenters.results import result_json
from retrieval.search import search_notes
from retrieval.serializers import SearchResultSerializer


class SearchView(APIView):
    """`GET /api/search?q=&vault=&mode=&limit=`."""

    @extend_schema(
        operation_id="search",
        summary="Search notes",
        parameters=[
            OpenApiParameter(
                "q",
                str,
                description=(
                    "Any text; an empty one finds nothing. Filters: `path:Ops/`, `tag:project`, "
                    "`after:2026-01-31`, `before:2026-02-28`, `-word`, `-tag:draft`, "
                    '`"exact words"`; alone, they list notes, newest first.'
                ),
            ),
            OpenApiParameter(
                "vault", str, many=True, description="Slugs; none: every vault you may read."
            ),
            OpenApiParameter("mode", str, enum=[str(mode) for mode in Mode]),
            OpenApiParameter("limit", int, description="Notes wanted; at most 100 are given."),
        ],
        responses=SearchResultSerializer,
    )
    def get(self, request: Request) -> Response:
        given = request.query_params
        try:
            asked = read_asked(
                request.user,
                query=given.get("q", ""),
                mode=given.get("mode", ""),
                slugs=given.getlist("vault"),
                limit=given.get("limit", ""),
            )
        except Unreadable as error:
            raise ValidationError({error.name: [str(error)]}) from error
        result = async_to_sync(search_notes)(
            asked.query, scope=asked.scope, mode=asked.mode, limit=asked.limit
        )
        return Response(result_json(result))
