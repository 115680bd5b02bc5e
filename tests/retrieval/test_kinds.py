"""More inputs of the kinds of test_cases.py: one vault, and questions by keyword alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from asgiref.sync import async_to_sync
from django.db import transaction
from pytest_django import DjangoDbBlocker

from retrieval.core.types import Mode
from retrieval.search import search_notes
from tests.cast import Cast, make_cast
from tests.retrieval.library import write_markdown
from vault.access import scope_for
from vault.lexemes import refresh_lexemes

pytestmark = pytest.mark.django_db

NOTES = {
    "Bank.md": "# Bank\n\nThe fee is €1,200.50, the tax 19 % of it; call +49 (0)30 1234-5678.",
    "Bank 2.md": "# Bank two\n\nThe fee is €1,300.50, the tax 7% of it; call +49 (0)30 1234-9999.",
    "Ticket.md": "# Ticket\n\nSee https://tickets.example.com/browse/OPS-4711?focused=1 for more.",
    "Run.md": "# Run\n\nThe run 3f2504e0-4f89-41d3-9a0c-0305e82c3301 on ISO9001 hardware.",
    "Parts.md": "# Parts\n\nRecorder DS-7604NI-K1, and 00037 of the order INV-2026/00037.",
    "Other parts.md": "# Other parts\n\nRecorder DS-7608NI-K1, and order INV-2026/00038.",
    "Lamp.md": "# Lamp\n\nAm 7. Juli 2026 kam der Aufzug.",
    "Fair.md": "# Fair\n\nThe fair is on March 14th, 2025.",
    "Акт.md": "# Акт\n\n21 сентября 2026 года подписали с ООО «Ромашка» — наконец.",
    "合同.md": "# 合同\n\n2026年4月9日签了合同HT-2026-0088。",
    "Typographic.md": "# Typographic\n\nThe “pumpkins”—it’s fine… O’Brien paid 10\u00a0000.",
    "Tooling.md": "# Tooling\n\nElasticsearch, Terraform and Grafana run in the cluster in Berlin.",
    "Names.md": "# Names\n\nThe secretary Nguyen receives guests; her database.",
    "Бухгалтерия.md": "# Бухгалтерия\n\nКомандировка инженера в понедельник.",
    "Відрядження.md": "# Відрядження\n\nВідрядження та рахунки, об'єктів.",
    "Λογιστήριο.md": "# Λογιστήριο\n\nΤο λογιστήριο πληρώνει τα τιμολόγια.",
    "Quote.md": "# Quote\n\n> The quick brown\n> fox is **very bold** today. To be, or not to be.",
    "Zero.md": "# Zero\n\nThe kno\u200bwled\u00adge of H₂O.",
    "Kitab.md": "# كِتَاب\n\nقَرَأَ الطَّالِبُ الْكِتَابَ فِي المَكْتَبَة.",
    "Shalom.md": "# משאבה\n\nשָׁלוֹם לכולם.",
    "Types.md": "# Types\n\nA Map<String, List<Integer>> in XMLParser, under $HOME/.config.",
}

OF_NUMBERS = [
    *((typed, "Bank.md") for typed in ("1200.50", "1.200,50 €", "1200,50", "1 200,50", "19%")),
    *((typed, "Bank.md") for typed in ("+493012345678", "030 12345678", "030/1234-5678")),
    ("7 %", "Bank 2.md"), ("10000", "Typographic.md"), ("10,000", "Typographic.md"),
    ("OPS4711", "Ticket.md"), ("ops-4711", "Ticket.md"), ("ops 4711", "Ticket.md"),
    ("3f2504e04f8941d39a0c0305e82c3301", "Run.md"), ("3f2504e0", "Run.md"),
    ("iso 9001", "Run.md"), ("ISO-9001", "Run.md"), ("DS7604", "Parts.md"), ("#7604", "Parts.md"),
    ("INV–2026/00037", "Parts.md"), ("INV202600037", "Parts.md"), ("37", "Parts.md"),
    ("HT20260088", "合同.md"), ("ＨＴ－２０２６－００８８", "合同.md"),
]  # fmt: skip
OF_DAYS = [
    *((typed, "Lamp.md") for typed in ("2026-07-07", "7.7.2026", "July 7th, 2026", "7 июля 2026")),
    *((typed, "Fair.md") for typed in ("2025-03-14", "14.3.2025", "14. März 2025", "3/14/2025")),
    *((typed, "Акт.md") for typed in ("2026-09-21", "21.09.2026", "September 21, 2026")),
    *((typed, "合同.md") for typed in ("2026-04-09", "9 April 2026", "2026年04月09日", "9.4.2026")),
]
OF_SLIPS = [
    *((typed, "Tooling.md") for typed in ("elasticserach", "terrafrom", "Garfana", "Berln")),
    *((typed, "Tooling.md") for typed in ("elastic search", "graffana", "Brelin")),
    *((typed, "Names.md") for typed in ("secratary", "Ngyuen", "Nguyn", "recieve", "databse")),
    *((typed, "Бухгалтерия.md") for typed in ("бухалтерия", "бугхалтерия", "инжинер")),
    *((typed, "Бухгалтерия.md") for typed in ("коммандировка", "понидельник", "командирвоку")),
    ("відряження", "Відрядження.md"), ("рахунок", "Відрядження.md"),
    ("λογιστριο", "Λογιστήριο.md"),
]  # fmt: skip
OF_SIGNS = [
    ("Ромашка", "Акт.md"), ("ромашки", "Акт.md"), ("pumpkin", "Typographic.md"),
    ("fine", "Typographic.md"), ("O'Brien", "Typographic.md"), ("obrien", "Typographic.md"),
    ("обʼєктів", "Відрядження.md"), ("knowledge", "Zero.md"), ("knowl\u00adedge", "Zero.md"),
    ("\u202eknowledge\u202c", "Zero.md"), ("H2O", "Zero.md"), ("المكتبه", "Kitab.md"),
    ("كتاب", "Kitab.md"), ("שלום", "Shalom.md"), ("integer", "Types.md"),
    ("xml parser", "Types.md"), ("~/.config", "Types.md"),
]  # fmt: skip
OF_PHRASES = [
    ('"quick brown fox"', "Quote.md"), ('"is very bold today"', "Quote.md"),
    ('"to be, or not to be"', "Quote.md"), ('"it\'s fine"', "Typographic.md"),
    ("«Ромашка — наконец»", ""), ('"no such phrase here"', ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def vault(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Cast]:
    """The notes in one vault; rolled back after the module."""
    with django_db_blocker.unblock(), transaction.atomic():
        cast = make_cast()
        for path, text in NOTES.items():
            write_markdown(cast.vault, path, text)
        refresh_lexemes(force=True)
        yield cast
        transaction.set_rollback(True)


@pytest.mark.parametrize("asked", [OF_NUMBERS, OF_DAYS, OF_SLIPS, OF_SIGNS, OF_PHRASES])
def test_every_spelling_finds_its_note_first(vault: Cast, asked: list[tuple[str, str]]) -> None:
    scope = scope_for(vault.owner)
    missed = {}
    for query, path in asked:
        result = async_to_sync(search_notes)(query, scope=scope, mode=Mode.KEYWORD, limit=5)
        found = [hit.path for hit in result.hits]
        if found[:1] != [path] * bool(path):
            missed[query] = found
    assert missed == {}


@pytest.mark.parametrize("query", ["zzzzqqq", "qwxzvbn plmkoij", "asdfghjkl", "Xylophonist"])
def test_nonsense_is_no_slip_of_anything(vault: Cast, query: str) -> None:
    scope = scope_for(vault.owner)
    assert async_to_sync(search_notes)(query, scope=scope, mode=Mode.KEYWORD, limit=5).hits == ()
