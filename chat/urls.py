"""Addresses of the chat app."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from chat.views import feedback, files, organising, pages, presets, sharing, steps

ANSWER = "c/<uuid:conversation_id>/answers/<uuid:message_id>"
UNANSWERED = "vaults/<slug:slug>/unanswered"

urlpatterns: list[URLPattern | URLResolver] = [
    path("", pages.home, name="home"),
    path("ask", pages.ask, name="ask"),
    path("conversations", pages.conversations, name="conversations"),
    path("settings/chat", pages.chat_settings, name="chat_settings"),
    path("c/<uuid:conversation_id>", pages.conversation, name="conversation"),
    path("c/<uuid:conversation_id>/turns/<uuid:message_id>", pages.turn, name="turn"),
    path("c/<uuid:conversation_id>/organise", organising.organise, name="organise"),
    path("c/<uuid:conversation_id>/mark/<slug:name>", organising.mark, name="mark_conversation"),
    path("c/<uuid:conversation_id>/delete", organising.delete, name="delete_conversation"),
    path("c/<uuid:conversation_id>/restore", organising.restore, name="restore_conversation"),
    path("folders/<int:folder_id>", organising.folder, name="folder"),
    path("c/<uuid:conversation_id>/branch", organising.choose, name="choose_branch"),
    path("c/<uuid:conversation_id>/keep", organising.keep_branch, name="keep_branch"),
    path("c/<uuid:conversation_id>/share", sharing.share, name="share"),
    path("c/<uuid:conversation_id>/export", files.export, name="export_conversation"),
    path("conversations/files", files.files, name="conversation_files"),
    path("conversations/export", files.export_everything, name="export_conversations"),
    path("shares", sharing.shares, name="shares"),
    path("shares/<uuid:link_id>/revoke", sharing.revoke, name="revoke_share"),
    path("shares/<uuid:link_id>/restore", sharing.restore, name="restore_share"),
    path("s/<str:token>", sharing.shared, name="shared"),
    path("s/<str:token>/continue", sharing.continue_shared, name="continue_share"),
    path(
        "c/<uuid:conversation_id>/answers/<uuid:message_id>/feedback",
        feedback.feedback,
        name="feedback",
    ),
    path(
        "c/<uuid:conversation_id>/answers/<uuid:message_id>/golden", feedback.golden, name="golden"
    ),
    path(
        "c/<uuid:conversation_id>/answers/<uuid:message_id>/follow-ups",
        feedback.follow_ups,
        name="follow_ups",
    ),
    path(f"{ANSWER}/stop", pages.stop_answer, name="stop_answer"),
    path(f"{ANSWER}/steps/<int:number>", steps.decide_step, name="decide_step"),
    path(UNANSWERED, feedback.unanswered, name="unanswered"),
    path(
        "vaults/<slug:slug>/unanswered/<int:question_id>",
        feedback.end_unanswered,
        name="end_unanswered",
    ),
    path("presets", presets.presets, name="presets"),
    path("presets/new", presets.new_preset, name="new_preset"),
    path("presets/<int:preset_id>", presets.edit_preset, name="edit_preset"),
    path("presets/<int:preset_id>/delete", presets.delete_preset, name="delete_preset"),
    path("presets/<int:preset_id>/fill", presets.fill_preset, name="fill_preset"),
    path("", include("chat.api_urls")),
]
