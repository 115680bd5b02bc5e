"""A vault's own settings files: read on every sync, kept scrubbed, their models offered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from django.dispatch import Signal

from providers.vault_models import WantedModel, forget_vaults, keep_vault_models
from vault.core.decoding import decode_note
from vault.core.file_kinds import SETTINGS_FILE
from vault.core.scrub import scrub
from vault.core.settings_json import (
    ModelEntry,
    ParsedSettings,
    SettingsProblem,
    VaultChat,
    parse_settings,
)
from vault.core.types import FileState
from vault.models import SettingsFile, Vault
from vault.sources import FileBusy, FileUnreadable, Source

LARGEST = 64_000
"""Bytes of one settings file."""
MOST_FILES = 200
MOST_PATH = 300
# After a sync read a vault's settings files, with `vault`.
settings_read = Signal()


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """What one vault's `secondbrain.json` settles for questions to it."""

    vault_id: int
    vault_name: str
    chat: VaultChat


def read_settings_files(vault: Vault, source: Source, files: Iterable[FileState]) -> None:
    """Bring the vault's settings files and the models they name in line with `files`."""
    found = {file.path: file for file in files if len(file.path) <= MOST_PATH}
    rows = {row.path: row for row in SettingsFile.objects.filter(vault=vault)}
    SettingsFile.objects.filter(vault=vault, path__in=rows.keys() - found.keys()).delete()
    for path, file in list(found.items())[:MOST_FILES]:
        row = rows.get(path) or SettingsFile(vault=vault, path=path)
        _read(row, source, file)
    if SETTINGS_FILE in found.keys() | rows.keys():
        _offer_models(vault)
    forget_vaults(Vault.objects.values_list("pk", flat=True))
    settings_read.send(sender=SettingsFile, vault=vault)


def list_about_site(row: SettingsFile, problems: list[dict[str, Any]]) -> None:
    """Keep `problems` as those of a file that may go away by themselves, in place of before.

    An admin may change the site's providers, a vault come. Each has the keys of SettingsProblem;
    one with `names_vault` is told to those alone who may not read the vault of that slug.
    """
    others = [problem for problem in row.problems if not problem.get("is_about_site")]
    listed = [*others, *({**problem, "is_about_site": True} for problem in problems)]
    if listed != row.problems:
        row.problems = listed
        row.save(update_fields=["problems"])


def own_settings(vaults: Iterable[Vault]) -> list[OwnSettings]:
    """What these vaults settle, by their names; those that settle nothing are left out."""
    by_id = {vault.pk: vault for vault in vaults}
    rows = SettingsFile.objects.filter(vault__in=by_id.keys(), path=SETTINGS_FILE)
    told = [
        OwnSettings(row.vault_id, by_id[row.vault_id].name, parse_settings(row.text).chat)
        for row in rows
    ]
    return sorted(
        (it for it in told if it.chat != VaultChat()), key=lambda it: (it.vault_name, it.vault_id)
    )


def _read(row: SettingsFile, source: Source, file: FileState) -> None:
    if file.size > LARGEST:
        _fail(row, f"It has {file.size:,} bytes; {LARGEST:,} are the most.", "Make it shorter.")
        return
    try:
        data, _state = source.read(file.path)
    except FileBusy:
        return  # the next sync reads it
    except FileUnreadable as error:
        _fail(row, str(error), "Mend it in the folder and sync.")
        return
    content_hash = sha256(data).hexdigest()
    if content_hash == row.content_hash:
        return
    text = decode_note(data).text
    if text is None:
        _fail(row, "It is not a text.", "Save it as UTF-8.", content_hash=content_hash)
        return
    _keep(row, text, content_hash)


def _keep(row: SettingsFile, text: str, content_hash: str) -> None:
    scrubbed = scrub(text)
    problems = [
        SettingsProblem(
            "It holds what looks like a key or password; that was not read.",
            "Take it out of the file, and change it where it is used.",
            finding.line,
        )
        for finding in scrubbed.findings
    ]
    if row.path == SETTINGS_FILE:
        parsed = parse_settings(scrubbed.text)
        problems += parsed.problems
        if not parsed.is_readable and row.text:
            row.content_hash, row.problems = content_hash, [asdict(it) for it in problems]
            row.save()
            return
    row.text, row.content_hash = scrubbed.text, content_hash
    row.problems = [asdict(problem) for problem in problems]
    row.save()


def _fail(row: SettingsFile, reason: str, mend: str, *, content_hash: str = "") -> None:
    row.problems = [asdict(SettingsProblem(reason, mend))]
    row.content_hash = content_hash
    row.save()


def _offer_models(vault: Vault) -> None:
    """Make the models that the file names rows, and list which of them cannot be."""
    row = SettingsFile.objects.filter(vault=vault, path=SETTINGS_FILE).first()
    parsed = parse_settings(row.text) if row else ParsedSettings(VaultChat(), ())
    by_model = {_wanted(entry): entry for entry in parsed.chat.models}
    refused = keep_vault_models(vault.pk, list(by_model))
    if row is None:
        return
    lines = [by_model[it.model].line for it in refused]
    about_site = [
        asdict(SettingsProblem(it.reason, it.mend, line))
        for it, line in zip(refused, lines, strict=True)
    ]
    list_about_site(row, about_site)


def _wanted(entry: ModelEntry) -> WantedModel:
    return WantedModel(
        entry.provider,
        entry.name,
        entry.label,
        entry.context_window,
        entry.max_output_tokens,
    )
