"""What a search reports, in plain words."""

from __future__ import annotations

import pytest

from retrieval.core.types import Arm, Candidate
from retrieval.presenters.words import arm_sentence, found_by, is_named, path_words, stage_words


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        (
            Arm("keyword", ran=True, found=1, path="bm25"),
            "1 passage, ranked by how rare the words are",
        ),
        (Arm("meaning", ran=True, found=12, path="hnsw"), "12 passages, by the vector index"),
        (
            Arm("title", ran=True, found=2, path="lookup keys"),
            "2 notes, titles, aliases, file names and paths",
        ),
        (Arm("rerank", ran=True, found=3, path="bge-reranker"), "3 passages, bge-reranker"),
        (Arm("meaning", ran=False, reason="No model."), "not used"),
    ],
)
def test_an_arm_is_told_in_a_line(arm: Arm, said: str) -> None:
    assert arm_sentence(arm) == said


def test_words_for_what_is_not_known_are_the_words_themselves() -> None:
    assert path_words("a new way") == "a new way"
    assert stage_words("waiting") == "Waiting"


def test_labels_of_a_hit_say_which_arm_found_it_and_where() -> None:
    assert found_by(("title", "keyword 1", "meaning 12", "text")) == (
        "by name",
        "Keywords: place 1",
        "Meaning: place 12",
        "by text as typed",
    )


def test_the_signal_of_the_note_is_a_word() -> None:
    plain = Candidate(chunk_id=1, note_id=1, score=0.5)
    assert is_named(plain) == ""
    assert is_named(Candidate(chunk_id=1, note_id=1, score=0.5, exact=True)) != ""
