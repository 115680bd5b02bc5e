"""Vaults, their notes, and everything derived from them. Only this app writes here."""

from __future__ import annotations

from vault.models.enrichment import ContextFailure, Enrichment
from vault.models.facts import Fact
from vault.models.index import (
    Chunk,
    ChunkVector,
    Lexeme,
    LexemeFrequency,
    LexicalCorpus,
    NoteVector,
)
from vault.models.notes import FormerPath, Link, Note, ScrubFinding
from vault.models.settings_files import SettingsFile
from vault.models.trials import SizeTrial
from vault.models.upkeep import Upkeep
from vault.models.vaults import ApiToken, Vault, VaultMember
from vault.models.work import Job, SyncRun

__all__ = [
    "ApiToken",
    "Chunk",
    "ChunkVector",
    "ContextFailure",
    "Enrichment",
    "Fact",
    "FormerPath",
    "Job",
    "Lexeme",
    "LexemeFrequency",
    "LexicalCorpus",
    "Link",
    "Note",
    "NoteVector",
    "ScrubFinding",
    "SettingsFile",
    "SizeTrial",
    "SyncRun",
    "Upkeep",
    "Vault",
    "VaultMember",
]
