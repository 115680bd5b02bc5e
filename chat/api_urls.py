"""Addresses of the chat's API."""

from __future__ import annotations

from django.urls import URLPattern, path

from chat import api, asking_api, sse

CONVERSATION = "api/chat/conversations/<uuid:conversation>"

urlpatterns: list[URLPattern] = [
    path("api/chat/options", api.OptionsView.as_view(), name="api-chat-options"),
    path("api/chat/complete", asking_api.CompletionView.as_view(), name="api-complete"),
    path("api/chat/presets", asking_api.PresetsView.as_view(), name="api-presets"),
    path("api/chat/presets/<int:preset>", asking_api.PresetView.as_view(), name="api-preset"),
    path("api/chat/settings", api.SettingsView.as_view(), name="api-chat-settings"),
    path("api/chat/conversations", api.ConversationsView.as_view(), name="api-conversations"),
    path(CONVERSATION, api.ConversationView.as_view(), name="api-conversation"),
    path(f"{CONVERSATION}/messages", sse.ask, name="api-ask"),
    path(f"{CONVERSATION}/messages/<uuid:message>/stop", api.StopView.as_view(), name="api-stop"),
    path(f"{CONVERSATION}/messages/<uuid:message>/events", sse.events, name="api-events"),
]
