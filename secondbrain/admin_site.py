"""The admin: behind the product's own sign-in, starting with the state of things."""

from __future__ import annotations

from typing import Any

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _

from secondbrain.health import health


class SecondBrainAdminSite(admin.AdminSite):
    """The stock admin with our name and a first page that shows health."""

    site_header = _("SecondBrain")
    site_title = _("SecondBrain admin")
    index_title = _("State and settings")
    index_template = "admin/health_index.html"

    def index(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        return super().index(request, {**(extra_context or {}), "health": health()})

    def login(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """One door: second factors and sign-in limits hold for the admin too."""
        enter = secure_admin_login(super().login)
        reply: HttpResponse = enter(request, extra_context=extra_context)
        return reply
