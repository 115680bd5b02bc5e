"""Addresses of the vault app."""

from __future__ import annotations

from django.urls import URLPattern, path, register_converter
from django.urls.converters import PathConverter

from vault import (
    adding_views,
    api,
    context_views,
    facts_api,
    index_views,
    report_views,
    settings_views,
    upload_views,
    views,
)


class FilePathConverter(PathConverter):
    """Any path of a file: a name may hold a line break, which `path` refuses."""

    regex = r"(?s:.+)"


register_converter(FilePathConverter, "file")

urlpatterns: list[URLPattern] = [
    path("vaults/", views.vaults, name="vaults"),
    path("vaults/new", adding_views.new_vault, name="vault-new"),
    path("vaults/upload", adding_views.upload, name="vault-upload"),
    path("vaults/connect", adding_views.connect, name="vault-connect"),
    path("vaults/folder", adding_views.read_folder, name="vault-folder"),
    path("vaults/<slug:slug>/upload", upload_views.replace, name="vault-replace"),
    path("vaults/<slug:slug>/", views.vault, name="vault"),
    path("vaults/<slug:slug>/state", views.vault_state, name="vault-state"),
    path("vaults/<slug:slug>/report", report_views.vault_report, name="vault-report"),
    path("vaults/<slug:slug>/problems", report_views.vault_problems, name="vault-problems"),
    path("vaults/<slug:slug>/reindex", report_views.vault_reindex, name="vault-reindex"),
    path("vaults/<slug:slug>/runs", report_views.vault_runs, name="vault-runs"),
    path("vaults/<slug:slug>/runs/<int:run_id>", report_views.vault_run, name="vault-run"),
    path("vaults/<slug:slug>/tree", views.vault_tree, name="vault-tree"),
    path("vaults/<slug:slug>/sync", views.vault_sync, name="vault-sync"),
    path("vaults/<slug:slug>/answer", views.vault_answer, name="vault-answer"),
    path("vaults/<slug:slug>/index", index_views.vault_index, name="vault-index"),
    path("vaults/<slug:slug>/index/model", index_views.vault_model, name="vault-model"),
    path("vaults/<slug:slug>/index/switch", index_views.vault_switch, name="vault-switch"),
    path(
        "vaults/<slug:slug>/index/generations",
        index_views.vault_generations,
        name="vault-generations",
    ),
    path("vaults/<slug:slug>/settings", settings_views.vault_settings, name="vault-settings"),
    path("vaults/<slug:slug>/delete", settings_views.vault_delete, name="vault-delete"),
    path("vaults/<slug:slug>/restore", settings_views.vault_restore, name="vault-restore"),
    path("vaults/<slug:slug>/context", context_views.vault_context, name="vault-context"),
    path(
        "vaults/<slug:slug>/context/change",
        context_views.vault_context_change,
        name="vault-context-change",
    ),
    path(
        "vaults/<slug:slug>/context/state",
        context_views.vault_context_state,
        name="vault-context-state",
    ),
    path("vaults/<slug:slug>/members", views.vault_members, name="vault-members"),
    path("vaults/<slug:slug>/members/<int:member_id>", views.vault_member, name="vault-member"),
    path("vaults/<slug:slug>/notes/<file:path>", views.note, name="note"),
    path("vaults/<slug:slug>/files/<file:path>", views.vault_file, name="vault-file"),
    path("api/vaults", api.VaultsView.as_view(), name="api-vaults"),
    path("api/vaults/<slug:slug>", api.VaultView.as_view(), name="api-vault"),
    path(
        "api/vaults/<slug:slug>/restore",
        api.RestoreVaultView.as_view(),
        name="api-restore-vault",
    ),
    path("api/vaults/<slug:slug>/facts", facts_api.FactsView.as_view(), name="api-facts"),
    path(
        "api/vaults/<slug:slug>/facts/<int:fact_id>",
        facts_api.FactView.as_view(),
        name="api-fact",
    ),
    path("api/notes/<int:note_id>", api.NoteView.as_view(), name="api-note"),
    path("api/notes/<int:note_id>/similar", api.SimilarView.as_view(), name="api-similar"),
    path("api/notes/<int:note_id>/section", api.SectionView.as_view(), name="api-section"),
    path("api/index/status", api.IndexStatusView.as_view(), name="api-index-status"),
]
