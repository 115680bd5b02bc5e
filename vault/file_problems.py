"""What is wrong with files of a vault that are no notes."""

from __future__ import annotations

from vault.core.mending import mend_of
from vault.models import Note, SettingsFile
from vault.problem_kinds import Kind, Looked, Problem
from vault.run_rows import last_runs


def unread_files(looked: Looked) -> list[Problem]:
    """What the last run said about files that are no notes (those have their own row)."""
    runs = last_runs(looked.vault_ids, is_over=True)
    told = [(run.vault_id, warning) for run in runs for warning in run.warnings]
    paths = [warning["path"] for _vault_id, warning in told]
    notes = Note.objects.filter(vault__in=looked.vault_ids, path__in=paths)
    known = set(notes.values_list("vault_id", "path")) if paths else set()
    return [
        Problem(
            path=warning["path"],
            reason=warning["reason"],
            mend=mend_of(warning["reason"]),
            severity="missing",
            line=warning["line"],
            kind=Kind.UNREAD,
            vault_id=vault_id,
        )
        for vault_id, warning in told
        if (vault_id, warning["path"]) not in known and looked.opens(vault_id, warning["path"])
    ]


def faulty_settings_files(looked: Looked) -> list[Problem]:
    """What is wrong with the files in which vaults carry settings."""
    files = SettingsFile.objects.filter(vault__in=looked.vault_ids).exclude(problems=[])
    readable = set(looked.readable_slugs())
    return [
        Problem(
            path=file.path,
            reason=problem["reason"],
            mend=problem["mend"],
            severity="setting",
            line=problem["line"],
            kind=Kind.SETTINGS,
            vault_id=file.vault_id,
        )
        for file in files
        for problem in file.problems
        if looked.opens(file.vault_id, file.path) and problem.get("names_vault") not in readable
    ]
