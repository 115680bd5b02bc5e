"""Search for scripts."""

from __future__ import annotations

from asgiref.sync import async_to_sync
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from retrieval.core.filters import KINDS
from retrieval.core.keys import fault_of_keys
from retrieval.core.types import Mode
from retrieval.forms import CHOSEN, Given, Unreadable, read_asked
from retrieval.presenters.results import result_json
from retrieval.search import search_notes
from retrieval.serializers import SearchResultSerializer


def _filter(name: str, description: str) -> OpenApiParameter:
    return OpenApiParameter(name, str, many=True, description=description)


PARAMETERS = [
    OpenApiParameter(
        "q",
        str,
        description=(
            "Any text; an empty one finds nothing unless there are filters. Filters may stand "
            "in it: `path:Ops/`, `folder:Ops`, `tag:project`, `[status:draft]`, `kind:code`, "
            "`vault:handbook`, `after:2026-01-31`, `before:2026-02-28`, `-word`, `-tag:draft`, "
            '`"exact words"`; alone, they list notes, newest first.'
        ),
    ),
    OpenApiParameter("vault", str, many=True, description="Slugs; none: every vault you may read."),
    OpenApiParameter("mode", str, enum=[str(mode) for mode in Mode]),
    OpenApiParameter("limit", int, description="Notes wanted; at most 100 are given."),
    _filter("folder", "Notes in this folder or below."),
    _filter("path", "Notes whose path begins so, from the root of their vault."),
    _filter("tag", "Notes with this tag or one nested in it."),
    _filter("prop", "`name=value`: notes with this property; `name=`: with any value."),
    OpenApiParameter("kind", str, many=True, enum=list(KINDS)),
    OpenApiParameter("after", str, description="Day (2026-01-31) or later; also 2026-01, 2026."),
    OpenApiParameter("before", str, description="Earlier than this day."),
]
# A filter that is passed over lets everything through.
_NAMES = frozenset(parameter.name for parameter in PARAMETERS)

EXAMPLE = {
    "results": [
        {
            "rank": 1,
            "note_id": 12,
            "vault": "team",
            "path": "Ops/Pumps.md",
            "title": "Pumps",
            "heading_path": ["Pumps", "Blue pump"],
            "snippet": "The blue pump failed in March.",
            "arms": ["keyword 1", "meaning 2"],
            "span": [120, 151],
            "around": "120-151.3fa9",
            "updated_at": "2026-03-04T05:06:07+00:00",
            "date": "2026-03-03",
            "status": "",
            "superseded_by": "",
            "valid_until": "",
            "also_in": [
                {
                    "note_id": 31,
                    "vault": "team",
                    "path": "Archive/Pumps.md",
                    "title": "Pumps",
                    "span": [96, 240],
                    "outdated": False,
                }
            ],
        }
    ],
    "arms": {
        "keyword": {"ran": True, "reason": "", "found": 4, "path": ""},
        "meaning": {"ran": True, "reason": "", "found": 50, "path": "exact"},
    },
    "timings": {"embed": 8.1, "search": 6.4, "total": 15.2},
    "notices": [],
}


class SearchView(APIView):
    """`GET /api/search?q=&vault=&mode=&limit=&tag=&…`: all filters must hold."""

    @extend_schema(
        operation_id="search",
        summary="Search notes",
        parameters=PARAMETERS,
        responses=SearchResultSerializer,
        examples=[OpenApiExample("Two arms found it", value=EXAMPLE, response_only=True)],
    )
    def get(self, request: Request) -> Response:
        given = request.query_params
        for name in given:
            if fault := fault_of_keys([name], known=_NAMES):
                raise ValidationError({name: [fault]})
        try:
            asked = read_asked(
                request.user,
                Given(
                    query=given.get("q", ""),
                    mode=given.get("mode", ""),
                    slugs=given.getlist("vault"),
                    limit=given.get("limit", ""),
                    chosen={name: given.getlist(name) for name in CHOSEN},
                ),
            )
        except Unreadable as error:
            raise ValidationError({error.name: [str(error)]}) from error
        result = async_to_sync(search_notes)(
            asked.text, scope=asked.scope, mode=asked.mode, limit=asked.limit
        )
        return Response(result_json(result))
