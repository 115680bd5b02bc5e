"""Pages of vaults and notes, by who opens them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from tests.cast import Cast
from tests.vault.core.rendering.page import Page
from tests.vault.notes import make_note
from vault.models import Job, Note, SyncRun, Vault, VaultMember

NOTE_PATH = "Drills/Ärger & <b> 100%?#x.md"


# Who may do what there stands in the permission table, tests/architecture/permissions.py.
PAGES = ("", "state", "report", "tree", "notes/a.md", "problems", "runs")
ACTS = ("sync", "reindex", "answer", "members", "members/1")


@pytest.fixture(autouse=True)
def _fresh_cache() -> None:
    cache.clear()


def signed_in(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def test_acts_are_posts_and_pages_are_not(cast: Cast) -> None:
    client = signed_in(cast.owner)
    for page in PAGES:
        assert client.post(f"/vaults/team/{page}").status_code == 405, page
    for act in ACTS:
        assert client.get(f"/vaults/team/{act}").status_code == 405, act


def test_the_list_names_readable_vaults_only(cast: Cast) -> None:
    make_note(cast.vault, "a.md")
    html = signed_in(cast.mate).get("/vaults/").content.decode()
    assert "Team" in html
    assert "Foreign" not in html
    assert "1 of 1 note searchable" in html


def test_without_a_vault_the_list_says_how_to_get_one(cast: Cast) -> None:
    VaultMember.objects.all().delete()
    assert "owner of a vault" in signed_in(cast.mate).get("/vaults/").content.decode()
    cast.owner.is_staff = True
    cast.owner.save()
    html = signed_in(cast.owner).get("/vaults/").content.decode()
    assert "/vaults/new" in html


def test_a_note_with_any_name_opens_from_the_tree(cast: Cast) -> None:
    for path in (NOTE_PATH, "line\nbreak.md", "Caf\u00e9.md", "tr\\ick.md", "a;b=c.md"):
        make_note(cast.vault, path, "marmalade", title=path)
    client = signed_in(cast.mate)
    links = Page(client.get("/vaults/team/tree").content.decode()).all("a")
    assert len(links) == 5
    for link in links:
        assert "marmalade" in client.get(link["href"]).content.decode(), link["href"]


def test_a_decomposed_address_finds_the_composed_note(cast: Cast) -> None:
    make_note(cast.vault, "Caf\u00e9.md", "words")
    assert signed_in(cast.mate).get("/vaults/team/notes/Cafe%CC%81.md").status_code == 200


@pytest.mark.parametrize("path", ["missing.md", "..%2F..%2Fetc%2Fpasswd", "a%00b.md", "x" * 3000])
def test_a_note_that_is_not_there_is_not_found(cast: Cast, path: str) -> None:
    assert signed_in(cast.mate).get(f"/vaults/team/notes/{path}").status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        "span=0-5",
        "span=6-11&source=99999999999999999999",
        "span=9-1",
        "span=x",
        "span=0-99999999999",
        "source=-1",
        "span=",
    ],
)
def test_a_span_is_marked_and_nonsense_is_ignored(cast: Cast, query: str) -> None:
    make_note(cast.vault, "a.md", "first second")
    response = signed_in(cast.mate).get(f"/vaults/team/notes/a.md?{query}")
    assert response.status_code == 200
    marked = 'id="cited"' in response.content.decode()
    assert marked == query.startswith(("span=0-5", "span=6-11"))


def test_hostile_names_and_properties_stay_text(cast: Cast) -> None:
    evil = "<img src=x onerror=alert(1)>"
    Vault.objects.filter(pk=cast.vault.pk).update(name=evil)
    note = make_note(cast.vault, f"{evil}/{evil}.md", evil, title=evil, tags=[evil],
                     properties={evil: evil})  # fmt: skip
    SyncRun.objects.create(
        vault=cast.vault, error=evil, warnings=[{"path": evil, "reason": evil, "line": 1}]
    )
    client = signed_in(cast.owner)
    for url in ("/vaults/", "/vaults/team/", "/vaults/team/report", "/vaults/team/tree"):
        page = Page(client.get(url).content.decode())
        assert not [name for name, attrs in page.elements if "onerror" in attrs]
    html = client.get(f"/vaults/team/notes/{note.path}").content.decode()
    assert not [name for name, attrs in Page(html).elements if "onerror" in attrs]


def test_a_failed_note_says_why(cast: Cast) -> None:
    make_note(cast.vault, "a.md", status=Note.Status.FAILED, reason="It took too long.")
    assert (
        "It took too long." in signed_in(cast.mate).get("/vaults/team/notes/a.md").content.decode()
    )


def test_sync_asks_for_one_job(cast: Cast) -> None:
    client = signed_in(cast.owner)
    for _ in range(2):
        assert client.post("/vaults/team/sync").status_code == 302
    assert Job.objects.filter(kind="sync", vault=cast.vault).count() == 1


def test_the_page_polls_while_a_job_is_open_and_reloads_the_report_after(cast: Cast) -> None:
    client = signed_in(cast.mate)
    done = client.get("/vaults/team/state")
    assert "hx-get" not in done.content.decode()
    assert done["HX-Trigger"] == "settled"
    Job.objects.create(
        key="x", kind="sync", vault=cast.vault, state="running",
        progress={"stage": "notes", "done": 4, "total": 8, "per_second": 2.0, "left": 4},
    )  # fmt: skip
    running = client.get("/vaults/team/state")
    assert 'hx-trigger="every 2s"' in running.content.decode()
    assert "Reading notes · 4 of 8 · 2.0 a second · 2 seconds left" in running.content.decode()
    assert "HX-Trigger" not in running


def test_only_owners_are_asked_the_question_of_a_paused_vault(cast: Cast) -> None:
    Vault.objects.filter(pk=cast.vault.pk).update(
        state=Vault.State.PAUSED, pause_reason="9 of 10 notes are gone. Is that right?"
    )
    owner, mate = signed_in(cast.owner), signed_in(cast.mate)
    assert "meant to be gone" in owner.get("/vaults/team/").content.decode()
    html = mate.get("/vaults/team/").content.decode()
    assert "9 of 10 notes are gone" in html
    assert "meant to be gone" not in html
    owner.post("/vaults/team/answer", {"answer": "nonsense"})
    cast.vault.refresh_from_db()
    assert cast.vault.state == Vault.State.PAUSED
    owner.post("/vaults/team/answer", {"answer": "delete"})
    cast.vault.refresh_from_db()
    assert (cast.vault.state, cast.vault.loss_allowed) == (Vault.State.ACTIVE, True)
    assert Job.objects.filter(kind="sync", vault=cast.vault).exists()


def test_looking_again_deletes_nothing(cast: Cast) -> None:
    Vault.objects.filter(pk=cast.vault.pk).update(state=Vault.State.PAUSED)
    signed_in(cast.owner).post("/vaults/team/answer", {"answer": "look"})
    cast.vault.refresh_from_db()
    assert (cast.vault.state, cast.vault.loss_allowed) == (Vault.State.ACTIVE, False)


def test_an_owner_adds_changes_and_removes_members(cast: Cast) -> None:
    client = signed_in(cast.owner)
    added = client.post("/vaults/team/members", {"name": "outsider@example.com", "role": "reader"})
    assert added.status_code == 302
    member = VaultMember.objects.get(vault=cast.vault, user=cast.outsider)
    client.post(f"/vaults/team/members/{member.pk}", {"role": "editor"})
    member.refresh_from_db()
    assert member.role == "editor"
    client.post(f"/vaults/team/members/{member.pk}", {"remove": "1"})
    assert not VaultMember.objects.filter(pk=member.pk).exists()


def test_a_refused_member_keeps_what_was_typed_and_says_why(cast: Cast) -> None:
    client = signed_in(cast.owner)
    response = client.post("/vaults/team/members", {"name": "x@example.com", "role": "owner"})
    html = response.content.decode()
    assert response.status_code == 400
    assert "Nobody signs in here as x@example.com" in html
    assert 'value="x@example.com"' in html
    wrong = client.post("/vaults/team/members", {"name": "mate@example.com", "role": "king"})
    assert wrong.status_code == 400


def test_the_last_owner_stays_and_is_told_why(cast: Cast) -> None:
    member = VaultMember.objects.get(vault=cast.vault, user=cast.owner)
    client = signed_in(cast.owner)
    for data in ({"remove": "1"}, {"role": "reader"}, {"role": "king"}):
        response = client.post(f"/vaults/team/members/{member.pk}", data, follow=True)
        assert 'class="notice error"' in response.content.decode()
    member.refresh_from_db()
    assert member.role == "owner"


def test_an_owner_who_leaves_comes_to_the_list(cast: Cast) -> None:
    VaultMember.objects.filter(vault=cast.vault, user=cast.mate).update(role="owner")
    member = VaultMember.objects.get(vault=cast.vault, user=cast.owner)
    response = signed_in(cast.owner).post(f"/vaults/team/members/{member.pk}", {"remove": "1"})
    assert response["Location"] == "/vaults/"


def test_an_editor_may_sync_but_not_manage_members(cast: Cast) -> None:
    VaultMember.objects.filter(vault=cast.vault, user=cast.mate).update(role="editor")
    client = signed_in(cast.mate)
    html = client.get("/vaults/team/").content.decode()
    assert "/vaults/team/sync" in html
    assert 'action="/vaults/team/members' not in html
    assert client.post("/vaults/team/sync").status_code == 302
    assert client.post("/vaults/team/members", {"name": "x", "role": "reader"}).status_code == 404


def test_a_page_has_nothing_that_the_policy_would_block(cast: Cast) -> None:
    make_note(cast.vault, "a.md", "| a |\n|--:|\n| b |\n\n```py\nx\n```\n\n$x$")
    client = signed_in(cast.owner)
    for url in ("/vaults/", "/vaults/team/", "/vaults/team/notes/a.md"):
        page = Page(client.get(url).content.decode())
        assert not [name for name, attrs in page.elements if "style" in attrs]
        assert all("src" in attrs or attrs.get("type") == "application/json"
                   for attrs in page.all("script"))  # fmt: skip


def test_asking_about_a_note_begins_with_its_vault_and_title(cast: Cast) -> None:
    VaultMember.objects.create(vault=cast.foreign_vault, user=cast.mate, role="reader")
    make_note(cast.vault, "a.md", title='Pump & "seal"')
    client = signed_in(cast.mate)
    links = Page(client.get("/vaults/team/notes/a.md").content.decode()).all("a")
    (ask_link,) = [link["href"] for link in links if link.get("href", "").startswith("/?vault=")]
    home = Page(client.get(ask_link).content.decode())
    chosen = {
        attrs["value"]: "checked" in attrs
        for attrs in home.all("input")
        if attrs.get("name") == "vaults"
    }
    assert chosen == {"team": True, "foreign": False}
    assert 'About “Pump & "seal"”' in home.text
