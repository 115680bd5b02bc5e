"""Every fault against every chat backend: the error, the text that is kept, the calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from providers.core.errors import BadRequest, ProviderError
from providers.core.types import ChatMessage, ChatRequest, TextDelta, TimeLimits, Usage, Withdrawal
from tests.contracts.faults import FAULTS, Fault
from tests.contracts.matrix import GROUPS, fault_table, matrix_table, promises
from tests.contracts.server import serving
from tests.contracts.wires import KEY, WIRES, Wire

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "providers.md"
REQUEST = ChatRequest("fake-model", (ChatMessage("user", "Why?"),), max_output_tokens=100)
HASTY = TimeLimits(connect=2, first_content=0.6, between_content=0.6, retry_pause=0.01)


@pytest.mark.asyncio
@pytest.mark.parametrize("wire", WIRES, ids=str)
@pytest.mark.parametrize("fault", FAULTS, ids=str)
async def test_the_outcome_is_what_the_document_says(wire: Wire, fault: Fault) -> None:
    text, usage, failure = "", None, None
    async with serving(*fault.script(wire)) as server:
        try:
            async for part in wire.chat(server, limits=HASTY).stream(REQUEST):
                if isinstance(part, TextDelta):
                    text += part.text
                elif isinstance(part, Withdrawal):
                    text = ""
                elif isinstance(part, Usage):
                    usage = part
        except ProviderError as error:
            failure = error
        assert len(server.received) == fault.calls_of(wire)
    assert text == fault.kept
    if fault.errors:
        assert type(failure) in fault.errors
        assert usage is None
        assert str(failure)
        assert KEY not in str(failure)
    else:
        assert failure is None
        assert usage is not None
        assert usage.stop_reason == fault.stop


def shown(table: str) -> bool:
    return table in DOCUMENT.read_text(encoding="utf-8")


def test_the_document_shows_these_faults_and_outcomes() -> None:
    assert shown(fault_table()), "python -m tests.contracts.matrix prints the tables anew"


@pytest.mark.parametrize("group", GROUPS)
def test_the_document_shows_what_is_tried_against_which_backend(group: str) -> None:
    assert shown(matrix_table(group)), "python -m tests.contracts.matrix prints the tables anew"


@pytest.mark.parametrize(
    ("group", "backends", "at_least"),
    [
        ("Chat", ["openai", "anthropic", "ollama", "extractive", "fake"], 35),
        ("Embeddings", ["openai", "ollama", "local e5", "fake"], 12),
        ("Rerank", ["cohere", "tei", "fake"], 6),
    ],
)
def test_the_matrix_holds_every_backend(group: str, backends: list[str], at_least: int) -> None:
    rows = [tried for of, _, tried in promises() if of == group]
    assert len(rows) >= at_least
    assert list(dict.fromkeys(name for tried in rows for name in tried)) == backends


def test_every_error_a_server_can_cause_is_in_the_table_of_faults() -> None:
    caused = {error.code for fault in FAULTS for error in fault.errors}
    ours = {"not_configured", "egress_refused", "circuit_open", "limit_reached", "bad_request"}
    ours.add("no_tools")  # only where tools were offered: test_tools
    kinds = [*ProviderError.__subclasses__(), *BadRequest.__subclasses__()]
    known = {kind.code for kind in kinds if kind.__module__ == ProviderError.__module__}
    assert caused == known - ours


def test_each_fault_has_a_name_of_its_own() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
