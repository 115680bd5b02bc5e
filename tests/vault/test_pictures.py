"""Pictures of a vault are shown, and nothing else of the machine."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path
from urllib.parse import quote

import pytest
from django.core.cache import cache
from django.test import Client

from tests.cast import Cast, make_vault
from vault import access
from vault.models import Vault, VaultMember
from vault.pictures import LARGEST_PICTURE, picture_finder, read_picture

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@pytest.fixture
def vault(cast: Cast, tmp_path: Path) -> Vault:
    cache.clear()
    root = tmp_path / "vault"
    for path, data in {
        "chart.png": PNG,
        "sub/deep.JPG": b"\xff\xd8\xff\xe0" + b"\0" * 20,
        "fake.png": b"<html><script>alert(1)</script>",
        "drawing.svg": b"<svg onload='alert(1)'/>",
        "note.md": b"# secret note",
        ".obsidian/theme.png": PNG,
        "private/hidden.png": PNG,
        ".brainignore": b"private/\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    (tmp_path / "outside.png").write_bytes(PNG)
    (root / "link.png").symlink_to(tmp_path / "outside.png")
    (root / "linked").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.png")
    return make_vault("pictures", owner=cast.owner, place=str(root))


def test_a_picture_is_read_with_the_type_that_its_bytes_have(vault: Vault) -> None:
    assert read_picture(vault, "chart.png") == (PNG, "image/png")
    found = read_picture(vault, "sub/deep.JPG")
    assert found is not None
    assert found[1] == "image/jpeg"


@pytest.mark.parametrize(
    "path",
    ["fake.png", "drawing.svg", "note.md", "missing.png", "link.png", "linked/outside.png",
     "pipe.png", "../outside.png", "sub/../../outside.png", "/etc/passwd", "..\\outside.png",
     ".obsidian/theme.png", "private/hidden.png", "a\0.png", "sub//deep.JPG", "", "sub",
     "x" * 5000 + ".png", "./chart.png", "sub/./deep.JPG"],
)  # fmt: skip
def test_whatever_is_no_picture_of_the_vault_is_not_read(vault: Vault, path: str) -> None:
    assert read_picture(vault, path) is None


def test_a_picture_that_is_too_large_is_not_read(vault: Vault) -> None:
    with (Path(vault.place) / "large.png").open("wb") as file:
        file.write(PNG)
        file.truncate(LARGEST_PICTURE + 1)
    assert read_picture(vault, "large.png") is None


def test_an_embed_finds_a_picture_by_its_name_anywhere(vault: Vault, cast: Cast) -> None:
    find = picture_finder(vault, access.scope_for(cast.owner))
    assert find("chart.png", "notes/a.md") == "chart.png"
    assert find("deep.JPG", "a.md") == "sub/deep.JPG"
    assert find("sub/deep.JPG", "other/a.md") == "sub/deep.JPG"
    assert find("hidden.png", "a.md") is None
    assert find("outside.png", "a.md") is None


def test_a_folder_that_is_gone_has_no_pictures(cast: Cast) -> None:
    gone = make_vault("gone", owner=cast.owner)
    assert picture_finder(gone, access.scope_for(cast.owner))("chart.png", "a.md") is None
    assert read_picture(gone, "chart.png") is None


def test_a_served_picture_can_do_nothing(vault: Vault, cast: Cast, client: Client) -> None:
    client.force_login(cast.owner)
    response = client.get("/vaults/pictures/files/chart.png")
    assert response.content == PNG
    assert response["Content-Type"] == "image/png"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in response["Content-Security-Policy"]
    assert "default-src 'none'" in response["Content-Security-Policy"]
    assert client.get("/vaults/pictures/files/drawing.svg").status_code == 404
    assert client.get("/vaults/pictures/files/..%2Foutside.png").status_code == 404


def test_pictures_of_others_are_not_served(vault: Vault, cast: Cast, client: Client) -> None:
    client.force_login(cast.outsider)
    hidden = client.get("/vaults/pictures/files/chart.png")
    missing = client.get("/vaults/nothing/files/chart.png")
    assert hidden.status_code == missing.status_code == 404
    client.logout()
    assert client.get("/vaults/pictures/files/chart.png").status_code == 302


def test_no_way_of_writing_its_path_opens_a_picture_of_a_closed_folder(
    vault: Vault, cast: Cast, client: Client
) -> None:
    decomposed = unicodedata.normalize("NFD", "Café")
    for place in ("HR", decomposed):
        (Path(vault.place) / place).mkdir()
        (Path(vault.place) / place / "pay.png").write_bytes(PNG)
    member = VaultMember.objects.create(vault=vault, user=cast.mate, hidden_folders=["HR", "Café"])
    client.force_login(cast.mate)
    ways = ("HR/pay.png", "./HR/pay.png", "HR/./pay.png", f"{decomposed}/pay.png")
    for way in ways:
        assert client.get(f"/vaults/pictures/files/{quote(way)}").status_code == 404, way
    member.hidden_folders, member.only_folders = [], ["Café"]
    member.save()
    assert client.get(f"/vaults/pictures/files/{quote(decomposed)}/pay.png").content == PNG
    assert client.get("/vaults/pictures/files/HR/pay.png").status_code == 404


def test_a_page_does_not_tell_where_a_picture_of_a_closed_folder_lies(
    vault: Vault, cast: Cast
) -> None:
    folder = Path(vault.place) / "Café"
    folder.mkdir()
    (folder / "pay.png").write_bytes(PNG)
    VaultMember.objects.create(vault=vault, user=cast.mate, hidden_folders=["Café"])
    of_owner, of_mate = (
        picture_finder(vault, access.scope_for(user)) for user in (cast.owner, cast.mate)
    )
    assert of_owner("pay.png", "a.md") == "Café/pay.png"
    assert of_mate("pay.png", "a.md") is None
    assert of_mate("chart.png", "a.md") == "chart.png"
