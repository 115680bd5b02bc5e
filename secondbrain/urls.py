"""Every address of the product."""

from __future__ import annotations

from django.conf import settings
from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from secondbrain import views

handler400 = "secondbrain.views.unreadable"
handler403 = "secondbrain.views.forbidden"
handler404 = "secondbrain.views.missing"
handler500 = "secondbrain.views.broken"

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", views.metrics, name="metrics"),
    path("accounts/", include("allauth.urls")),
    path("admin/", admin.site.urls),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="api-docs"),
    path("", include("vault.urls")),
    path("", include("retrieval.urls")),
    path("", include("providers.urls")),
]
if "chat" in settings.MODULES:
    urlpatterns.append(path("", include("chat.urls")))
else:
    urlpatterns.append(path("", views.home_without_chat, name="home"))
