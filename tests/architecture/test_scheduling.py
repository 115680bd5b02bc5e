"""What takes seconds to start is started in one process of a run."""

from __future__ import annotations

import re
from pathlib import Path

from tests.scheduling import GROUPS

ROOT = Path(__file__).resolve().parents[2]
_STARTS = re.compile(r"LiveProduct\b|running_worker\(|python_server\(|sync_playwright\(|SignIn\b")


def test_files_that_share_a_process_or_a_browser_stand_in_a_group() -> None:
    grouped = {file for files in GROUPS.values() for file in files}
    assert all((ROOT / file).is_file() for file in grouped)
    sharing = {
        str(path.relative_to(ROOT))
        for path in ROOT.glob("tests/**/test_*.py")
        if path != Path(__file__) and _STARTS.search(path.read_text())
    }
    assert sharing <= grouped
    assert len(sharing) > 8
