"""Notes that come as a zip archive."""

from __future__ import annotations

import io
import os
import stat
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile, UploadedFile
from django.db import DataError
from django.test import Client
from django.utils.datastructures import MultiValueDict
from pytest_django import Settings

from tests.cast import Cast
from vault import access, uploads
from vault.core.archives import ArchiveRefused, Limits
from vault.forms import UploadForm
from vault.models import Job, Note, SyncRun, Vault
from vault.sync import sync_vault
from vault.uploads import replace_upload, upload_vault

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, settings: Settings) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path


def zipped(files: Mapping[str, str | bytes], *, method: int = zipfile.ZIP_DEFLATED) -> io.BytesIO:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    packed.seek(0)
    return packed


def folders(data_dir: Path) -> list[Path]:
    return list((data_dir / "uploads").glob("*"))


def paths(vault: Vault) -> list[str]:
    return list(Note.objects.filter(vault=vault).values_list("path", flat=True))


def test_an_archive_becomes_a_vault_that_its_uploader_owns(cast: Cast, data_dir: Path) -> None:
    files = {"Notes/a.md": "quorvex", "Notes/sub/b.md": "[[a]]", "Notes/x.exe": "no"}
    vault, plan = upload_vault(zipped(files), name="Field notes", owner=cast.owner)
    assert (vault.slug, vault.source_kind, plan.left_out) == ("field-notes", "upload", 1)
    assert list(access.owned_by(cast.owner).filter(pk=vault.pk)) == [vault]
    assert not access.visible_to(cast.mate).filter(pk=vault.pk).exists()
    (folder,) = folders(data_dir)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert sync_vault(vault.pk).state == SyncRun.State.DONE
    assert paths(vault) == ["a.md", "sub/b.md"]


def test_vaults_of_one_name_have_their_own_addresses(cast: Cast) -> None:
    slugs = [
        upload_vault(zipped({"a.md": "x"}), name=name, owner=cast.owner)[0].slug
        for name in ("Notes", "Notes", "名前", "Team")
    ]
    assert slugs == ["notes", "notes-2", "vault", "team-2"]


def test_names_without_a_utf8_flag_are_read_as_they_were_meant(cast: Cast) -> None:
    packed = zipped({"Übersicht.md": "x"}).getvalue()
    # As other programs write it: the same bytes, without the flag that says UTF-8.
    packed = packed.replace(b"\x00\x08\x08\x00", b"\x00\x00\x08\x00")
    vault, _ = upload_vault(io.BytesIO(packed), name="N", owner=cast.owner)
    assert (Path(vault.place) / "Übersicht.md").is_file()


def test_another_archive_takes_the_place_and_notes_keep_their_identity(
    cast: Cast, data_dir: Path
) -> None:
    same = {f"{n}.md": f"note {n}" for n in range(9)}
    vault, _ = upload_vault(zipped(same | {"a.md": "one"}), name="N", owner=cast.owner)
    sync_vault(vault.pk)
    ids = dict(Note.objects.filter(vault=vault).values_list("path", "pk"))
    replace_upload(vault, zipped(same | {"a.md": "two", "new.md": "x"}))
    vault.refresh_from_db()
    run = sync_vault(vault.pk)
    assert (run.counts["updated"], run.counts["created"]) == (1, 1)
    assert {p: pk for p, pk in Note.objects.values_list("path", "pk") if p in ids} == ids
    assert Note.objects.get(path="a.md").body == "two"
    assert [str(folder) for folder in folders(data_dir)] == [vault.place]


@pytest.mark.parametrize(
    ("packed", "reason"),
    [
        (b"no archive", "no zip archive"),
        (zipped({"../a.md": "x"}).getvalue(), "leads out"),
        (zipped({"a.md": "x" * 9000}).getvalue()[:60], "no zip archive"),
        (zipped({"a.txt": "x"}).getvalue(), "no note in the archive"),
        (zipped({"a.md": os.urandom(900)}, method=0).getvalue().replace(b"PK\1\2", b"PK\1\3"),
         "no zip archive"),
    ],
    ids=["text", "traversal", "cut", "nothing", "directory"],
)  # fmt: skip
def test_a_refused_archive_leaves_nothing_behind(
    cast: Cast, data_dir: Path, packed: bytes, reason: str
) -> None:
    before = Vault.objects.count()
    with pytest.raises(ArchiveRefused, match=reason):
        upload_vault(io.BytesIO(packed), name="N", owner=cast.owner)
    assert Vault.objects.count() == before
    assert folders(data_dir) == []


def test_a_damaged_file_inside_is_refused(cast: Cast, data_dir: Path) -> None:
    packed = zipped({"a.md": "quorvex " * 9}, method=zipfile.ZIP_STORED).getvalue()
    with pytest.raises(ArchiveRefused, match=r"no zip archive that can be read.*a\.md"):
        upload_vault(
            io.BytesIO(packed.replace(b"quorvex", b"quorveX", 1)), name="N", owner=cast.owner
        )
    assert folders(data_dir) == []


def test_a_file_that_unpacks_to_more_than_it_says_is_stopped(
    cast: Cast, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = zipped({"a.md": "x" * 5000})
    monkeypatch.setattr(uploads, "LIMITS", Limits(files=9, size=4000))
    with pytest.raises(ArchiveRefused, match="are the most"):
        upload_vault(packed, name="N", owner=cast.owner)
    assert folders(data_dir) == []


def test_an_archive_that_names_too_many_files_is_not_opened(
    cast: Cast, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_ENTRIES", 2)
    packed = zipped({"a.md": "x", "b.exe": "x", "c.exe": "x"})
    with pytest.raises(ArchiveRefused, match="table of contents is too long: 2 files"):
        upload_vault(packed, name="N", owner=cast.owner)
    assert folders(data_dir) == []


def test_what_fails_after_unpacking_leaves_nothing_behind(cast: Cast, data_dir: Path) -> None:
    with pytest.raises(DataError):
        upload_vault(zipped({"a.md": "x"}), name="x" * 999, owner=cast.owner)
    assert folders(data_dir) == []


def test_a_folder_on_the_server_is_never_replaced_or_removed(cast: Cast, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "a.md").write_text("mine")
    Vault.objects.filter(pk=cast.vault.pk).update(place=str(own))
    cast.vault.refresh_from_db()
    with pytest.raises(ArchiveRefused, match="was not uploaded"):
        replace_upload(cast.vault, zipped({"b.md": "x"}))
    cast.vault.source_kind = Vault.SourceKind.UPLOAD
    replace_upload(cast.vault, zipped({"b.md": "x"}))
    assert (own / "a.md").read_text() == "mine"


def test_folders_of_vaults_that_are_gone_are_removed_after_a_day(
    cast: Cast, data_dir: Path
) -> None:
    gone, _ = upload_vault(zipped({"a.md": "x"}), name="N", owner=cast.owner)
    kept, _ = upload_vault(zipped({"a.md": "x"}), name="N", owner=cast.owner)
    gone.delete()
    old = time.time() - uploads.ABANDONED_AFTER - 9
    for folder in folders(data_dir):
        os.utime(folder, (old, old))
    last, _ = upload_vault(zipped({"a.md": "x"}), name="N", owner=cast.owner)
    assert {str(folder) for folder in folders(data_dir)} == {kept.place, last.place}


def signed_in(user: object) -> Client:
    client = Client()
    client.force_login(user)  # type: ignore[arg-type]
    return client


def test_the_page_uploads_and_shows_the_vault_being_read(cast: Cast) -> None:
    client = signed_in(cast.owner)
    assert "Upload notes" in client.get("/vaults/new").content.decode()
    response = client.post(
        "/vaults/upload",
        {"name": "Field", "archive": SimpleUploadedFile("n.zip", zipped({"a.md": "x"}).read())},
        follow=True,
    )
    html = response.content.decode()
    assert response.redirect_chain == [("/vaults/field/", 302)]
    assert "1 file was unpacked" in html
    assert "Upload again" in html
    vault = Vault.objects.get(slug="field")
    assert Job.objects.filter(key=f"sync:{vault.pk}").exists()
    response = client.post(
        "/vaults/field/upload",
        {"archive": SimpleUploadedFile("n.zip", zipped({"../a.md": "x"}).read())},
        follow=True,
    )
    assert "leads out of the vault" in response.content.decode()
    response = client.post(
        "/vaults/field/upload",
        {"archive": SimpleUploadedFile("n.zip", zipped({"b.md": "x"}).read())},
        follow=True,
    )
    assert "1 file was unpacked" in response.content.decode()


def test_the_page_says_what_is_wrong_and_keeps_the_name(cast: Cast) -> None:
    client = signed_in(cast.owner)
    response = client.post(
        "/vaults/upload", {"name": "Field", "archive": SimpleUploadedFile("n.zip", b"nothing")}
    )
    html = response.content.decode()
    assert response.status_code == 400
    assert "no zip archive" in html
    assert 'value="Field"' in html
    response = client.post("/vaults/field/upload", {})
    assert response.status_code == 404


def test_readers_and_outsiders_may_not_upload(cast: Cast) -> None:
    for user in (cast.mate, cast.outsider):
        is_editor = access.editable_by(user).exists()
        assert access.may_upload(user) == is_editor
    client = signed_in(cast.mate)
    assert "Upload notes" not in client.get("/vaults/new").content.decode()
    archive = SimpleUploadedFile("n.zip", zipped({"a.md": "x"}).read())
    assert client.post("/vaults/upload", {"name": "N", "archive": archive}).status_code == 403
    cast.mate.is_staff = True
    assert access.may_upload(cast.mate)


def test_an_archive_over_the_limit_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault.forms.LARGEST_ARCHIVE", 10)
    archive: UploadedFile[Any] = SimpleUploadedFile("n.zip", b"x" * 11)
    files = MultiValueDict({"archive": [archive]})
    form = UploadForm({"name": "N"}, files)
    assert form.errors["archive"] == ["It has 0 MB; 0 MB are the most."]
