"""An uploaded archive, unpacked: read like any folder, but watched by nobody."""

from vault.sources.folder import open_source, trouble_with

__all__ = ["open_source", "trouble_with"]
