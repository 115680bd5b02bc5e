"""What scripts get of vaults and notes: stable names."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

from vault.core.tokens import estimate_tokens
from vault.models import Note, Vault
from vault.presenters import VaultRow
from vault.run_rows import counts_of, not_read_of
from vault.sections import WindowText
from vault.settings_forms import VaultSettingsForm
from vault.status import VaultStatus


def status_json(vault: Vault, status: VaultStatus) -> dict[str, Any]:
    """The status as scripts read it: stable names."""
    run = status.last_run
    data = asdict(status) | {"slug": vault.slug, "coverage": status.coverage}
    for problem in (*data["problems"], *data["suspicious"]):
        del problem["vault_id"]
    data["last_run"] = run and {
        "state": run.state,
        "counts": counts_of(run),
        "not_read": not_read_of(run),
        "error": run.error,
        "started": run.started.isoformat(),
        "finished": run.finished.isoformat() if run.finished else None,
    }
    return data


def vault_json(row: VaultRow) -> dict[str, Any]:
    """A vault of the list, for scripts."""
    return {
        "slug": row.vault.slug,
        "name": row.vault.name,
        "role": row.role,
        "notes": row.notes,
        "searchable": row.searchable,
        "last_sync": row.last_sync,
    }


SETTINGS = ("slug", *VaultSettingsForm.Meta.fields)


def settings_json(vault: Vault) -> dict[str, Any]:
    """What an owner may change of a vault, for scripts."""
    return {name: getattr(vault, name) for name in SETTINGS}


def settings_version(vault: Vault) -> str:
    """A short name of these settings as they are: another when one of them changes."""
    told = json.dumps(settings_json(vault), sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def note_ref(note: Note) -> dict[str, Any]:
    """A note, named."""
    return {
        "note_id": note.pk,
        "vault": note.vault.slug,
        "path": note.path,
        "title": note.title,
    }


def window_json(note: Note, found: WindowText) -> dict[str, Any]:
    """The sentences around a place."""
    return note_ref(note) | {
        "heading_path": list(found.path),
        "text": found.text,
        "span": [found.start, found.end],
        "tokens": estimate_tokens(found.text),
        "before": str(found.before) if found.before else None,
        "after": str(found.after) if found.after else None,
    }


def note_json(note: Note) -> dict[str, Any]:
    """A note with its text, without what surrounds it."""
    return note_ref(note) | {
        "kind": note.kind,
        "body": note.body,
        "properties": note.properties,
        "tags": note.tags,
        "aliases": note.aliases,
        "status": note.status,
        "reason": note.reason,
        "content_hash": note.content_hash,
        "updated_at": note.updated,
    }
