"""Addresses of the providers app."""

from __future__ import annotations

from django.urls import URLPattern, path

from providers import views

urlpatterns: list[URLPattern] = [path("usage", views.usage, name="usage")]
