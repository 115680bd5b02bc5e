"""Stored notes by the rules of today."""

from __future__ import annotations

import io
import json

import pytest
from django.core.management import call_command
from django.test import Client

from tests.vault.folders import Folder, snapshot
from vault.lexemes import refresh_lexemes
from vault.models import Chunk, Job, Lexeme, LexemeFrequency, Note, ScrubFinding
from vault.rescrub import Rescrubbed, rescrub_vault

pytestmark = pytest.mark.django_db
SECRET = "ghp_" + "a1B2" * 9
MARK = "⟦secret:github-token⟧"


def store_secret(folder: Folder, path: str, **fields: object) -> None:
    """As an older version left it: the secret is in the tables."""
    note = folder.note(path)
    Note.objects.filter(pk=note.pk).update(body=note.body.replace("HERE", SECRET), **fields)
    for chunk in Chunk.objects.filter(note=note):
        chunk.content = chunk.content.replace("HERE", SECRET)
        chunk.save()


def stored(folder: Folder) -> str:
    """Everything that the tables hold of a vault's notes."""
    rows: list[object] = [*Note.objects.filter(vault=folder.vault).values()]
    rows += list(Chunk.objects.filter(vault=folder.vault).values())
    rows += list(LexemeFrequency.objects.values_list("lexeme"))
    rows += list(Lexeme.objects.values_list("lexeme"))
    return "\n".join(map(str, rows))


def test_a_secret_of_an_older_version_goes_from_every_table(folder: Folder) -> None:
    folder.write("a.md", "---\ntitle: T\n---\n---\n\n# One\n\nkey HERE end\n\n[[b]] words\n")
    folder.write("b.md", "![[a]] nothing here\n")
    folder.write("c.py", "x = 'HERE'\n")
    folder.sync()
    before = {chunk.pk for chunk in folder.chunks("a.md")}
    store_secret(folder, "a.md", properties={"title": "T", "key": SECRET, "list": [{"x": SECRET}]})
    store_secret(folder, "c.py", aliases=[SECRET], tags=[SECRET])
    refresh_lexemes(force=True)
    assert SECRET.lower() in stored(folder).lower()
    assert rescrub_vault(folder.vault.pk) == Rescrubbed(notes=3, changed=2, secrets=6)
    assert SECRET not in stored(folder)
    assert SECRET.lower() not in stored(folder).lower()
    note = folder.note("a.md")
    assert note.body == f"---\n\n# One\n\nkey {MARK} end\n\n[[b]] words\n"
    assert note.properties == {"title": "T", "key": MARK, "list": [{"x": MARK}]}
    assert note.findings.get().line == 8
    assert note.links.get().target == folder.note("b.md")
    assert note.body[note.links.get().start :].startswith("[[b]]")
    assert {chunk.pk for chunk in folder.chunks("a.md")} == before
    for chunk in folder.chunks("a.md"):
        assert note.body[chunk.start : chunk.end] == chunk.content
    assert MARK in folder.chunks("b.md")[0].embedded_text


def test_a_clean_vault_is_left_as_it_is(folder: Folder) -> None:
    folder.write("a.md", f"# One\n\nkey {SECRET}\n")
    folder.write("b.md", "---\nx: [1, true]\n---\nwords\n")
    folder.sync()
    before = snapshot(folder.vault)
    looked: list[tuple[int, int]] = []
    done = rescrub_vault(folder.vault.pk, on_progress=lambda *counts: looked.append(counts))
    assert done == Rescrubbed(notes=2)
    assert looked == [(2, 2)]
    assert snapshot(folder.vault) == before


def test_the_next_sync_reads_a_changed_note_from_its_file(folder: Folder) -> None:
    folder.write("a.md", "key HERE\n")
    folder.sync()
    store_secret(folder, "a.md")
    rescrub_vault(folder.vault.pk)
    assert folder.note("a.md").body == f"key {MARK}\n"
    run = folder.sync()
    assert run.counts["again"] == 1
    assert folder.note("a.md").body == "key HERE\n"
    assert not ScrubFinding.objects.filter(vault=folder.vault).exists()


def test_other_rules_let_every_file_be_read_again(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a.md", "words\n")
    folder.sync()
    assert folder.sync().counts["again"] == 0
    monkeypatch.setattr("vault.indexing.SCRUBBER_VERSION", 999)
    assert folder.sync().counts["again"] == 1


def test_a_label_in_the_properties_counts_for_its_value(folder: Folder) -> None:
    folder.write("a.md", "words\n")
    folder.sync()
    Note.objects.update(properties={"password": "kV9x-27Tq!", "level": "high"})
    assert rescrub_vault(folder.vault.pk).secrets == 1
    assert folder.note("a.md").properties == {"password": "⟦secret:password⟧", "level": "high"}


def test_the_command_tells_what_it_did_and_asks_for_the_rest(folder: Folder) -> None:
    folder.write("a.md", "key HERE\n")
    folder.sync()
    store_secret(folder, "a.md")
    out = io.StringIO()
    call_command("rescrub", folder.vault.slug, "--json", stdout=out)
    assert json.loads(out.getvalue()) == {
        "vault": folder.vault.slug, "notes": 1, "changed": 1, "secrets": 1, "kept": 0,
    }  # fmt: skip
    assert SECRET not in stored(folder)
    assert Job.objects.filter(key=f"sync:{folder.vault.pk}").exists()
    assert Job.objects.filter(key=f"embed:{folder.vault.pk}").exists()
    call_command("rescrub", stdout=out)
    assert "1 notes looked at, 0 changed, 0 secrets" in out.getvalue()


def test_the_vaults_page_lists_where_secrets_stood_and_never_what(folder: Folder) -> None:
    folder.write("sub/a.md", f"---\nx: 1\n---\n\nkey {SECRET}\n")
    folder.sync()
    client = Client()
    client.force_login(folder.vault.members.get().user)  # type: ignore[arg-type]
    home = f"/vaults/{folder.vault.slug}"
    page = client.get(f"{home}/").content.decode()
    assert f'href="{home}/problems?kind=secrets">Secrets <b>1</b>' in page
    html = client.get(f"{home}/problems?kind=secrets").content.decode()
    assert f'<a href="{home}/notes/sub/a.md">sub/a.md</a><small>, line 5</small>' in html
    assert "github-token in line 5" in html
    assert SECRET not in page + html
