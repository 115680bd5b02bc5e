"""Where notes come from. Read-only: nothing here opens a vault's file for writing."""

from vault.sources.quiet import wait_until_quiet
from vault.sources.registry import MODULES, source_of, trouble_with
from vault.sources.types import (
    FileBusy,
    FileUnreadable,
    Scan,
    Source,
    SourceOffline,
    SourceUnavailable,
)

__all__ = [
    "MODULES",
    "FileBusy",
    "FileUnreadable",
    "Scan",
    "Source",
    "SourceOffline",
    "SourceUnavailable",
    "source_of",
    "trouble_with",
    "wait_until_quiet",
]
