"""Which files of a vault are not looked at, in any kind of source."""

from __future__ import annotations

from pathspec import GitIgnoreSpec

from vault.core.file_kinds import SETTINGS_FILE

IGNORE_FILE = ".brainignore"

# Application folders, and what editors and synchronisers leave behind for a moment.
DEFAULT_IGNORES = (
    ".obsidian/",
    ".trash/",
    ".git/",
    ".claude/",
    f"/{SETTINGS_FILE}",
    "node_modules/",
    "__pycache__/",
    ".venv/",
    "*.min.js",
    ".stfolder/",
    ".stversions/",
    "*.sync-conflict-*",
    ".syncthing.*",
    "~syncthing~*",
    "~$*",
    "*~",
    "*.tmp",
    "*.swp",
    ".#*",
    ".DS_Store",
)

# An ignore file is a page of patterns; more than this is something else.
LARGEST_IGNORE_FILE = 256 * 1024


def ignore_rules(own: bytes, *, templates_folder: str, ignored: str = "") -> GitIgnoreSpec:
    """The rules of a vault: ours, those of its ignore file (`own`), of its settings
    (`ignored`), its templates."""
    text = own[:LARGEST_IGNORE_FILE].decode("utf-8", "replace")
    lines = [*DEFAULT_IGNORES, *text.lstrip("\ufeff").splitlines(), *ignored.splitlines()]
    templates = templates_folder.strip("/")
    if templates:
        escaped = "".join("\\" + c if c in "*?[]!#\\ " else c for c in templates)
        lines.append(f"/{escaped}/")
    return GitIgnoreSpec.from_lines(lines)
