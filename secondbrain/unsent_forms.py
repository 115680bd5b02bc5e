"""What a reader sees whose form was sent after the session had ended.

Signing in leads back to the form's own address, which only takes forms: the plain answer to
that is an empty page.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve
from django.utils.decorators import sync_and_async_middleware

_NOT_ALLOWED = 405


@sync_and_async_middleware
def explain_unsent_forms(
    get_response: Callable[[HttpRequest], Any],
) -> Callable[[HttpRequest], Any]:
    """Give an empty "method not allowed" a page that says what happened and leads on."""
    if iscoroutinefunction(get_response):

        async def explain_async(request: HttpRequest) -> HttpResponseBase:
            pending: Awaitable[HttpResponseBase] = get_response(request)
            response = await pending
            if _is_blank(request, response):
                return await sync_to_async(_explained)(request, response)
            return response

        return explain_async

    def explain(request: HttpRequest) -> HttpResponseBase:
        response: HttpResponseBase = get_response(request)
        return _explained(request, response) if _is_blank(request, response) else response

    return explain


def page_above(path: str) -> str:
    """The nearest address above `path` that exists: of `/vaults/team/delete` the vault's."""
    while path := path.rstrip("/").rpartition("/")[0]:
        for address in (f"{path}/", path):
            try:
                resolve(address)
            except Resolver404:
                continue
            return address
    return "/"


def _is_blank(request: HttpRequest, response: HttpResponseBase) -> bool:
    return (
        response.status_code == _NOT_ALLOWED
        and request.method == "GET"
        and isinstance(response, HttpResponse)
        and not response.content
        and request.accepts("text/html")
    )


def _explained(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    page = render_to_string("405.html", {"above": page_above(request.path)}, request)
    headers = {"Allow": response.headers.get("Allow", "POST")}
    return HttpResponse(page, status=_NOT_ALLOWED, headers=headers)
