"""Static files under hashed names, ES module imports included."""

from __future__ import annotations

from typing import Any

from whitenoise.storage import CompressedManifestStaticFilesStorage

OWN_MODULES = ("secondbrain/*.js", "chat/*.js", "vault/*.js", "retrieval/*.js")


class HashedModulesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Rewrites `import … from "./x.js"` too, so that modules can be cached for ever.

    Only in our own modules: bundles of the libraries hold text that merely looks like an
    import, and collecting them would fail.
    """

    support_js_module_import_aggregation = True
    manifest_strict = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rules = self._patterns.pop("*.js")
        self._patterns.update(dict.fromkeys(OWN_MODULES, rules))

    def stored_name(self, name: str) -> str:
        """A checkout that never ran collectstatic serves plain names instead of failing."""
        try:
            hashed: str = super().stored_name(name)
        except ValueError:
            return name
        return hashed
