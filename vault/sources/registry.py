"""Which module reads which kind of source."""

from __future__ import annotations

from importlib import import_module

from vault.models import Vault
from vault.sources.types import Source

# Imported at first use: one needs a library that most servers never load. A module has
# `open_source(vault) -> Source` and `trouble_with(vault) -> str`.
MODULES = {
    Vault.SourceKind.FOLDER: "vault.sources.folder",
    Vault.SourceKind.UPLOAD: "vault.sources.upload",
    Vault.SourceKind.GIT: "vault.sources.git",
}


def source_of(vault: Vault) -> Source:
    """The source that `vault` is configured with."""
    source: Source = import_module(_module_of(vault)).open_source(vault)
    return source


def trouble_with(vault: Vault) -> str:
    """Why the vault's place cannot be read now, as far as shows without reading it."""
    return str(import_module(_module_of(vault)).trouble_with(vault))


def _module_of(vault: Vault) -> str:
    return MODULES[Vault.SourceKind(vault.source_kind)]
