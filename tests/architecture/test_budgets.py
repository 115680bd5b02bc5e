"""Budgets that keep the code readable: sizes, broad excepts, tests for code."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("secondbrain", "chat", "retrieval", "vault", "providers")
LONGEST_FILE = 400
LONGEST_FUNCTION = 60
# Lines are a poor measure of tests (one property stands for a thousand examples): this
# only notices code that comes without any.
TEST_LINES_PER_LINE = 0.7
# Nothing is a better name for these than what the code in them does.
BANNED_NAMES = {"utils", "helpers", "services", "common", "misc"}
# The outer edges: a task, a run, and the file loop of a sync.
MAY_CATCH_EVERYTHING = {
    "chat/writing.py",
    "retrieval/tasks.py",
    "vault/jobs.py",
    "vault/sync.py",
    "vault/tasks.py",
    "vault/trial_copies.py",
}
# Libraries that raise whatever Python raises for what people write into their notes.
GUARDS_A_LIBRARY = {"vault/core/rendering/math.py", "vault/core/front_matter.py"}


def sources() -> Iterator[Path]:
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            if "migrations" not in path.parts:
                yield path


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


@pytest.mark.parametrize("path", sorted(sources()), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_keeps_its_budget(path: Path) -> None:
    assert lines(path) <= LONGEST_FILE
    assert path.stem not in BANNED_NAMES
    tree = ast.parse(path.read_text())
    too_long = [
        f"{node.name}: {node.end_lineno - node.lineno + 1} lines"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > LONGEST_FUNCTION
    ]
    assert not too_long


def test_a_file_of_tests_keeps_its_budget_too() -> None:
    found = {
        str(path.relative_to(ROOT)): lines(path) for path in sorted((ROOT / "tests").rglob("*.py"))
    }
    assert {path: count for path, count in found.items() if count > LONGEST_FILE} == {}


def catches_everything(node: ast.ExceptHandler) -> bool:
    names = {"Exception", "BaseException"}
    kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    return node.type is None or any(isinstance(k, ast.Name) and k.id in names for k in kinds)


def test_broad_excepts_stand_only_at_the_outer_edges() -> None:
    broad = {
        str(path.relative_to(ROOT))
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler) and catches_everything(node)
    }
    assert broad <= MAY_CATCH_EVERYTHING | GUARDS_A_LIBRARY


def test_every_module_says_what_it_holds() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sources()
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_there_is_more_test_than_code() -> None:
    code = sum(lines(path) for path in sources())
    tests = sum(lines(path) for path in (ROOT / "tests").rglob("*.py"))
    assert tests >= TEST_LINES_PER_LINE * code, f"{tests} lines of test for {code} of code"
