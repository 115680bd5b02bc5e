"""Status: counts, coverage, and every problem with its reason and its mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from providers.models import EmbeddingModel, Provider
from tests.vault.folders import Folder, make_folder
from vault import jobs
from vault.embedding import embed_pending
from vault.models import Chunk, VaultMember
from vault.refusals import mark_failed
from vault.status import VaultStatus, site_counts, vault_status
from vault.tasks import request_embed

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    provider = Provider.objects.create(slug="fake", name="Fake", kind="fake", needs_key=False)
    model = EmbeddingModel.objects.create(provider=provider, name="hash", dimensions=64)
    return make_folder(tmp_path / "notes", embedding_model=model)


def status(folder: Folder) -> VaultStatus:
    folder.vault.refresh_from_db()
    return vault_status(folder.vault)


def test_keyword_search_covers_at_once_and_meaning_follows(folder: Folder) -> None:
    folder.write("a.md", "# A\n\nwords")
    folder.write("b.md", "# B\n\nmore words")
    folder.sync()
    before = status(folder)
    assert (before.searchable, before.covered, before.pending) == (2, 0, 2)
    assert before.coverage == "0 of 2"
    embed_pending(folder.vault.pk, most_seconds=60)
    after = status(folder)
    assert (after.covered, after.embedded, after.pending) == (2, 2, 0)
    assert after.coverage == "2 of 2"
    assert after.is_settled


def test_every_missing_note_has_a_reason_and_a_mend(folder: Folder) -> None:
    folder.write("binary.md", bytes(range(256)) * 40)
    folder.write("large.md", "word " * 2000)
    folder.write("doubtful.md", "---\nbroken: [\n---\nwords")
    (folder.root / "link.md").symlink_to(folder.root / "large.md")
    folder.vault.largest_note_kb = 9
    folder.vault.save()
    folder.sync()
    found = status(folder)
    assert (found.notes, found.searchable, found.excluded) == (3, 1, 2)
    by_path = {problem.path: problem for problem in found.problems}
    assert {path: problem.severity for path, problem in by_path.items()} == {
        "binary.md": "missing",
        "large.md": "missing",
        "link.md": "missing",
        "doubtful.md": "doubtful",
    }
    assert "kB" in by_path["large.md"].reason
    assert "link" in by_path["link.md"].reason
    assert by_path["doubtful.md"].line is not None
    assert all(problem.mend for problem in found.problems)


def test_a_warning_stays_while_the_file_stays_as_it_is(folder: Folder) -> None:
    folder.write("doubtful.md", "---\nbroken: [\n---\nwords")
    folder.sync()
    folder.sync()
    assert [problem.path for problem in status(folder).problems] == ["doubtful.md"]
    folder.write("doubtful.md", "---\nmended: yes\n---\nwords")
    folder.sync()
    assert status(folder).problems == ()


def test_a_chunk_that_was_refused_is_partly_missing_with_its_line(folder: Folder) -> None:
    folder.write("a.md", "---\nx: y\n---\n# A\n\nwords")
    folder.sync()
    model = folder.vault.embedding_model
    assert model is not None
    mark_failed([Chunk.objects.get().pk], model, "600 of 512 tokens")
    found = status(folder)
    assert (found.failed, found.pending, found.coverage) == (1, 0, "0 of 1")
    problem = found.problems[0]
    assert problem.severity == "partly"
    assert "600 of 512" in problem.reason
    assert problem.line is not None
    assert problem.line >= 4


def test_a_note_that_was_hardly_understood_is_suspicious(folder: Folder) -> None:
    folder.write("hidden.md", "# Top\n\n%%\n" + "All of this is one comment. " * 100 + "\n%%\n")
    folder.write("plain.md", "# Top\n\n" + "All of this is text. " * 100)
    folder.sync()
    assert [problem.path for problem in status(folder).suspicious] == ["hidden.md"]


def test_the_running_job_is_shown_with_rate_and_time_left(folder: Folder) -> None:
    job = jobs.claim(request_embed(folder.vault.pk).pk)
    assert job is not None
    jobs.report(job, stage="embed", left=90, per_second=30.0)
    shown = status(folder).job
    assert shown is not None
    assert (shown.kind, shown.state, shown.per_second, shown.seconds_left) == (
        "embed",
        "running",
        30.0,
        3,
    )
    assert not status(folder).is_settled


def test_a_paused_vault_shows_its_question(folder: Folder) -> None:
    folder.write("a.md", "# A")
    folder.sync()
    folder.delete("a.md")
    folder.sync()
    assert status(folder).state == "paused"
    assert "gone" in status(folder).question


def test_site_counts_are_of_what_the_asker_may_read(folder: Folder) -> None:
    folder.write("a.md", "# A")
    folder.sync()
    owner = VaultMember.objects.get(vault=folder.vault).user
    assert owner is not None
    assert site_counts(owner) == (1, 1)
    VaultMember.objects.all().delete()
    assert site_counts(owner) == (0, 0)
