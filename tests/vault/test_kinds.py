"""Code, boards and drawings on their way into search."""

from __future__ import annotations

import json

import pytest
from django.core.exceptions import ValidationError

from tests.vault.folders import Folder
from vault.models import Note, Vault

pytestmark = pytest.mark.django_db

SOURCE = '''"""Pumps."""


def drain_the_boiler(litres):
    """Empty it."""
    return call(litres, "copper")


class Valve:
    def shut(self):
        return "shut tight"
'''


def test_source_files_are_notes_that_search_finds_by_their_definitions(folder: Folder) -> None:
    folder.write("lib/pump.py", SOURCE)
    folder.write("a.md", "See [[pump.py]].")
    folder.sync()
    note = folder.note("lib/pump.py")
    assert (note.kind, note.language, note.title) == ("code", "python", "lib/pump.py")
    assert note.body == SOURCE
    assert [heading["text"] for heading in note.headings] == ["drain_the_boiler", "Valve", "shut"]
    chunks = folder.chunks("lib/pump.py")
    assert all(chunk.is_code for chunk in chunks)
    assert folder.found("copper") == ["lib/pump.py"]
    assert folder.found("drain_the_boiler") == ["lib/pump.py"]
    assert folder.note("a.md").links.get().target == note


def test_the_vault_says_which_files_are_code(folder: Folder) -> None:
    folder.write("a.py", "x = 'alpha'\n")
    folder.write("b.json", '{"x": "beta"}\n')
    folder.sync()
    assert folder.paths() == ["a.py"]
    Vault.objects.filter(pk=folder.vault.pk).update(code_suffixes=".json")
    folder.write("a.md", "words")
    folder.sync()
    assert folder.paths() == ["a.md", "b.json"]


def test_an_empty_list_reads_no_code(folder: Folder) -> None:
    Vault.objects.filter(pk=folder.vault.pk).update(code_suffixes="")
    folder.write("a.py", "x = 'alpha'\n")
    folder.write("a.md", "words")
    folder.sync()
    assert folder.paths() == ["a.md"]


def test_a_list_that_is_none_is_refused_where_it_is_entered(folder: Folder) -> None:
    folder.vault.code_suffixes = "py, a/b"
    with pytest.raises(ValidationError, match="'a/b' is no suffix"):
        folder.vault.full_clean()


def test_binary_and_generated_code_is_listed_with_the_reason(folder: Folder) -> None:
    folder.write("a.py", bytes(range(256)) * 40)
    folder.write("b.js", "x=1;" * 10_000)
    folder.write("ok.py", "x = 1\n")
    run = folder.sync()
    reasons = {warning["path"]: warning["reason"] for warning in run.warnings}
    assert "binary" in reasons["a.py"]
    assert "looks generated" in reasons["b.js"]
    assert folder.note("b.js").status == Note.Status.EXCLUDED
    assert folder.paths() == ["ok.py"]


def test_secrets_in_code_are_left_out(folder: Folder) -> None:
    secret = "ghp_" + "a1B2" * 9
    folder.write("a.py", f'TOKEN = "{secret}"\n')
    folder.sync()
    note = folder.note("a.py")
    assert secret not in note.body
    assert note.findings.get().line == 1


def test_boards_and_drawings_are_found_by_their_words(folder: Folder) -> None:
    cards = [{"type": "text", "text": "Pressure of the copper boiler", "x": 0, "y": 0}]
    folder.write("Plan.canvas", json.dumps({"nodes": cards}))
    folder.write("Old.excalidraw", json.dumps({"elements": cards}))
    folder.write("Broken.canvas", '{"nodes": [')
    folder.write(
        "Sketch.excalidraw.md",
        "---\nexcalidraw-plugin: parsed\n---\n## Text Elements\nA copper valve ^a1B2c3D4\n\n"
        "%%\n## Drawing\n```compressed-json\nN4KAkARALgngDgUwgLgAQQQDwMY\n```\n%%\n",
    )
    run = folder.sync()
    assert folder.found("copper") == ["Old.excalidraw", "Plan.canvas", "Sketch.excalidraw.md"]
    assert folder.found("n4kakaralgngdgu") == []
    assert {note.kind for note in Note.objects.filter(status="indexed")} == {"canvas"}
    assert "not valid JSON" in run.warnings[0]["reason"]
    assert folder.note("Sketch.excalidraw.md").title == "Sketch"
