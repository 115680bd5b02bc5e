"""Addresses of the chat app."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from chat import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("", include("chat.api_urls")),
]
