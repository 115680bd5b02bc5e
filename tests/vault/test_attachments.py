"""PDF files and pictures of a vault: found, shown, and listed with a reason where not."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.cast import Cast
from tests.vault.folders import Folder, snapshot
from tests.vault.pdf_files import encrypted, pdf
from vault.models import Note, SyncRun, Vault, VaultMember
from vault.rescrub import rescrub_vault

pytestmark = pytest.mark.django_db

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
PAGES = [["Drain the zelmira."], ["Then the quorvex."]]


def shown(client: Client, cast: Cast, folder: Folder, path: str, **query: str) -> str:
    VaultMember.objects.create(vault=folder.vault, user=cast.mate)
    client.force_login(cast.mate)
    answer = client.get(f"/vaults/{folder.vault.slug}/notes/{path}", query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_document_is_found_by_the_words_of_its_pages(folder: Folder) -> None:
    folder.write("manual.pdf", pdf(PAGES))
    run = folder.sync()
    assert (run.state, folder.found("quorvex")) == (SyncRun.State.DONE, ["manual.pdf"])
    assert [chunk.heading_path for chunk in folder.chunks("manual.pdf")] == [
        ["manual", "Page 1"],
        ["manual", "Page 2"],
    ]
    assert folder.sync().counts["changes"] == 0


def test_its_page_shows_the_text_page_by_page_with_the_cited_words_marked(
    folder: Folder, cast: Cast, client: Client
) -> None:
    folder.write("manual.pdf", pdf(PAGES))
    folder.sync()
    start = folder.note("manual.pdf").body.index("quorvex")
    html = shown(client, cast, folder, "manual.pdf", span=f"{start}-{start + 7}")
    assert '<h2 id="h-page-2">Page 2</h2>' in html
    assert html.count('class="cited">quorvex</mark>') == 1
    assert "Drain the zelmira." in html


def test_a_note_may_embed_one_page(folder: Folder) -> None:
    folder.write("manual.pdf", pdf(PAGES))
    folder.write("a.md", "![[manual.pdf#page=2]]")
    folder.sync()
    assert folder.found("quorvex") == ["a.md", "manual.pdf"]
    assert folder.found("zelmira") == ["manual.pdf"]


def test_an_embedded_page_is_shown_where_it_stands(
    folder: Folder, cast: Cast, client: Client
) -> None:
    folder.write("manual.pdf", pdf(PAGES))
    folder.write("a.md", "![[manual.pdf#page=2]]")
    folder.sync()
    html = shown(client, cast, folder, "a.md")
    assert "Then the quorvex." in html
    assert "zelmira" not in html


def test_documents_that_cannot_be_read_are_listed_with_the_reason(folder: Folder) -> None:
    folder.write("locked.pdf", encrypted(pdf(PAGES), "secret"))
    folder.write("scanned.pdf", pdf([[], []]))
    folder.write("broken.pdf", b"%PDF- broken")
    folder.write("a.md", "words")
    run = folder.sync()
    assert (run.state, folder.paths()) == (SyncRun.State.WARNINGS, ["a.md"])
    reasons = {
        path: folder.note(path).reason for path in ("locked.pdf", "scanned.pdf", "broken.pdf")
    }
    assert "encrypted" in reasons["locked.pdf"]
    assert "no text" in reasons["scanned.pdf"]
    assert "no PDF that can be read" in reasons["broken.pdf"]


def test_an_attachment_over_the_limit_is_listed_as_too_large(folder: Folder) -> None:
    Vault.objects.filter(pk=folder.vault.pk).update(largest_attachment_kb=1)
    folder.write("manual.pdf", pdf([["x" * 80] * 40]))
    folder.write("photo.png", PNG * 100)
    folder.sync()
    for path in ("manual.pdf", "photo.png"):
        assert folder.note(path).status == Note.Status.EXCLUDED
        assert "too large" in folder.note(path).reason
    Vault.objects.filter(pk=folder.vault.pk).update(largest_attachment_kb=1000)
    folder.sync(full=True)
    assert folder.paths() == ["manual.pdf", "photo.png"]


def test_a_picture_is_found_by_its_name_and_by_what_notes_say_of_it(folder: Folder) -> None:
    folder.write("plans/pump-hall.png", PNG)
    folder.write("a.md", "![Valves of the zelmira](plans/pump-hall.png) ![[pump-hall.png|300]]")
    folder.sync()
    (chunk,) = folder.chunks("plans/pump-hall.png")
    assert folder.note("plans/pump-hall.png").kind == "attachment"
    assert folder.found("hall") == ["a.md", "plans/pump-hall.png"]
    assert chunk.embedded_text == "Valves of the zelmira"
    assert chunk.vector_text() == "pump-hall\n\nValves of the zelmira"
    folder.write("a.md", "![The quorvex](plans/pump-hall.png)")
    folder.sync()
    assert folder.found("zelmira") == []
    assert folder.found("quorvex") == ["a.md", "plans/pump-hall.png"]
    before = snapshot(folder.vault)
    folder.sync(full=True)
    assert snapshot(folder.vault) == before


def test_pictures_are_not_read_for_it(folder: Folder) -> None:
    folder.write("photo.png", PNG)
    assert "hashed" not in folder.sync().counts
    folder.write("photo.png", PNG + b"more")
    assert folder.sync().counts["updated"] == 1
    folder.move("photo.png", "other.png")
    run = folder.sync()
    assert (run.counts["created"], run.counts["deleted"], run.counts["moved"]) == (1, 1, 0)


def test_the_page_of_a_picture_shows_it_and_where_it_is_used(
    folder: Folder, cast: Cast, client: Client
) -> None:
    folder.write("plans/hall [1].png", PNG)
    folder.write("Pumps.md", "![[hall [1].png]] ![The hall](<plans/hall [1].png>)")
    folder.sync()
    html = shown(client, cast, folder, "plans/hall [1].png")
    assert f'src="/vaults/{folder.vault.slug}/files/plans/hall%20%5B1%5D.png"' in html
    assert "Pumps" in html
    assert "has no text" not in html


def test_embedded_pictures_are_shown_as_before(folder: Folder, cast: Cast, client: Client) -> None:
    folder.write("hall.png", PNG)
    folder.write("a.md", "![[hall.png|The hall]]")
    folder.sync()
    html = shown(client, cast, folder, "a.md")
    assert f'src="/vaults/{folder.vault.slug}/files/hall.png"' in html


def test_rescrubbing_keeps_the_pages_of_a_document(folder: Folder) -> None:
    folder.write("manual.pdf", pdf(PAGES))
    folder.sync()
    note = folder.note("manual.pdf")
    secret = "ghp_" + "a1B2" * 9
    Note.objects.filter(pk=note.pk).update(body=note.body + f"\n\ntoken: {secret}")
    assert rescrub_vault(folder.vault.pk).changed == 1
    assert secret not in folder.note("manual.pdf").body
    assert [chunk.heading_path[-1] for chunk in folder.chunks("manual.pdf")] == ["Page 1", "Page 2"]
    assert folder.note("manual.pdf").properties == {"pages": 2}
