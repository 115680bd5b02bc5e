"""Context lines: one call a changed note, found in both arms, and never in the way."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from providers.models import ChatModel
from providers.testing import HashEmbedder
from tests.vault.folders import Folder
from tests.vault.line_writer import TEXT, LineWriter, contexts, embed, enrich, switch_on
from vault.enrichment import (
    EnrichProgress,
    clear_contexts,
    due_chunks,
    due_notes,
    enrich_pending,
    enrich_settings,
    failed_notes,
    has_due,
)
from vault.models import Chunk, ContextFailure, Enrichment

pytestmark = pytest.mark.django_db


def test_nothing_is_asked_while_it_is_off(folder: Folder, writer: LineWriter) -> None:
    assert enrich(folder, writer) == EnrichProgress()
    Enrichment.objects.create(vault=folder.vault)
    assert enrich(folder, writer) == EnrichProgress()
    assert (writer.requests, contexts()) == ([], ["", "", ""])
    assert not has_due(folder.vault.pk)


def test_one_call_writes_the_lines_of_a_note_and_both_arms_see_them(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    progress = enrich(folder, writer)
    assert (progress.notes, progress.lines, progress.failed, progress.left) == (1, 3, 0, 0)
    assert writer.asked == ["1, 2, 3"]
    assert contexts() == ["Tells of zelmira1.", "Tells of zelmira2.", "Tells of zelmira3."]
    assert folder.found("zelmira2") == ["a.md"], "by words"
    sent = embed(folder)
    assert len(sent) == 3
    assert sent[1].startswith("Pumps > Part 1\n\nTells of zelmira2.\n\n"), "by meaning"


def test_lines_are_paid_for_once(folder: Folder, writer: LineWriter, model: ChatModel) -> None:
    switch_on(folder, model)
    enrich(folder, writer)
    folder.sync(full=True)
    assert enrich(folder, writer).notes == 0
    assert len(writer.requests) == 1
    embed(folder)
    folder.sync(full=True)
    assert embed(folder) == []


def test_only_what_changed_is_asked_about_again(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    folder.write("b.md", "# Other\n\nAnother note.")
    folder.sync()
    enrich(folder, writer)
    embed(folder)
    folder.write("a.md", TEXT.replace("Part1.", "Rewritten."))
    folder.sync()
    assert contexts()[:3] == ["Tells of zelmira1.", "", "Tells of zelmira3."]
    enrich(folder, writer)
    assert writer.asked[2:] == ["2"]
    assert len(embed(folder)) == 1


def test_the_whole_note_is_shown_as_data(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    enrich(folder, writer)
    request = writer.requests[0]
    assert "Part0." in request.messages[0].content
    assert "Part2." in request.messages[0].content
    assert '<note title="Pumps">' in request.messages[0].content
    assert "summary" not in request.system


def test_summaries_are_kept_for_display_and_never_embedded(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model, summarize=True)
    enrich(folder, writer)
    assert list(Chunk.objects.order_by("ordinal").values_list("summary", flat=True)) == [
        "Sum 1.",
        "Sum 2.",
        "Sum 3.",
    ]
    assert not any("Sum 1." in text for text in embed(folder))


def test_settings_are_part_of_what_a_line_was_made_under(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    enrich(folder, writer)
    switch_on(folder, model, summarize=True)
    enrich(folder, writer)
    assert len(writer.requests) == 2
    switch_on(folder, model, summarize=False)
    enrich(folder, writer)
    assert len(writer.requests) == 2, "a line that came with a summary is good without one"
    other = ChatModel.objects.create(provider=model.provider, name="other")
    switch_on(folder, other)
    enrich(folder, writer)
    assert len(writer.requests) == 3


def test_a_passage_without_a_good_line_has_none_and_the_note_is_tried_later(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    settings = enrich_settings(switch_on(folder, model).vault_id)
    assert settings is not None
    writer.rows = lambda numbers: [{"n": 1, "context": "One."}, {"n": 3, "text": "?"}, {"n": 9}]
    progress = enrich(folder, writer)
    assert (progress.lines, progress.failed, progress.left) == (1, 1, 0)
    assert contexts() == ["One.", "", ""]
    assert "2 of 3 passages" in failed_notes(settings).get().reason
    assert not due_notes(settings).exists(), "not at once"
    assert due_chunks(settings).count() == 2, "flagged all the same"
    ContextFailure.objects.update(retry_after=timezone.now() - timedelta(seconds=1))
    writer.rows = LineWriter().rows
    enrich(folder, writer)
    assert writer.asked == ["1, 2, 3", "2, 3"]
    assert contexts() == ["One.", "Tells of zelmira2.", "Tells of zelmira3."]
    assert not ContextFailure.objects.exists()


def test_a_secret_in_a_line_is_never_stored(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    secret = "ghp_" + "a1B2" * 9
    switch_on(folder, model)
    writer.rows = lambda numbers: [{"n": n, "context": f"The key {secret} opens."} for n in numbers]
    enrich(folder, writer)
    assert not any(secret in line for line in contexts())
    assert all(line.startswith("The key ") for line in contexts())


def test_a_line_is_cut_where_the_passage_would_be_too_long(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)
    Chunk.objects.filter(ordinal=1).update(tokens=448)
    writer.rows = lambda numbers: [{"n": n, "context": "many words " * 200} for n in numbers]
    enrich(folder, writer)
    count = HashEmbedder().count_tokens
    assert contexts()[1] == ""
    assert 10 < count(contexts()[0]) <= 60
    assert enrich(folder, writer).notes == 0, "made, although there was no room"


def test_an_edit_while_the_model_writes_wins(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    switch_on(folder, model)

    def meanwhile(numbers: list[int]) -> list[dict[str, Any]]:
        Chunk.objects.filter(ordinal=0).update(content="Rewritten meanwhile.")
        return LineWriter().rows(numbers)

    writer.rows = meanwhile
    enrich_pending(folder.vault.pk, most_seconds=0.0001, provider_of=lambda *_: writer)
    assert contexts()[0] == ""
    assert contexts()[1] == "Tells of zelmira2."


def test_switched_off_it_leaves_nothing_behind(
    folder: Folder, writer: LineWriter, model: ChatModel
) -> None:
    before = sorted(Chunk.objects.values_list("embed_hash", flat=True))
    switch_on(folder, model)
    enrich(folder, writer)
    assert clear_contexts(folder.vault.pk) == 0, "not while it is on"
    Enrichment.objects.update(contextualize=False)
    assert has_due(folder.vault.pk)
    assert clear_contexts(folder.vault.pk) == 3
    assert clear_contexts(folder.vault.pk) == 0
    assert contexts() == ["", "", ""]
    assert folder.found("zelmira1") == []
    assert sorted(Chunk.objects.values_list("embed_hash", flat=True)) == before
