"""An uploaded archive, unpacked: read like any folder."""

from vault.sources.folder import open_source, trouble_with

__all__ = ["open_source", "trouble_with"]
