"""Addresses of the retrieval app."""

from __future__ import annotations

from django.urls import URLPattern, path

from retrieval import views
from retrieval.api import SearchView

urlpatterns: list[URLPattern] = [
    path("search", views.search, name="search"),
    path("search/why", views.why, name="search-why"),
    path("api/search", SearchView.as_view(), name="api-search"),
]
