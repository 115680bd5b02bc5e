"""What an owner changes of a vault, deletes and brings back: on pages, and by scripts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests.cast import Cast, make_user
from tests.retrieval.library import write_markdown
from tests.vault.core.rendering.page import Page
from tests.vault.folders import Folder, make_folder
from vault.models import Job, Vault, VaultMember
from vault.removal import UNDO_TIME, delete_vault
from vault.settings_forms import VaultSettingsForm
from vault.settings_saving import save_settings, stamp_of
from vault.tokens import create_token

pytestmark = pytest.mark.django_db


def signed_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def filled(vault: Vault, *, is_staff: bool = False, **changed: object) -> dict[str, Any]:
    """What the page sends when only this was changed."""
    form = VaultSettingsForm(instance=vault, is_staff=is_staff)
    sent = {name: form[name].value() for name in form.fields}
    sent |= {"stamp": stamp_of(form, vault)} | changed
    return {name: value for name, value in sent.items() if value not in (None, False)}


def change(cast: Cast, **changed: Any) -> Any:
    data = filled(cast.vault, **changed)
    return signed_in(cast.owner).post("/vaults/team/settings", data)


def test_a_new_name_is_stored_and_nothing_is_read_again(cast: Cast) -> None:
    assert change(cast, name="The team").status_code == 302
    assert Vault.objects.get(pk=cast.vault.pk).name == "The team"
    assert not Job.objects.exists()


def test_what_a_sync_wrote_meanwhile_stays(cast: Cast) -> None:
    form = VaultSettingsForm(filled(cast.vault, name="New"), instance=cast.vault, is_staff=False)
    assert form.is_valid()
    Vault.objects.filter(pk=cast.vault.pk).update(links_due=True, state=Vault.State.PAUSED)
    form.save()
    saved = Vault.objects.get(pk=cast.vault.pk)
    assert (saved.name, saved.links_due, saved.state) == ("New", True, Vault.State.PAUSED)


def test_other_settings_have_the_vault_read_again(cast: Cast) -> None:
    change(cast, ignored="Private/\r\n*.draft.md\r\n", templates_folder="/Templates/",
           largest_note_kb=900, scrub_emails="on")  # fmt: skip
    vault = Vault.objects.get(pk=cast.vault.pk)
    assert (vault.ignored, vault.templates_folder) == ("Private/\n*.draft.md", "Templates")
    assert (vault.largest_note_kb, vault.scrub_emails) == (900, True)
    assert Job.objects.get().kind == "sync"


def test_other_sizes_of_passages_are_asked_about_with_what_they_cost(cast: Cast) -> None:
    write_markdown(cast.vault, "Pump.md", "# Pump\n\nThe blue pump stands in the cellar.")
    page = change(cast, chunk_tokens=200, name="The team").content.decode()
    for told in ("Nothing was saved yet", "1 passage, about", "passages of 400 tokens"):
        assert told in page
    assert 'value="200"' in page, "what was typed is kept"
    vault = Vault.objects.get(pk=cast.vault.pk)
    assert (vault.chunk_tokens, vault.name) == (400, "Team")
    assert not Job.objects.exists()
    assert change(cast, chunk_tokens=200, confirm="1").status_code == 302
    assert Vault.objects.get(pk=cast.vault.pk).chunk_tokens == 200
    assert Job.objects.get().kind == "sync"


def test_sizes_of_a_vault_without_passages_are_saved_at_once(cast: Cast) -> None:
    assert change(cast, chunk_tokens=200).status_code == 302
    assert Vault.objects.get(pk=cast.vault.pk).chunk_tokens == 200


def saved_meanwhile(cast: Cast, **changed: Any) -> None:
    Vault.objects.filter(pk=cast.vault.pk).update(**changed)


def test_what_another_owner_saved_meanwhile_is_not_overwritten_unseen(cast: Cast) -> None:
    saved_meanwhile(cast, ignored="Old/\n*.draft.md", scrub_emails=True)
    response = change(cast, name="Mine", ignored="Private/")
    page = Page(response.content.decode())
    assert response.status_code == 409
    for told in ("Nothing was saved yet", "Left out", "*.draft.md", "e-mail addresses"):
        assert told in page.text
    named = next(field for field in page.all("input") if field.get("name") == "name")
    assert named["value"] == "Mine", "what was typed is kept"
    vault = Vault.objects.get(pk=cast.vault.pk)
    assert (vault.name, vault.ignored) == ("Team", "Old/\n*.draft.md")
    assert not Job.objects.exists()
    data = filled(cast.vault, name="Mine", ignored="Private/")
    again = signed_in(cast.owner).post("/vaults/team/settings", data)
    assert again.status_code == 409, "only the button overwrites"
    over = next(button for button in page.all("button") if button.get("name") == "over")
    data["over"] = over["value"]
    assert signed_in(cast.owner).post("/vaults/team/settings", data).status_code == 302
    vault.refresh_from_db()
    assert (vault.name, vault.ignored, vault.scrub_emails) == ("Mine", "Private/", False)


def test_who_overwrites_is_told_of_what_was_saved_after_that(cast: Cast) -> None:
    saved_meanwhile(cast, name="Theirs")
    page = Page(change(cast, name="Mine").content.decode())
    over = next(button for button in page.all("button") if button.get("name") == "over")
    saved_meanwhile(cast, templates_folder="Forms")
    response = change(cast, name="Mine", over=over["value"])
    assert response.status_code == 409
    assert "Forms" in response.content.decode()
    assert Vault.objects.get(pk=cast.vault.pk).name == "Theirs"


def test_a_change_that_both_made_is_no_conflict(cast: Cast) -> None:
    saved_meanwhile(cast, ignored="Private/")
    assert change(cast, name="New", ignored="Private/").status_code == 302
    assert Vault.objects.get(pk=cast.vault.pk).name == "New"


@pytest.mark.parametrize("stamp", ["", "forged"])
def test_a_form_of_which_nobody_knows_what_it_showed_asks_before_it_overwrites(
    cast: Cast, stamp: str
) -> None:
    assert change(cast, name="New", stamp=stamp).status_code == 409
    assert Vault.objects.get(pk=cast.vault.pk).name == "Team"
    assert change(cast, stamp=stamp).status_code == 302, "nothing differs"


def test_of_two_that_save_at_once_the_second_sees_what_the_first_wrote(cast: Cast) -> None:
    form = VaultSettingsForm(filled(cast.vault, name="New"), instance=cast.vault, is_staff=False)
    stamp = stamp_of(form, cast.vault)
    assert form.is_valid()
    saved_meanwhile(cast, name="First")
    conflict = save_settings(form, stamp=stamp)
    assert conflict is not None
    assert [(row.label, row.now, row.typed) for row in conflict.differences] == [
        ("Name", "First", "New")
    ]
    assert Vault.objects.get(pk=cast.vault.pk).name == "First"
    assert save_settings(form, stamp=conflict.stamp) is None
    assert Vault.objects.get(pk=cast.vault.pk).name == "New"


def test_a_conflict_is_told_before_new_sizes_are_asked_about(cast: Cast) -> None:
    write_markdown(cast.vault, "Pump.md", "# Pump\n\nThe blue pump stands in the cellar.")
    data = filled(cast.vault, chunk_tokens=200)
    saved_meanwhile(cast, chunk_tokens=300)
    client = signed_in(cast.owner)
    page = Page(client.post("/vaults/team/settings", data).content.decode())
    data["over"] = next(it for it in page.all("button") if it.get("name") == "over")["value"]
    asked = client.post("/vaults/team/settings", data)
    assert "would be cut and embedded again" in asked.content.decode()
    kept = Page(asked.content.decode()).all("input")
    stamp = next(field for field in kept if field.get("name") == "stamp")["value"]
    confirmed = filled(cast.vault, chunk_tokens=200) | {"stamp": stamp, "confirm": "1"}
    assert client.post("/vaults/team/settings", confirmed).status_code == 302
    assert Vault.objects.get(pk=cast.vault.pk).chunk_tokens == 200


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("name", "", "required"),
        ("ignored", "good/\n!", "Line 2"),
        ("ignored", "x\n" * 501, "at most 500"),
        ("templates_folder", "../other", "inside the vault"),
        ("code_suffixes", "p y!", "no suffix"),
        ("largest_note_kb", "0", "greater than or equal to 1"),
        ("largest_attachment_kb", "many", "whole number"),
        ("chunk_tokens", "5", "greater than or equal to 50"),
        ("chunk_overlap", "300", "At most half"),
    ],
)
def test_what_cannot_be_is_named_and_what_was_typed_stays(
    cast: Cast, name: str, value: str, said: str
) -> None:
    response = change(cast, **{name: value})
    html = response.content.decode()
    assert response.status_code == 400
    assert said in html
    if name == "ignored":
        assert value.split("\n", 1)[0] in html
    before, after = cast.vault, Vault.objects.get(pk=cast.vault.pk)
    assert getattr(after, name) == getattr(before, name)


def test_what_is_left_out_is_not_read(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "notes")
    for path in ("a.md", "Private/b.md", "Deep/Private/c.md", "d.draft.md"):
        folder.write(path, "Text.")
    Vault.objects.filter(pk=folder.vault.pk).update(ignored="Private/\n*.draft.md")
    folder.sync()
    assert folder.paths() == ["a.md"]


def test_only_staff_may_point_a_vault_at_another_folder(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    member = VaultMember.objects.get(vault=folder.vault)
    data = filled(folder.vault, is_staff=True, place=str(tmp_path / "elsewhere"))
    url = reverse("vault-settings", args=[folder.vault.slug])
    assert signed_in(member.user).post(url, data).status_code == 302
    assert Vault.objects.get(pk=folder.vault.pk).place == str(folder.root)
    assert member.user is not None
    member.user.is_staff = True
    member.user.save()
    assert signed_in(member.user).post(url, data).status_code == 302
    assert Vault.objects.get(pk=folder.vault.pk).place == str(tmp_path / "elsewhere")


def test_only_staff_may_point_a_vault_with_a_token_elsewhere(cast: Cast) -> None:
    own, other = "https://git.example.com/team/notes.git", "https://other.example.com/x.git"
    follows = {"source_kind": "git", "place": own, "token_variable": "GIT_TOKEN_NOTES"}
    Vault.objects.filter(pk=cast.vault.pk).update(**follows)
    cast.vault.refresh_from_db()
    page = signed_in(cast.owner).get("/vaults/team/settings").content.decode()
    assert "token would be sent there" in page
    change(cast, place=other)
    script = Client(headers={"Authorization": f"Bearer {create_token(cast.owner)}"})
    refused = script.patch("/api/vaults/team", {"place": other}, "application/json")
    assert refused.json()["fields"] == {"place": ["Nothing you may change here."]}
    assert Vault.objects.get(pk=cast.vault.pk).place == own
    Vault.objects.filter(pk=cast.vault.pk).update(token_variable="")
    cast.vault.refresh_from_db()
    assert change(cast, place=other).status_code == 302
    assert Vault.objects.get(pk=cast.vault.pk).place == other


@pytest.mark.parametrize("place", ["/nonexistent/x", "https://git.example.com/team/notes.git"])
def test_a_place_that_cannot_be_read_is_refused_with_the_reason(folder: Folder, place: str) -> None:
    staff = make_user("staff", is_superuser=True)
    VaultMember.objects.create(vault=folder.vault, user=staff, role="owner")
    data = filled(folder.vault, is_staff=True, place=place)
    response = signed_in(staff).post(reverse("vault-settings", args=[folder.vault.slug]), data)
    assert response.status_code == 400
    page = Page(response.content.decode())
    assert next(field for field in page.all("input") if field.get("name") == "place")[
        "aria-invalid"
    ]


def test_the_page_says_what_is_lost_and_the_name_deletes(cast: Cast) -> None:
    client = signed_in(cast.owner)
    html = client.get("/vaults/team/settings").content.decode()
    assert "the files in the folder, which are never touched" in html
    refused = client.post("/vaults/team/delete", {"name": "Teem"})
    assert refused.status_code == 400
    assert 'value="Teem"' in refused.content.decode()
    assert client.post("/vaults/team/delete", {"name": "Team"}).status_code == 302
    assert client.get("/vaults/team/").status_code == 404
    assert "Bring back" in client.get("/vaults/").content.decode()
    assert "Bring back" not in signed_in(cast.mate).get("/vaults/").content.decode()
    assert client.post("/vaults/team/restore").status_code == 302
    assert client.get("/vaults/team/").status_code == 200


def test_what_is_being_removed_cannot_be_brought_back(cast: Cast) -> None:
    delete_vault(cast.vault.pk, typed="Team")
    Vault.objects.update(deleted=timezone.now() - 2 * UNDO_TIME, state=Vault.State.REMOVING)
    client = signed_in(cast.owner)
    html = client.get("/vaults/").content.decode()
    assert "is being removed for good" in html
    assert "Bring back" not in html
    said = client.post("/vaults/team/restore", follow=True).content.decode()
    assert "too late" in said


def by_script(cast: Cast, **options: object) -> Client:
    return Client(headers={"Authorization": f"Bearer {create_token(cast.owner)}"}, **options)  # type: ignore[arg-type]


def test_scripts_read_and_change_settings(cast: Cast) -> None:
    client = by_script(cast)
    assert client.get("/api/vaults/team").json()["name"] == "Team"
    sent = {"name": "New", "ignored": "x/", "scrub_emails": True}
    answer = client.patch("/api/vaults/team", sent, content_type="application/json")
    assert (answer.status_code, answer.json()["ignored"]) == (200, "x/")
    vault = Vault.objects.get(pk=cast.vault.pk)
    assert (vault.name, vault.scrub_emails, vault.chunk_tokens) == ("New", True, 400)
    answer = client.patch(
        "/api/vaults/team", {"scrub_emails": False}, content_type="application/json"
    )
    assert answer.json()["scrub_emails"] is False


def test_a_script_overwrites_nothing_that_it_has_not_seen(cast: Cast) -> None:
    client = by_script(cast)
    address, form = "/api/vaults/team", "application/json"
    seen = client.get(address)["ETag"]
    changed = client.patch(address, {"ignored": "x/"}, form, headers={"If-Match": seen})
    assert (changed.status_code, changed["ETag"] != seen) == (200, True)
    late = client.patch(address, {"ignored": "y/"}, form, headers={"If-Match": seen})
    assert (late.status_code, late.json()["code"]) == (412, "changed_meanwhile")
    assert Vault.objects.get(pk=cast.vault.pk).ignored == "x/"
    weak = f"W/{client.get(address)['ETag']}"
    for version in (weak, "*", f'"other", {changed["ETag"]}'):
        again = client.patch(address, {"ignored": "x/"}, form, headers={"If-Match": version})
        assert again.status_code == 200, version
    assert client.patch(address, {"ignored": "z/"}, form).status_code == 200


@pytest.mark.parametrize(
    ("sent", "field"),
    [({"place": "/etc"}, "place"), ({"slug": "x"}, "slug"), ({"chunk_tokens": 1}, "chunk_tokens"),
     ({"owner": 3}, "owner")],
)  # fmt: skip
def test_scripts_are_told_what_they_may_not_change(
    cast: Cast, sent: dict[str, object], field: str
) -> None:
    answer = by_script(cast).patch("/api/vaults/team", sent, content_type="application/json")
    assert answer.status_code == 400
    assert list(answer.json()["fields"]) == [field]


def test_what_is_no_object_is_refused(cast: Cast) -> None:
    answer = by_script(cast).patch("/api/vaults/team", "[1]", content_type="application/json")
    assert answer.status_code == 400


def test_scripts_delete_by_name_and_bring_back(cast: Cast) -> None:
    client = by_script(cast)
    assert client.delete("/api/vaults/team").status_code == 400
    answer = client.delete("/api/vaults/team?name=Team")
    assert answer.status_code == 202
    assert 0 < answer.json()["seconds"] <= UNDO_TIME.total_seconds()
    assert client.get("/api/vaults").json() == []
    assert client.post("/api/vaults/team/restore").status_code == 200
    assert [row["slug"] for row in client.get("/api/vaults").json()] == ["team"]
