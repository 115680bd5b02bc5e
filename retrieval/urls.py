"""Addresses of the retrieval app."""

from __future__ import annotations

from django.urls import URLPattern, path

from retrieval import views

urlpatterns: list[URLPattern] = [path("search", views.search, name="search")]
