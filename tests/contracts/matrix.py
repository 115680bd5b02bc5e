"""The contract tests as tables: which promise is tried against which backend.

`python -m tests.contracts.matrix` prints the tables of docs/providers.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from tests.contracts import (
    test_chat,
    test_chat_streams,
    test_embeddings,
    test_local_backends,
    test_real_embedder,
    test_real_reranker,
    test_real_server,
    test_rerank,
    test_tools,
)
from tests.contracts.faults import FAULTS

GROUPS = ("Chat", "Embeddings", "Rerank")
# A module, the group of its tests ("" where their argument tells), the mark of its cells.
MODULES: tuple[tuple[ModuleType, str, str], ...] = (
    (test_chat, "Chat", "yes"),
    (test_chat_streams, "Chat", "yes"),
    (test_tools, "Chat", "yes"),
    (test_real_server, "Chat", "real server"),
    (test_embeddings, "Embeddings", "yes"),
    (test_real_embedder, "Embeddings", "real server"),
    (test_rerank, "Rerank", "yes"),
    (test_real_reranker, "Rerank", "real server"),
    (test_local_backends, "", "yes"),
)
# How a parametrised argument that names a backend is called, and its group.
ARGUMENTS = {
    "wire": "Chat",
    "chat": "Chat",
    "form": "",
    "embedder": "Embeddings",
    "shape": "Rerank",
}
# The names of classes as the document says them.
NAMES = {
    "Extractive": "extractive",
    "FakeChat": "fake",
    "LocalE5": "local e5",
    "HashEmbedder": "fake",
}
# Tests of one backend alone.
ALONE = {
    "test_a_permuted_reply_is_put_in_order": ("Embeddings", "openai"),
    "test_a_doubled_place_is_refused": ("Embeddings", "openai"),
    "test_ollama_is_told_not_to_cut_texts": ("Embeddings", "ollama"),
    "test_an_older_ollama_gets_one_text_after_the_other": ("Embeddings", "ollama"),
    "test_the_same_model_far_and_near_gives_the_same_vectors": ("Embeddings", "openai"),
    "test_an_empty_text_is_embedded_as_well": ("Embeddings", "openai"),
    "test_a_row_with_wrong_dimensions_is_found_out": ("Embeddings", "openai"),
    "test_every_text_gets_its_place_once": ("Rerank", "cohere"),
    "test_only_the_best_are_given_and_the_same_each_time": ("Rerank", "cohere"),
    "test_quotes_need_passages_to_quote": ("Chat", "extractive"),
    "test_quotes_are_compared_by_meaning_where_search_has_loaded_the_model": (
        "Chat",
        "extractive",
    ),
    "test_quotes_let_others_run_between_two_pieces": ("Chat", "extractive"),
    "test_without_notes_and_without_a_model_there_is_nothing_to_write": ("Chat", "extractive"),
    "test_the_fake_reranker_keeps_the_protocol": ("Rerank", "fake"),
}


def promises() -> Iterator[tuple[str, str, dict[str, str]]]:
    """Group, promise in words, and the mark for each backend it is tried against."""
    for module, group, mark in MODULES:
        for name, test in vars(module).items():
            if name.startswith("test_"):
                of, backends = _tried(module, name, test)
                words = name.removeprefix("test_").replace("_", " ")
                yield of or group, words, dict.fromkeys(backends, mark)


def matrix_table(group: str) -> str:
    """The promises of a group, one line each, and a column for each backend."""
    rows = [(words, tried) for of, words, tried in promises() if of == group]
    columns = list(dict.fromkeys(name for _, tried in rows for name in tried))
    lines = [_line("Promise", *columns), _line(*["---"] * (len(columns) + 1))]
    lines += [_line(words, *(tried.get(name, "–") for name in columns)) for words, tried in rows]
    return "\n".join(lines)


def fault_table() -> str:
    """The faults with their outcomes."""
    head = ("The server…", "Outcome", "Text that is kept", "Calls", "What mends it")
    lines = [_line(*head), _line(*["---"] * len(head))]
    for fault in FAULTS:
        kept = "what arrived" if fault.errors else "all of it"
        kept = "up to the limit" if fault.stop == "length" else kept
        calls = str(fault.calls)
        if fault.calls_of_ollama is not None:
            calls += f" (Ollama {fault.calls_of_ollama})"
        mend = fault.errors[-1].mend if fault.errors else "–"
        lines.append(_line(fault.name, fault.outcome, kept if fault.kept else "none", calls, mend))
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _tried(module: ModuleType, name: str, test: Any) -> tuple[str, list[str]]:
    """The group, where the test itself tells, and the backends of one test."""
    for mark in (*_marks(test), *_marks(module)):
        if mark.name == "parametrize" and mark.args[0] in ARGUMENTS:
            ids = mark.kwargs.get("ids") or str
            names = [str(ids(value)) for value in mark.args[1]]
            return ARGUMENTS[mark.args[0]], [NAMES.get(name, name) for name in names]
    group, backend = ALONE[name]
    return group, [backend]


def _marks(holder: Any) -> list[Any]:
    marks = getattr(holder, "pytestmark", [])
    return [getattr(mark, "mark", mark) for mark in (marks if isinstance(marks, list) else [marks])]


if __name__ == "__main__":
    tables = [*(f"### {group}\n\n{matrix_table(group)}" for group in GROUPS), fault_table()]
    sys.stdout.write("\n\n".join(tables) + "\n")
