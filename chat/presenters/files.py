"""Exported conversations as downloads."""

from __future__ import annotations

from typing import IO, Any

from django.http import FileResponse, HttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header

from chat.core.asking import BadAsk
from chat.core.exporting import as_markdown, file_name
from chat.exporting import as_json

KINDS = ("markdown", "json")


def exported_file(conversation: dict[str, Any], kind: str) -> HttpResponse:
    """A download of one conversation, as one of KINDS; none: Markdown. Raises BadAsk."""
    if kind and kind not in KINDS:
        raise BadAsk(f"“as” must be one of {', '.join(KINDS)}.")
    if kind == "json":
        content, ending, media = as_json([conversation]), "json", "application/json"
    else:
        content, ending, media = as_markdown(conversation), "md", "text/markdown; charset=utf-8"
    name = file_name(conversation["title"], ending=ending)
    return HttpResponse(
        content,
        content_type=media,
        headers={"Content-Disposition": content_disposition_header(True, name)},  # noqa: FBT003
    )


def zip_of(archive: IO[bytes]) -> FileResponse:
    """A download of everything, named by the day."""
    name = f"conversations {timezone.localdate().isoformat()}.zip"
    return FileResponse(archive, as_attachment=True, filename=name)
