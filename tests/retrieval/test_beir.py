"""Collections in BEIR layout: read, made a vault of, and gone again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval.beir import SLUG, Unreadable, clear_leftovers, read_collection, throw_away_vault
from tests.cast import Cast
from tests.retrieval.library import make_embedding_model
from vault.access import visible_to
from vault.models import LexemeFrequency, Note, Vault

pytestmark = pytest.mark.django_db(transaction=True)


def write_collection(folder: Path, **changes: str) -> Path:
    files = {
        "corpus.jsonl": "\n".join(
            json.dumps({"_id": f"d{n}", "title": f"Bird {n}", "text": text})
            for n, text in enumerate(("The heron sleeps.", "The otter swims.", "A wren sings."))
        ),
        "queries.jsonl": "\n".join(
            (
                json.dumps({"_id": "q0", "text": "Who sleeps?", "metadata": {"kind": "who"}}),
                json.dumps({"_id": "q1", "text": "Wer schwimmt im Fluss?"}),
                json.dumps({"_id": "q2", "text": "Never judged?"}),
            )
        ),
        "qrels.tsv": "query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t2\nq1\td2\t0\n",
    }
    for name, text in (files | changes).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_questions_are_read_with_grade_class_and_language(tmp_path: Path) -> None:
    found = read_collection([write_collection(tmp_path)]).questions
    assert [(q.key, q.relevant, q.question_class, q.language) for q in found] == [
        ("q0", {"d0": 1.0}, "who", "en"),
        ("q1", {"d1": 2.0}, "", "de"),
    ]


def test_dev_and_test_are_apart_and_together_all(tmp_path: Path) -> None:
    collection = read_collection([write_collection(tmp_path)])
    parts = (*collection.part("dev"), *collection.part("test"))
    assert sorted(q.key for q in parts) == ["q0", "q1"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("queries.jsonl", "{", "line 1: this is no JSON"),
        ("queries.jsonl", '{"_id": 1}', "_id and text are wanted"),
        ("queries.jsonl", "[]", "_id and text are wanted"),
        ("qrels.tsv", "head\nq0 d0 1", "line 2: three columns"),
        ("qrels.tsv", "head\nq0\td0\tmuch", "line 2: three columns"),
        ("qrels.tsv", "head\nq9\td0\t1", "no question of queries.jsonl is judged"),
    ],
)
def test_what_is_no_collection_is_refused_with_file_and_line(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    write_collection(tmp_path, **{name: text})
    with pytest.raises(Unreadable, match=said):
        read_collection([tmp_path])


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match=r"no qrels\.tsv"):
        read_collection([tmp_path])


def test_the_vault_is_searchable_while_it_lasts_and_nobodys(cast: Cast, tmp_path: Path) -> None:
    make_embedding_model()
    collection = read_collection([write_collection(tmp_path)])
    with throw_away_vault(collection) as (vault, questions):
        assert Note.objects.filter(vault=vault).count() == 3
        titles = {
            Note.objects.get(vault=vault, path=path).title
            for question in questions
            for path in question.relevant
        }
        assert titles == {"Bird 0", "Bird 1"}
        assert not visible_to(cast.owner).filter(pk=vault.pk).exists()
        assert Path(vault.place).is_dir()
    assert not Vault.objects.filter(slug__startswith=SLUG).exists()
    assert not Path(vault.place).exists()
    assert not LexemeFrequency.objects.filter(lexeme="heron").exists()


def test_a_vault_is_removed_when_its_evaluation_fails(tmp_path: Path) -> None:
    collection = read_collection([write_collection(tmp_path)])

    def break_off() -> None:
        with throw_away_vault(collection):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert not Vault.objects.exists()


def test_what_a_killed_evaluation_left_is_cleared_away(cast: Cast) -> None:
    Vault.objects.create(slug=f"{SLUG}dead", name="Evaluation", place="/nonexistent/gone")
    assert clear_leftovers() == 1
    assert set(Vault.objects.values_list("slug", flat=True)) == {"team", "foreign"}


def test_translations_are_one_collection(tmp_path: Path) -> None:
    first, second = tmp_path / "en", tmp_path / "ru"
    for folder in (first, second):
        folder.mkdir()
        write_collection(folder)
    collection = read_collection([first, second])
    with throw_away_vault(collection, documents=2) as (vault, questions):
        assert Note.objects.filter(vault=vault).count() == 4
        assert all(len(question.relevant) == 2 for question in questions)


def test_a_folder_of_notes_is_a_corpus(tmp_path: Path) -> None:
    write_collection(tmp_path, **{"qrels.tsv": "head\nq0\tsub/Heron.md\t1\n"})
    (tmp_path / "notes/sub").mkdir(parents=True)
    (tmp_path / "notes/sub/Heron.md").write_text("The heron sleeps.")
    with throw_away_vault(read_collection([tmp_path])) as (_vault, questions):
        relevant: list[Any] = list(questions[0].relevant)
        assert relevant[0].endswith("sub/Heron.md")
