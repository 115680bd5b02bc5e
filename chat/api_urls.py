"""Addresses of the chat's API."""

from __future__ import annotations

from django.urls import URLPattern, path

from chat import openai_api, sse
from chat.api import asking, conversations, feedback, sharing, steps

CHAT = "api/chat"
CONVERSATION = f"{CHAT}/conversations/<uuid:conversation>"
MESSAGE = f"{CONVERSATION}/messages/<uuid:message>"
SHARED = f"{CHAT}/shared/<str:token>"
UNANSWERED = "api/vaults/<slug:slug>/unanswered"

urlpatterns: list[URLPattern] = [
    path(f"{CHAT}/options", conversations.OptionsView.as_view(), name="api-chat-options"),
    path(f"{CHAT}/complete", asking.CompletionView.as_view(), name="api-complete"),
    path(f"{CHAT}/presets", asking.PresetsView.as_view(), name="api-presets"),
    path(f"{CHAT}/presets/<int:preset>", asking.PresetView.as_view(), name="api-preset"),
    path(f"{CHAT}/settings", conversations.SettingsView.as_view(), name="api-chat-settings"),
    path(f"{CHAT}/search", conversations.MessageSearchView.as_view(), name="api-chat-search"),
    path(f"{CHAT}/folders", conversations.FoldersView.as_view(), name="api-folders"),
    path(f"{CHAT}/folders/<int:folder>", conversations.FolderView.as_view(), name="api-folder"),
    path(
        f"{CHAT}/conversations", conversations.ConversationsView.as_view(), name="api-conversations"
    ),
    path(CONVERSATION, conversations.ConversationView.as_view(), name="api-conversation"),
    path(f"{CONVERSATION}/restore", conversations.RestoreView.as_view(), name="api-restore"),
    path(f"{CONVERSATION}/keep", conversations.KeepBranchView.as_view(), name="api-keep-branch"),
    path(f"{CONVERSATION}/export", sharing.ExportView.as_view(), name="api-export"),
    path(f"{CONVERSATION}/shares", sharing.ConversationSharesView.as_view(), name="api-share"),
    path(f"{CONVERSATION}/messages", sse.AskView.as_view(), name="api-ask"),
    path(f"{MESSAGE}/stop", conversations.StopView.as_view(), name="api-stop"),
    path(f"{MESSAGE}/steps/<int:step>", steps.StepView.as_view(), name="api-step"),
    path(f"{MESSAGE}/events", sse.EventsView.as_view(), name="api-events"),
    path(f"{CHAT}/export", sharing.ExportAllView.as_view(), name="api-export-all"),
    path(f"{CHAT}/import", sharing.ImportView.as_view(), name="api-import"),
    path(f"{CHAT}/shares", sharing.SharesView.as_view(), name="api-shares"),
    path(f"{CHAT}/shares/<uuid:link>", sharing.ShareView.as_view(), name="api-share-link"),
    path(
        f"{CHAT}/shares/<uuid:link>/restore",
        sharing.RestoreShareView.as_view(),
        name="api-restore-share",
    ),
    path(SHARED, sharing.SharedView.as_view(), name="api-shared"),
    path(f"{SHARED}/continue", sharing.ContinueView.as_view(), name="api-continue-share"),
    path(f"{MESSAGE}/feedback", feedback.FeedbackView.as_view(), name="api-feedback"),
    path(f"{MESSAGE}/golden", feedback.GoldenView.as_view(), name="api-golden"),
    path(f"{MESSAGE}/follow-ups", feedback.FollowUpsView.as_view(), name="api-follow-ups"),
    path(UNANSWERED, feedback.UnansweredView.as_view(), name="api-unanswered"),
    path(
        f"{UNANSWERED}/<int:question>",
        feedback.EndUnansweredView.as_view(),
        name="api-end-unanswered",
    ),
    path("v1/models", openai_api.ModelsView.as_view(), name="v1-models"),
    path("v1/models/<path:model>", openai_api.ModelView.as_view(), name="v1-model"),
    path("v1/chat/completions", openai_api.CompletionsView.as_view(), name="v1-completions"),
]
