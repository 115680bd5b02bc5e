"""Vaults and notes for scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.http import parse_etags, quote_etag
from drf_spectacular.utils import (
    OpenApiExample,
    OpenApiParameter,
    PolymorphicProxySerializer,
    extend_schema,
)
from rest_framework import status
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from vault import access, json_presenters, presenters
from vault.core.places import read_place
from vault.core.tokens import estimate_tokens
from vault.forms import read_number
from vault.models import Note, Vault
from vault.related import MOST_RELATED, related_notes
from vault.removal import RemovalRefused, delete_vault, restore_vault, seconds_to_undo
from vault.removal_tasks import call_off_removal, request_removal
from vault.sections import read_section, read_window, sections_in
from vault.serializers import (
    DeletedVaultSerializer,
    IndexStatusSerializer,
    NoSectionSerializer,
    NoteSerializer,
    SectionSerializer,
    SimilarNotesSerializer,
    VaultSerializer,
    VaultSettingsSerializer,
    WindowSerializer,
)
from vault.settings_forms import VaultSettingsForm
from vault.status import vault_statuses
from vault.tasks import request_sync

DEFAULT_SIMILAR = 5
# Notes that a note names as linked, each way; a note that all others link to has thousands.
MOST_LINKED = 200
_PUMPS = {"note_id": 12, "vault": "team", "path": "Ops/Pumps.md", "title": "Pumps"}
_SIMILAR = {"results": [{**_PUMPS, "similarity": 0.8127}], "reason": ""}
_SECTION = {
    **_PUMPS,
    "heading_path": ["Pumps", "Blue pump"],
    "text": "## Blue pump\n\nIt failed in March.\n",
    "span": [120, 153],
    "tokens": 11,
    "below": [],
}
_WINDOW = {
    **_PUMPS,
    "heading_path": ["Pumps", "Blue pump"],
    "text": "It failed in March.",
    "span": [134, 153],
    "tokens": 6,
    "before": None,
    "after": "154-171.0c2e",
}
_NO_SECTION = {
    "code": "no_section",
    "detail": "This note has no such section. Choose one of “sections”.",
    "sections": [["Pumps"], ["Pumps", "Blue pump"]],
}


_VERSION = OpenApiParameter(
    "ETag", str, OpenApiParameter.HEADER, response=[200], description="the version of the settings"
)
_IF_MATCH = OpenApiParameter(
    "If-Match",
    str,
    OpenApiParameter.HEADER,
    description="`ETag` as it was read: 412 when the settings have changed since",
)


class VaultsView(APIView):
    """`GET /api/vaults`."""

    @extend_schema(
        operation_id="vaults", summary="Vaults you may read", responses=VaultSerializer(many=True)
    )
    def get(self, request: Request) -> Response:
        rows = presenters.vault_rows(request.user)
        return Response([json_presenters.vault_json(row) for row in rows])


class VaultView(APIView):
    """`/api/vaults/<slug>`: its settings, for owners."""

    @extend_schema(
        operation_id="vault",
        summary="Settings of a vault",
        parameters=[_VERSION],
        responses=VaultSettingsSerializer,
    )
    def get(self, request: Request, slug: str) -> Response:
        return _settings(access.owned_vault(request.user, slug))

    @extend_schema(
        operation_id="change_vault",
        summary="Change settings of a vault",
        parameters=[_IF_MATCH, _VERSION],
        request=VaultSettingsSerializer(partial=True),
        responses=VaultSettingsSerializer,
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Only what is named changes. A vault whose reading changes is read again."""
        found = access.owned_vault(request.user, slug)
        if not isinstance(request.data, Mapping):
            raise ValidationError("Send an object with the settings that change.")
        with transaction.atomic():
            # Locked: of two that change the same settings the second sees what the first wrote.
            found = Vault.objects.select_for_update(of=("self",)).get(pk=found.pk)
            _require_version(request, found)
            changed = self._change(request, found, dict(request.data.items()))
        if changed - {"name"}:
            request_sync(found.pk)
        return _settings(found)

    def _change(self, request: Request, found: Vault, sent: dict[str, Any]) -> set[str]:
        """Save what was sent; returns the names of what is another now."""
        data = json_presenters.settings_json(found) | sent
        is_staff = bool(getattr(request.user, "is_staff", False))
        form = VaultSettingsForm(data, instance=found, is_staff=is_staff)
        closed = sorted(set(sent) - set(form.fields))
        if closed:
            raise ValidationError({name: ["Nothing you may change here."] for name in closed})
        if not form.is_valid():
            raise ValidationError(
                {name: [str(text) for text in errors] for name, errors in form.errors.items()}
            )
        form.save()
        return set(form.changed_data)

    @extend_schema(
        operation_id="delete_vault",
        summary="Delete a vault",
        parameters=[
            OpenApiParameter("name", str, required=True, description="its name, to confirm")
        ],
        responses={202: DeletedVaultSerializer},
    )
    def delete(self, request: Request, slug: str) -> Response:
        """It disappears at once and can be restored for a while; its files are not touched."""
        found = access.owned_vault(request.user, slug)
        try:
            gone = delete_vault(found.pk, typed=request.query_params.get("name", ""))
        except RemovalRefused as refused:
            raise ValidationError({"name": [str(refused)]}) from refused
        request_removal(found.pk)
        return Response({"slug": gone.slug, "seconds": int(seconds_to_undo(gone))}, status=202)


class RestoreVaultView(APIView):
    """`POST /api/vaults/<slug>/restore`."""

    @extend_schema(
        operation_id="restore_vault",
        summary="Bring a deleted vault back",
        request=None,
        responses=VaultSettingsSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        found = access.deleted_vault(request.user, slug)
        try:
            restored = restore_vault(found.pk)
        except RemovalRefused as refused:
            raise ValidationError({"slug": [str(refused)]}) from refused
        call_off_removal(found.pk)
        return _settings(restored)


class NoteView(APIView):
    """`GET /api/notes/<id>`."""

    @extend_schema(operation_id="note", summary="A note", responses=NoteSerializer)
    def get(self, request: Request, note_id: int) -> Response:
        note = _note(request, note_id)
        notes = access.notes_in(access.scope_for(request.user)).select_related("vault")
        linked = notes.filter(backlinks__source=note).exclude(pk=note.pk).distinct()
        linking = notes.filter(links__target=note).exclude(pk=note.pk).distinct()
        links, more_links = _some_of(linked)
        backlinks, more_backlinks = _some_of(linking)
        return Response(
            json_presenters.note_json(note)
            | {
                "sections": [list(section.path) for section in sections_in(note)],
                "links": links,
                "more_links": more_links,
                "backlinks": backlinks,
                "more_backlinks": more_backlinks,
            }
        )


class SimilarView(APIView):
    """`GET /api/notes/<id>/similar?limit=5`."""

    @extend_schema(
        operation_id="similar_notes",
        summary="Notes that read like this one",
        parameters=[OpenApiParameter("limit", int, description=f"1 to {MOST_RELATED}; 5")],
        responses=SimilarNotesSerializer,
        examples=[OpenApiExample("One comes near", value=_SIMILAR, response_only=True)],
    )
    def get(self, request: Request, note_id: int) -> Response:
        note = _note(request, note_id)
        limit = read_number(request.query_params.get("limit", str(DEFAULT_SIMILAR)))
        if limit is None or not 1 <= limit <= MOST_RELATED:
            raise ValidationError({"limit": [f"Give a number from 1 to {MOST_RELATED}."]})
        found = related_notes(note, scope=access.scope_for(request.user), limit=limit)
        results = [
            json_presenters.note_ref(row) | {"similarity": round(likeness, 4)}
            for row, likeness in found
        ]
        reason = "" if results else "The note, or every other one, has no vector yet."
        return Response({"results": results, "reason": reason})


class SectionView(APIView):
    """`GET /api/notes/<id>/section?path=Heading&path=Sub`, or `?around=120-151`."""

    @extend_schema(
        operation_id="note_section",
        summary="One section of a note",
        parameters=[
            OpenApiParameter(
                "path",
                str,
                many=True,
                description="Headings, outermost first: repeated, or one with “ > ” between.",
            ),
            OpenApiParameter(
                "below", str, enum=["0", "1"], description="0: without its subsections; 1"
            ),
            OpenApiParameter(
                "around",
                str,
                description=(
                    "In place of `path`: a place such as `120-151` (`around` of a search "
                    "result), for the sentences around it alone."
                ),
            ),
        ],
        responses={
            200: PolymorphicProxySerializer(
                "SectionOrWindow", [SectionSerializer, WindowSerializer], None
            ),
            404: NoSectionSerializer,
        },
        examples=[
            OpenApiExample("A section", value=_SECTION, response_only=True, status_codes=["200"]),
            OpenApiExample(
                "Around a place", value=_WINDOW, response_only=True, status_codes=["200"]
            ),
            OpenApiExample("None", value=_NO_SECTION, response_only=True, status_codes=["404"]),
        ],
    )
    def get(self, request: Request, note_id: int) -> Response:
        note = _note(request, note_id)
        if "around" in request.query_params:
            return _window(note, request.query_params["around"])
        wanted = request.query_params.getlist("path")
        with_below = request.query_params.get("below", "1") != "0"
        found = read_section(note, wanted, with_below=with_below) if any(wanted) else None
        if found is None:
            return _nowhere(note, "This note has no such section. Choose one of “sections”.")
        return Response(
            json_presenters.note_ref(note)
            | {
                "heading_path": list(found.path),
                "text": found.text,
                "span": [found.start, found.end],
                "tokens": estimate_tokens(found.text),
                "below": [list(path) for path in found.below],
            }
        )


class IndexStatusView(APIView):
    """`GET /api/index/status`."""

    @extend_schema(
        operation_id="index_status",
        summary="How far your vaults are",
        responses=IndexStatusSerializer,
    )
    def get(self, request: Request) -> Response:
        scope = access.scope_for(request.user)
        models = ("embedding_model__provider", "next_embedding_model__provider")
        vaults = list(access.visible_to(request.user).select_related(*models))
        statuses = vault_statuses(vaults, scope=scope)
        rows: list[dict[str, Any]] = [
            json_presenters.status_json(*pair) for pair in zip(vaults, statuses, strict=True)
        ]
        return Response({"vaults": rows})


class _ChangedMeanwhile(APIException):
    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_code = "changed_meanwhile"
    default_detail = (
        "The settings are others than those that If-Match names. Read them again, and change "
        "what you still want to change."
    )


def _settings(vault: Vault) -> Response:
    version = quote_etag(json_presenters.settings_version(vault))
    return Response(json_presenters.settings_json(vault), headers={"ETag": version})


def _require_version(request: Request, vault: Vault) -> None:
    """Nothing that the sender has not seen is overwritten, where they say what they saw."""
    wanted = request.headers.get("If-Match")
    if wanted is None:
        return
    # Proxies that compress mark a version as weak; it is the same.
    versions = {each.removeprefix("W/") for each in parse_etags(wanted)}
    if not versions & {"*", quote_etag(json_presenters.settings_version(vault))}:
        raise _ChangedMeanwhile


def _some_of(notes: QuerySet[Note]) -> tuple[list[dict[str, Any]], int]:
    """MOST_LINKED of them by title, and how many more there are."""
    rows = list(notes.defer("body").order_by("title", "path")[:MOST_LINKED])
    more = notes.count() - len(rows) if len(rows) == MOST_LINKED else 0
    return [json_presenters.note_ref(row) for row in rows], more


def _window(note: Note, written: str) -> Response:
    place = read_place(written)
    if place is None:
        raise ValidationError({"around": ["Give a place such as 120-151."]})
    found = read_window(note, place)
    if found is None:
        return _nowhere(
            note, "This note has not this text there (any more). Choose one of “sections”."
        )
    return Response(json_presenters.window_json(note, found))


def _nowhere(note: Note, detail: str) -> Response:
    listed = [list(section.path) for section in sections_in(note)]
    return Response({"code": "no_section", "detail": detail, "sections": listed}, status=404)


def _note(request: Request, note_id: int) -> Note:
    """Missing and forbidden look the same."""
    notes = access.notes_in(access.scope_for(request.user)).select_related("vault")
    note = notes.filter(pk=note_id).first() if note_id < 2**63 else None
    if note is None:
        raise NotFound("No such note.")
    return note
