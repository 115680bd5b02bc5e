"""Problems: every kind from its cause, with its mend; filters, counts, pages, time limits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from providers.models import ChatModel, Provider
from secondbrain.health import check_vaults
from tests.cast import Cast, make_user, make_vault
from tests.vault.folders import Folder
from tests.vault.notes import make_model, make_note
from vault.core.rendering import anchor_id
from vault.counting import in_time
from vault.embedding import embed_pending
from vault.enrichment import enrich_settings, switch_off, switch_on
from vault.models import Chunk, ContextFailure, Job, Note, ScrubFinding, SyncRun, Vault, VaultMember
from vault.presenters import not_read_words
from vault.problem_kinds import Kind, Looked
from vault.problems import list_problems, problem_counts, wrong_in_all
from vault.reindexing import reindex_failed, reindex_notes
from vault.report_views import KINDS_HEADING
from vault.status import vault_status
from vault.tasks import request_sync


def problems(folder: Folder, kind: Kind | None = None) -> dict[str, str]:
    """Mends by path."""
    folder.vault.refresh_from_db()
    found = list_problems(Looked((folder.vault,)), kind=kind)
    assert found is not None
    return {problem.path: problem.mend for problem in found}


def test_each_file_that_cannot_be_read_is_listed_with_what_mends_it(folder: Folder) -> None:
    folder.write("song.md", b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    folder.write("large.md", "word " * 2000)
    folder.write("board.canvas", "{ this is no JSON")
    folder.write("made.py", "x" * 60_000)
    (folder.root / "link.md").symlink_to(folder.root / "large.md")
    folder.vault.largest_note_kb = 9
    folder.vault.save()
    folder.sync()
    mends = problems(folder)
    assert "rename it" in mends["song.md"]
    assert "sync" not in mends["song.md"]
    assert "raise the limit" in mends["large.md"]
    assert "program that made it" in mends["board.canvas"]
    assert "copy in the place of the link" in mends["link.md"]
    folder.vault.largest_note_kb = 900
    folder.vault.save()
    folder.sync()
    assert ".brainignore" in problems(folder)["made.py"]
    assert set(problems(folder, Kind.UNREAD)) == {"link.md"}
    assert set(problems(folder, Kind.TOO_LARGE)) == set()


def test_kinds_are_counted_apart_and_all_is_their_sum(folder: Folder) -> None:
    folder.write("song.md", bytes(range(256)) * 20)
    folder.write("large.md", "word " * 2000)
    folder.write("doubtful.md", "---\nbroken: [\n---\nwords")
    folder.write("empty.md", "")
    folder.write("key.md", "password: hT9$kQ2!vLm4\nwords")
    folder.vault.largest_note_kb = 9
    folder.vault.save()
    folder.sync()
    counts = problem_counts(Looked((folder.vault,)))
    assert {kind: count for kind, count in counts.items() if count} == {
        Kind.TOO_LARGE: 1,
        Kind.EXCLUDED: 1,
        Kind.WARNINGS: 1,
        Kind.EMPTY: 1,
        Kind.SECRETS: 1,
    }
    assert wrong_in_all(counts) == 3
    assert set(problems(folder)) == {"song.md", "large.md", "doubtful.md"}


def test_a_note_that_waits_says_how_many_passages_wait(folder: Folder) -> None:
    folder.write("a.md", "# A\n\nwords")
    folder.sync()
    make_model(folder.vault)
    (row,) = list_problems(Looked((folder.vault,)), kind=Kind.WAITING) or []
    assert (row.path, row.severity) == ("a.md", "partly")
    assert row.reason.startswith("1 passage waits")
    embed_pending(folder.vault.pk, most_seconds=60)
    assert list_problems(Looked((folder.vault,)), kind=Kind.WAITING) == []


def test_a_note_that_has_no_context_line_says_why(folder: Folder) -> None:
    note = make_note(folder.vault, "a.md", "words")
    provider = Provider.objects.create(slug="talker", name="Talker", kind="fake", needs_key=False)
    model = ChatModel.objects.create(provider=provider, name="cite")
    switch_on(folder.vault.pk, model, summarize=False, user_id=None)
    settings = enrich_settings(folder.vault.pk)
    assert settings is not None
    ContextFailure.objects.create(
        note=note, content_hash=note.content_hash, made_under=settings.key,
        reason="The answer was no list.", attempts=2, retry_after=timezone.now(),
    )  # fmt: skip
    looked = Looked((folder.vault,))
    (row,) = list_problems(looked, kind=Kind.NO_CONTEXT) or []
    assert (row.severity, row.attempts) == ("doubtful", 2)
    assert "The answer was no list." in row.reason
    switch_off(folder.vault.pk)
    assert list_problems(looked, kind=Kind.NO_CONTEXT) == []


def test_secrets_are_named_by_kind_and_line_and_never_by_value(folder: Folder) -> None:
    note = make_note(folder.vault, "a.md", "words")
    for line in range(1, 9):
        ScrubFinding.objects.create(vault=folder.vault, note=note, kind="jwt", line=line)
    (row,) = list_problems(Looked((folder.vault,)), kind=Kind.SECRETS) or []
    assert "jwt in line 1" in row.reason
    assert "3 more" in row.reason
    assert row.line == 1


def test_ten_thousand_rows_are_paged_without_gap_or_double(folder: Folder) -> None:
    rows = [
        Note(
            vault=folder.vault,
            path=f"{number:05}.md",
            title="x",
            content_hash="x",
            file_modified=folder.vault.created,
            status=Note.Status.FAILED if number % 2 else Note.Status.EXCLUDED,
            reason="binary file, not text",
        )
        for number in range(10_000)
    ]
    Note.objects.bulk_create(rows, batch_size=2000)
    looked = Looked((folder.vault,))
    assert wrong_in_all(problem_counts(looked)) == 10_000
    seen: list[str] = []
    for start in (0, 4_990, 5_000, 9_990, 10_000):
        page = list_problems(looked, start=start, most=20)
        assert page is not None
        assert len(page) == min(20, 10_000 - start)
        seen += [problem.path for problem in page]
    assert seen[:2] == ["00001.md", "00003.md"]
    assert seen[20:41:10] == ["09981.md", "00000.md", "00000.md"]
    assert seen[60:] == [f"{number:05}.md" for number in range(9980, 10_000, 2)]


@contextmanager
def locked(table: str) -> Iterator[None]:
    """`table` in the hands of somebody else, so that every look at it waits."""
    is_held, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
                is_held.set()
                may_go.wait(30)
        finally:
            connections.close_all()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert is_held.wait(10)
        yield
    finally:
        may_go.set()
        thread.join()


@pytest.mark.django_db(transaction=True)
@override_settings(COUNT_SECONDS=0.05)
def test_counts_that_take_too_long_are_unknown_and_hold_nothing_up(tmp_path: Path) -> None:
    owner = make_user("keeper")
    vault = make_vault("team", owner=owner)
    make_note(vault, "a.md", "words", status=Note.Status.FAILED, reason="binary file, not text")
    client = Client()
    client.force_login(owner)
    with locked("vault_scrubfinding"):
        counts = problem_counts(Looked((vault,)))
        assert counts[Kind.SECRETS] is None
        assert counts[Kind.FAILED] == 1
        page = client.get(reverse("vault-problems", args=["team"]))
        assert page.status_code == 200
        assert "Secrets <b>unknown</b>" in page.content.decode()
        assert "a.md" in page.content.decode()
    with locked("vault_chunk"):
        status = vault_status(vault, with_problems=False)
        assert (status.notes, status.chunks, status.pending) == (1, None, 0)
        page = client.get(reverse("vault", args=["team"]))
        assert page.status_code == 200
        assert "looking for them took too long" in page.content.decode()
    assert vault_status(vault).chunks == 0
    Vault.objects.update(place=str(tmp_path))
    vault.refresh_from_db()
    with locked("vault_note"):
        assert check_vaults()[0].text == "counting its notes takes too long just now"
        request_sync(vault.pk)
        assert "is being read" in check_vaults()[0].text


@pytest.mark.django_db(transaction=True)
def test_a_limit_ends_with_its_count() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW statement_timeout")
        before = cursor.fetchone()
        with transaction.atomic():
            assert in_time(Note.objects.count) == 0
            cursor.execute("SHOW statement_timeout")
            assert cursor.fetchone() == before


def test_a_note_is_read_again_when_asked_for_although_its_file_is_the_same(
    folder: Folder,
) -> None:
    folder.write("a.md", "# A\n\nwords")
    folder.write("b.md", "# B\n\nwords")
    folder.sync()
    Note.objects.filter(path="a.md").update(title="spoiled")
    assert folder.sync().counts["changes"] == 0
    assert reindex_notes(Note.objects.filter(path="a.md")) == 1
    assert folder.sync().counts["again"] == 1
    assert folder.note("a.md").title == "A"


def test_what_failed_is_tried_again_whatever_the_attempts(folder: Folder) -> None:
    folder.write("a.md", "# A\n\nwords")
    folder.write("b.md", "# B\n\nwords")
    folder.sync()
    Note.objects.filter(path="a.md").update(status=Note.Status.FAILED, attempts=9, reason="x")
    Chunk.objects.filter(note__path="b.md").update(embed_failed="too long", embed_attempts=4)
    assert reindex_failed(folder.vault.pk) == 2
    folder.sync()
    assert folder.note("a.md").status == Note.Status.INDEXED
    assert not Chunk.objects.exclude(embed_failed="").exists()
    assert reindex_failed(folder.vault.pk) == 0


def post(cast: Cast, who: str, **data: str) -> str:
    client = Client()
    client.force_login(getattr(cast, who))
    page = client.post(reverse("vault-reindex", args=[cast.vault.slug]), data, follow=True)
    return str(page.content.decode())


def test_the_button_of_a_note_asks_for_it_and_comes_back_to_the_same_page(cast: Cast) -> None:
    note = make_note(cast.vault, "a.md", "w", status=Note.Status.FAILED, reason="binary file")
    note.indexed_hash = "x"
    note.save()
    html = post(cast, "owner", note=str(note.pk), kind="failed", page="1")
    assert "1 note will be read again." in html
    assert 'aria-current="page">Failed' in html
    assert Job.objects.filter(kind="sync", vault=cast.vault).exists()
    note.refresh_from_db()
    assert note.indexed_hash == ""


def test_a_note_of_another_vault_is_not_touched(cast: Cast) -> None:
    note = make_note(cast.foreign_vault, "a.md", "w", indexed_hash="x")
    assert "There is nothing to read again." in post(cast, "owner", note=str(note.pk))
    note.refresh_from_db()
    assert note.indexed_hash == "x"
    assert not Job.objects.exists()


def test_every_row_leads_to_the_note_and_to_why_it_is_not_found(cast: Cast) -> None:
    make_note(cast.vault, "A & b.md", "w", status=Note.Status.FAILED, reason="binary file")
    client = Client()
    client.force_login(cast.mate)
    html = client.get(reverse("vault-problems", args=["team"])).content.decode()
    assert "/search/why?vault=team&amp;note=A%20%26%20b.md" in html
    assert "Index again" not in html
    assert "Retry failed" not in html


@pytest.mark.parametrize("asked", ["kind=nonsense", "page=0", "page=99", "page=x", "kind=failed"])
def test_whatever_the_address_asks_for_is_answered(cast: Cast, asked: str) -> None:
    client = Client()
    client.force_login(cast.mate)
    page = client.get(f"{reverse('vault-problems', args=['team'])}?{asked}")
    assert page.status_code == 200
    assert 'class="empty"' in page.content.decode()


def test_a_run_has_a_page_with_every_warning(cast: Cast) -> None:
    warnings = [{"path": f"{n}.md", "reason": "odd", "line": n or None} for n in range(60)]
    run = SyncRun.objects.create(
        vault=cast.vault,
        state=SyncRun.State.WARNINGS,
        warnings=warnings,
        counts={"created": 3, "warnings": 70, "chunks": 12},
        finished=cast.vault.created,
    )
    client = Client()
    client.force_login(cast.mate)
    history = client.get(reverse("vault-runs", args=["team"])).content.decode()
    assert reverse("vault-run", args=["team", run.pk]) in history
    html = client.get(reverse("vault-run", args=["team", run.pk])).content.decode()
    assert "59.md" in html
    assert "3 new" in html
    assert "10 more are not kept" in html
    other = SyncRun.objects.create(vault=cast.foreign_vault)
    assert client.get(reverse("vault-run", args=["team", other.pk])).status_code == 404
    VaultMember.objects.filter(user=cast.mate).update(hidden_folders=["HR"])
    assert client.get(reverse("vault-run", args=["team", run.pk])).status_code == 404
    assert client.get(reverse("vault-runs", args=["team"])).status_code == 404


def test_files_of_kinds_that_are_not_read_are_named_on_the_pages(folder: Folder) -> None:
    for name in ("a.md", "b.rst", "c.rst", "d.docx", "e.png", "LICENSE", *"vwxyz"):
        folder.write(name, "words")
    for number in range(4):
        folder.write(f"{number}.k{number}", "words")
    run = folder.sync()
    client = Client()
    client.force_login(User.objects.get(vaultmember__vault=folder.vault))
    slug = folder.vault.slug
    report = client.get(reverse("vault-report", args=[slug])).content.decode()
    assert "Not read: 2 .rst, 1 .docx, 1 .k0, 1 .k1, 1 .k2, 7 others" in report
    assert "Which files are read" not in report, "the handbook is no vault of this reader"
    page = reverse("vault-run", args=[slug, run.pk])
    assert "1 .k2, 1 .k3, 6 others" in client.get(page).content.decode()
    Vault.objects.filter(pk=folder.vault.pk).update(place=str(settings.BASE_DIR / "docs"))
    kinds = reverse("note", args=[slug, "writing-notes.md"]) + f"#{anchor_id(KINDS_HEADING)}"
    assert f'<a href="{kinds}">' in client.get(page).content.decode()
    handbook = (settings.BASE_DIR / "docs" / "writing-notes.md").read_text()
    assert f"## {KINDS_HEADING}\n" in handbook


def test_of_a_vault_whose_every_kind_is_read_nothing_is_said(folder: Folder) -> None:
    folder.write("a.md", "words")
    folder.sync()
    assert not_read_words(folder.sync()) == ""
    folder.write("LICENSE", "words")
    assert not_read_words(folder.sync()) == "1 file of another kind"


def test_a_long_note_without_a_passage_is_suspicious(folder: Folder) -> None:
    note = make_note(folder.vault, "a.md", "word " * 2000)
    assert list(problems(folder, Kind.SUSPICIOUS)) == [note.path]


def test_a_note_of_golden_questions_is_neither_suspicious_nor_empty(folder: Folder) -> None:
    """It is kept out of search on purpose."""
    make_note(folder.vault, "Tests/golden-questions.md", "word " * 2000)
    make_note(folder.vault, "b.md", "word " * 2000, properties={"type": "golden-questions"})
    make_note(folder.vault, "c.md", "word " * 2000, properties={"golden-questions": True})
    other = make_note(folder.vault, "d.md", "word " * 2000, properties={"type": "plan"})
    assert list(problems(folder, Kind.SUSPICIOUS)) == [other.path]
    assert list(problems(folder, Kind.EMPTY)) == [other.path]
