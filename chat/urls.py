"""Addresses of the chat app."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from chat import views

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.home, name="home"),
    path("ask", views.ask, name="ask"),
    path("conversations", views.conversations, name="conversations"),
    path("settings/chat", views.chat_settings, name="chat_settings"),
    path("c/<uuid:conversation_id>", views.conversation, name="conversation"),
    path("c/<uuid:conversation_id>/turns/<uuid:message_id>", views.turn, name="turn"),
    path("c/<uuid:conversation_id>/rename", views.rename_conversation, name="rename_conversation"),
    path("c/<uuid:conversation_id>/delete", views.delete_conversation, name="delete_conversation"),
    path("", include("chat.api_urls")),
]
