"""Addresses of the chat app."""

from __future__ import annotations

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
