"""The lab: every candidate with what was measured, two settings, kept searches."""

from __future__ import annotations

import re
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import OperationalError
from django.test import Client
from django.urls import reverse

from providers.models import ChatModel, Provider
from providers.testing import FakeChat
from retrieval.core.types import Fusion, Knobs
from retrieval.lab import Side, examine, own_run, side_of
from retrieval.models import RetrievalRun
from tests.cast import Cast, make_user
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.access import scope_for
from vault.models import Link, Note, NoteVector, Vault, VaultMember
from vault.note_vectors import write_note_vectors

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "Which blue pump stands in the cellar?"


@pytest.fixture
def library(cast: Cast) -> Cast:
    write_note(cast.vault, "Ops/Pumps.md", "The blue pump stands in the cellar.", "A red valve.")
    write_note(cast.vault, "Ops/Valves.md", "The red valve hangs in the attic.")
    write_note(cast.foreign_vault, "Secret.md", "The blue pump of somebody else.")
    embed(cast.vault, make_embedding_model())
    return cast


def lab(user: Any, **params: Any) -> Any:
    client = Client()
    client.force_login(user)
    return client.get(reverse("lab"), params)


def text_of(response: Any) -> str:
    return re.sub(r"\s+", " ", response.content.decode())


def test_the_empty_lab_says_what_it_is_for(library: Cast) -> None:
    answer = lab(library.owner)
    assert answer.status_code == 200
    assert "Ask something to see every candidate" in text_of(answer)
    assert not RetrievalRun.objects.exists()


def test_every_candidate_is_shown_with_what_each_arm_measured(library: Cast) -> None:
    content = text_of(lab(library.owner, q=QUESTION, depth=10))
    assert "Ops/Pumps.md" in content
    assert re.search(r"<dt>Keywords</dt><dd>1 · BM25 \d+\.\d\d</dd>", content)
    assert re.search(r"<dt>Meaning</dt><dd>\d · cosine 0\.\d{3}</dd>", content)
    assert re.search(r"<dt>Score</dt><dd>[01]\.\d{4}</dd>", content)
    assert "<mark>blue</mark>" in content
    assert "Database</th>" in content
    assert "Every vector is compared" in content
    assert "Secret" not in content


def test_of_a_long_question_it_says_what_was_searched(library: Cast) -> None:
    long = f"{QUESTION} " + "It was seen there by somebody. " * 60
    content = text_of(lab(library.owner, q=long, depth=10))
    assert f"The message has {len(long.strip()):,}".replace(",", "") in content
    assert long.strip()[-300:] in content, "what was typed is kept whole"


def test_the_number_of_candidates_is_chosen(library: Cast) -> None:
    one = text_of(lab(library.owner, q=QUESTION, top=1))
    assert one.count("place-number") == 1
    for odd in ("0", "x", "9999", "-1"):
        assert lab(library.owner, q=QUESTION, top=odd).status_code == 200


def test_two_settings_stand_side_by_side_with_what_moved(library: Cast) -> None:
    content = text_of(lab(library.owner, q=QUESTION, compare=1, b_mode="keyword"))
    assert '<h2 id="column-2">Second</h2>' in content
    assert "Arms keywords alone" in content
    assert "only here" in content
    runs = RetrievalRun.objects.order_by("pk")
    assert [run.mode for run in runs] == ["hybrid", "keyword"]


def test_each_knob_is_tried_when_asked_for(library: Cast) -> None:
    plain = text_of(lab(library.owner, q=QUESTION))
    assert "effects=1" in plain
    content = text_of(lab(library.owner, q=QUESTION, effects=1))
    assert "What each knob does" in content
    assert "keywords alone" in content
    assert "fused by rank" in content
    assert "b_fusion=rrf" in content


def test_a_knob_that_means_nothing_is_told_and_nothing_searched(library: Cast) -> None:
    answer = lab(library.owner, q=QUESTION, depth="many")
    assert answer.status_code == 400
    assert "Give a whole number from 10 to 500." in text_of(answer)
    assert not RetrievalRun.objects.exists()


def test_a_reader_who_owns_nothing_has_no_lab(library: Cast) -> None:
    assert lab(library.mate).status_code == 404


def test_staff_look_at_what_they_may_read_and_no_more(library: Cast) -> None:
    staff = make_user("staff")
    staff.is_staff = True
    staff.save()
    assert lab(staff).status_code == 404
    VaultMember.objects.create(vault=library.vault, user=staff)
    content = text_of(lab(staff, q="blue pump", vault=["team", "foreign"]))
    assert "Ops/Pumps.md" in content
    assert "Secret" not in content


def test_a_kept_search_is_opened_again_by_whoever_asked(library: Cast) -> None:
    lab(library.owner, q=QUESTION, fusion="rrf")
    run = RetrievalRun.objects.get()
    content = text_of(lab(library.owner, run=run.pk))
    assert "A search that was kept" in content
    assert "Fusion by rank" in content
    assert "Ops/Pumps.md" in content
    assert RetrievalRun.objects.count() == 1
    assert lab(library.outsider, run=run.pk).status_code == 404
    for odd in ("x", "9" * 30, "0"):
        assert lab(library.owner, run=odd).status_code == 404


def test_a_reader_looks_at_a_search_of_their_own_though_they_own_nothing(library: Cast) -> None:
    async_to_sync(examine)(
        QUESTION, scope=scope_for(library.mate), knobs=Knobs(), top=5, user_id=library.mate.pk
    )
    run = RetrievalRun.objects.get()
    content = text_of(lab(library.mate, run=run.pk))
    assert "Ops/Pumps.md" in content
    assert '<form class="lab-form"' not in content
    assert lab(library.mate, run=run.pk, q="other", like="Pumps").status_code == 200
    assert lab(library.mate, run=run.pk + 1).status_code == 404


def test_a_kept_search_shows_no_note_that_may_not_be_read_any_more(library: Cast) -> None:
    lab(library.owner, q=QUESTION)
    run = own_run(library.owner.pk, RetrievalRun.objects.get().pk)
    assert run is not None
    seen = side_of(run, scope=scope_for(library.owner), top=10)
    assert seen.rows
    assert seen.hidden == 0
    VaultMember.objects.filter(user=library.owner).delete()
    hidden = side_of(run, scope=scope_for(library.owner), top=10)
    assert hidden.rows == ()
    assert hidden.hidden == len(seen.rows)


def test_notes_like_a_note_are_listed(library: Cast) -> None:
    model = Vault.objects.get(pk=library.vault.pk).embedding_model
    assert model is not None
    write_note_vectors(library.vault.pk, model)
    assert NoteVector.objects.exists()
    content = text_of(lab(library.owner, like="Pumps"))
    assert "Valves</a>" in content
    assert "Secret" not in content
    assert "no note “Nobody” here" in text_of(lab(library.owner, like="Nobody"))
    NoteVector.objects.all().delete()
    assert "has no vector yet" in text_of(lab(library.owner, like="Pumps"))


def test_a_database_that_gives_up_is_said(library: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    async def give_up(*args: object, **kwargs: object) -> None:
        raise OperationalError("canceling statement due to statement timeout")

    monkeypatch.setattr("retrieval.lab_views.examine", give_up)
    answer = lab(library.owner, q=QUESTION)
    assert answer.status_code == 503
    assert "took too long" in text_of(answer)


def test_what_an_answer_would_read_follows_its_knobs(library: Cast) -> None:
    make_link(library.vault, "Ops/Pumps.md", "Ops/Valves.md")
    plain = text_of(lab(library.owner, q=QUESTION, mode="keyword", top=1))
    assert "An answer would read 1 passage" in plain
    linked = text_of(lab(library.owner, q=QUESTION, mode="keyword", top=1, linked_notes="on"))
    assert "An answer would read 2 passages" in linked
    assert "linked from [1]" in linked
    assert "Linked notes on" in linked


def test_how_much_keywords_count_moves_candidates(library: Cast) -> None:
    scores = {}
    for fusion in Fusion:
        for weight in (0, 50, 100):
            knobs = Knobs(fusion=fusion, keyword_weight=weight)
            side = look(library, knobs)
            scores[fusion, weight] = {row.note.path: row.candidate.score for row in side.rows}
        words_alone, both = scores[fusion, 100], scores[fusion, 50]
        meaning_alone = scores[fusion, 0]
        assert set(both) == set(words_alone) == set(meaning_alone)
        for path, score in both.items():
            assert score == pytest.approx((words_alone[path] + meaning_alone[path]) / 2)


def test_other_wordings_are_asked_for_by_hand_alone(library: Cast) -> None:
    provider = Provider.objects.get(slug="fake")
    reply = '{"query": "pumps", "alternates": ["the red valve"]}'
    ChatModel.objects.create(provider=provider, name=f"say:{reply}")
    FakeChat.requests.clear()
    lab(library.owner, q="pumps")
    assert not FakeChat.requests
    content = text_of(lab(library.owner, q="pumps", alternates="on"))
    assert len(FakeChat.requests) == 1
    assert "Searched for <q>the red valve</q>" in content


def look(library: Cast, knobs: Knobs) -> Side:
    scope = scope_for(library.owner)
    return async_to_sync(examine)(QUESTION, scope=scope, knobs=knobs, top=10, user_id=None)


def make_link(vault: Vault, source: str, target: str) -> None:
    notes = {note.path: note for note in Note.objects.filter(vault=vault)}
    Link.objects.create(
        vault=vault, source=notes[source], target=notes[target], raw_target=target, start=0
    )
