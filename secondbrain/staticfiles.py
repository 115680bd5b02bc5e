"""Static files under hashed names, ES module imports included."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedModulesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Rewrites `import … from "./x.js"` too, so that modules can be cached for ever."""

    support_js_module_import_aggregation = True
    manifest_strict = False

    def stored_name(self, name: str) -> str:
        """A checkout that never ran collectstatic serves plain names instead of failing."""
        try:
            hashed: str = super().stored_name(name)
        except ValueError:
            return name
        return hashed
