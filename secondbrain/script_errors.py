"""The one form in which the addresses for scripts say that something cannot be done.

`{"code": …, "detail": …}`, and `"fields": {name: [sentence, …]}` where it is about fields.
Below `/v1/` it is the form of OpenAI.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, JsonResponse
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.exceptions import PermissionDenied as Forbidden
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from chat.core.openai_reply import error_json

# One word for one thing: the streams of chat, which the framework has no part in, say these.
_CODES = {
    "invalid": "bad_request",
    "parse_error": "bad_request",
    "authentication_failed": "not_authenticated",
}


def is_for_scripts(request: HttpRequest) -> bool:
    """Whether whoever asks this address reads JSON, not pages."""
    return f"{request.path}/".startswith(("/api/", "/v1/"))


def script_error(request: HttpRequest, status: int, code: str, text: str) -> JsonResponse:
    """The answer of an address for scripts that no view of it gives."""
    if f"{request.path}/".startswith("/v1/"):
        return JsonResponse(error_json(status, code, text), status=status)
    return JsonResponse({"code": code, "detail": text}, status=status)


def rest_error(exc: Exception, context: dict[str, Any]) -> Response | None:
    """What the framework says of a failure, in this form; None: it does not know the failure."""
    response = exception_handler(exc, context)
    if response is None:
        return None
    response.data = _said(_known(exc))
    return response


def _known(exc: Exception) -> APIException:
    """As the framework itself takes Django's two exceptions."""
    if isinstance(exc, APIException):
        return exc
    kinds: dict[type[Exception], type[APIException]] = {
        Http404: NotFound,
        PermissionDenied: Forbidden,
    }
    return next(made(*exc.args) for kind, made in kinds.items() if isinstance(exc, kind))


def _said(error: APIException) -> dict[str, Any]:
    code = error.default_code if isinstance(error, ValidationError) else error.get_codes()
    said = {"code": _CODES.get(str(code), str(code))}
    fields: dict[str, list[str]] = {}
    for name, sentence in _sentences(error.detail):
        fields.setdefault(name, []).append(sentence)
    whole = fields.pop("", [])
    named = [f"{name}: {' '.join(about)}" for name, about in fields.items()]
    data: dict[str, Any] = said | {"detail": " ".join([*whole, *named])}
    return data | {"fields": fields} if fields else data


def _sentences(detail: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """(field, sentence) of each complaint; the field of the whole is "", a nested one has the
    names above it and dots."""
    if isinstance(detail, dict):
        for key, inner in detail.items():
            whole = key == api_settings.NON_FIELD_ERRORS_KEY
            yield from _sentences(inner, name if whole else f"{name}.{key}".lstrip("."))
    elif isinstance(detail, list | tuple):
        for number, inner in enumerate(detail):
            is_text = isinstance(inner, str)
            yield from _sentences(inner, name if is_text else f"{name}.{number}".lstrip("."))
    else:
        yield name, str(detail)
