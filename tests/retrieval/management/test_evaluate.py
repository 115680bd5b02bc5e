"""`manage.py evaluate`: of vaults, of folders, and when there is nothing to ask."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from providers.models import EmbeddingModel
from tests.cast import Cast
from tests.retrieval.evaluation.golden import write_golden_vault
from tests.retrieval.evaluation.test_sizes import spoil
from tests.retrieval.test_beir import write_collection
from vault.models import Vault

pytestmark = pytest.mark.django_db(transaction=True)


def evaluate(*args: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("evaluate", *args, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def as_json(*args: str) -> Any:
    return json.loads(evaluate(*args, "--json")[0])


def test_golden_questions_of_a_vault_are_measured_by_class_and_language(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    report = as_json("team", "--mode", "keyword")
    assert report["name"] == "team"
    assert report["metrics"]["all"]["questions"] == 3
    assert set(report["metrics"]["all"]) == {
        "ndcg_10", "recall_10", "recall_20", "mrr_10", "questions",
    }  # fmt: skip
    assert set(report["metrics"]["by_class"]) == {"", "Pumps"}
    assert set(report["metrics"]["by_language"]) == {"en", "de"}
    assert report["questions"][0]["ranks"] == {"Birds/Heron.md": 1}


def test_the_table_says_the_same_in_words(cast: Cast) -> None:
    write_golden_vault(cast.vault, "- Who sleeps? -> [[Heron]]\n- Broken\n")
    out, err = evaluate()
    assert "nDCG@10" in out
    assert "golden-questions.md, line 2: There is no arrow" in err


def test_a_folder_becomes_a_vault_for_as_long_as_it_takes(cast: Cast, tmp_path: Path) -> None:
    report = as_json(str(write_collection(tmp_path)), "--mode", "keyword")
    assert report["metrics"]["all"]["questions"] == 2
    assert report["questions"][0]["ndcg_10"] == 1.0
    assert set(Vault.objects.values_list("slug", flat=True)) == {"team", "foreign"}


def test_other_sizes_are_tried_and_nothing_is_left_of_it(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    report = as_json("team", "--chunk-tokens", "50", "--chunk-overlap", "0", "--mode", "semantic")
    assert (report["before"]["chunk_tokens"], report["after"]["chunk_tokens"]) == (400, 50)
    assert report["questions"] == 3
    assert report["after"]["chunk_minimum"] == 60, "what is not named stays"
    assert not Vault.every.filter(state="trial").exists()
    assert Vault.objects.get(pk=cast.vault.pk).chunk_tokens == 400


def test_sizes_that_find_less_are_exit_code_one(cast: Cast) -> None:
    spoil(cast)
    sizes = ("--chunk-tokens", "50", "--chunk-overlap", "0", "--chunk-minimum", "0")
    with pytest.raises(CommandError, match="find less") as error:
        evaluate("team", *sizes, "--mode", "keyword")
    assert error.value.returncode == 1
    assert not Vault.every.filter(state="trial").exists()


def test_what_a_trial_costs_is_said_before_it_is_begun(cast: Cast) -> None:
    write_golden_vault(cast.vault)
    EmbeddingModel.objects.update(price=20_000)
    with pytest.raises(CommandError, match="at most: add --yes"):
        evaluate("team", "--chunk-tokens", "50", "--chunk-overlap", "0")


def test_nothing_to_ask_is_exit_code_one(cast: Cast) -> None:
    with pytest.raises(SystemExit) as left:
        evaluate("team")
    assert left.value.code == 1


def test_quality_below_the_bar_is_exit_code_one(cast: Cast) -> None:
    write_golden_vault(cast.vault, "- Which otter? -> [[Heron]]\n")
    evaluate("team", "--mode", "keyword", "--least", "0")
    with pytest.raises(CommandError, match="is below") as error:
        evaluate("team", "--mode", "keyword", "--least", "0.9")
    assert error.value.returncode == 1


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("nowhere",), "neither a folder nor a vault. Vaults: foreign, team"),
        (("team", "--mode", "odd"), "odd"),
        (("team", "--fusion", "odd"), "odd"),
        (("team", "--depth", "-5"), "--depth: -5 is not from 10 to 500"),
        (("team", "--depth", "100000"), "--depth: 100000 is not from 10 to 500"),
        (("team", "--queries", "-1"), "--queries: -1 is not 0 or more"),
        (("team", "--documents", "-1"), "--documents: -1 is not 0 or more"),
        (("team", "--chunk-tokens", "9"), "--chunk-tokens: .* greater than or equal to 50"),
        (("team", "foreign", "--chunk-tokens", "90"), "Name the one vault"),
    ],
)
def test_wrong_usage_says_what_would_be_right(cast: Cast, args: tuple[str, ...], said: str) -> None:
    with pytest.raises(CommandError, match=said) as error:
        evaluate(*args)
    assert error.value.returncode == 2


def test_a_folder_that_is_no_collection_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"no qrels\.tsv") as error:
        evaluate(str(tmp_path))
    assert error.value.returncode == 2
