"""Models of the shipped catalogue, for tests that need some and not every provider."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from providers.presets import PRESETS_FILE, load_presets

# One model of each use, and what works without a key. The whole catalogue is nine
# providers and some thirty models: as many inserts for each test that asks for it.
ENOUGH = ("cohere", "local", "extractive")


def load_some_presets() -> None:
    """Load the providers of ENOUGH from the shipped file, as `load_presets` loads all."""
    shipped = json.loads(PRESETS_FILE.read_text(encoding="utf-8"))["providers"]
    some = [provider for provider in shipped if provider["slug"] in ENOUGH]
    assert len(some) == len(ENOUGH)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "presets.json"
        file.write_text(json.dumps({"providers": some}), encoding="utf-8")
        load_presets(file)
