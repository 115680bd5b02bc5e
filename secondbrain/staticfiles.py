"""Static files under hashed names, ES module imports included."""

from __future__ import annotations

from whitenoise.storage import CompressedManifestStaticFilesStorage


class HashedModulesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Rewrites `import … from "./x.js"` too, so that modules can be cached for ever."""

    support_js_module_import_aggregation = True
    # A checkout that never ran collectstatic serves plain names instead of failing.
    manifest_strict = False
