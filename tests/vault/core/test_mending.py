"""What mends a file, by the reason it is listed with."""

from __future__ import annotations

import pytest

from vault.core.mending import mend_of


@pytest.mark.parametrize(
    ("reason", "mend"),
    [
        ("binary file (PDF document), not text", "rename it"),
        ("It has 9,000 kB; notes over 5,000 kB are not read. Split it, or raise", "Split it"),
        ("It took longer than 60 s to read: split it.", "Split it"),
        ("It is not valid JSON (x). Open it in its application", "program that made it"),
        ("Permission denied: let the user who runs SecondBrain read it.", "account that runs"),
        ("Folders deeper than 100 levels are not read.", "further up"),
        ("It could not be parsed (ValueError: x).", "index it again"),
        ("The database refused it: x", "damaged characters"),
        ("Something nobody thought of.", ".brainignore"),
    ],
)
def test_each_reason_has_its_own_mend(reason: str, mend: str) -> None:
    assert mend in mend_of(reason)


def test_nobody_is_told_to_mend_and_sync_a_picture() -> None:
    assert "sync" not in mend_of("binary file (PNG picture), not text")
