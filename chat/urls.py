"""Addresses of the chat app."""

from __future__ import annotations

from django.urls import URLPattern, path

from chat import views

urlpatterns: list[URLPattern] = [
    path("", views.home, name="home"),
]
