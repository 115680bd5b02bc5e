"""Faults seen in the field, in small: by keyword alone, so that no vector hides a miss."""

from __future__ import annotations

import pytest
from asgiref.sync import async_to_sync

from retrieval.core.types import Mode
from retrieval.search import search_notes
from tests.cast import Cast
from tests.retrieval.library import write_markdown
from vault.access import scope_for

pytestmark = pytest.mark.django_db

FILLER = {
    "Filler/Budget.md": "# Budget\n\nThe budget of the next month is in the sheet, see the draft.",
    "Filler/Garden.md": "# Garden\n\nIn May the tomatoes go out; water them in the evening.",
    "Filler/Team.md": "# Team\n\nWho is who in the team, and when they meet.",
}


def find(cast: Cast, notes: dict[str, str], query: str, mode: Mode = Mode.KEYWORD) -> list[str]:
    for path, text in {**FILLER, **notes}.items():
        write_markdown(cast.vault, path, text)
    scope = scope_for(cast.owner)
    result = async_to_sync(search_notes)(query, scope=scope, mode=mode, limit=5)
    return [hit.path for hit in result.hits]


IDENTIFIERS = {
    "paid.md": "# Paid\n\nInvoice INV/2026/00417 from Harwick was paid on 3 March.",
    "open.md": "# Open\n\nInvoice INV/2026/00418 is open. So is INV/2025/00417.",
    "Parts.md": "# Parts\n\nCamera QX-7704NI-E1/4P/A and recorder QX-7708NI-K2.",
    "Hosts.md": "# Hosts\n\nBuild v3.21.5 runs on 10.9.8.7, file summary.final.png.",
    "People.md": "# People\n\nmira.kolar@example.org, IBAN DE02 1203 0000 0000 2020 51.",
    "Health.md": "# Health\n\nThe thyroid/metabolic panel; ERR_CONN_RESET in the portal.",
}


OF_IDENTIFIERS = [
    ("INV/2026/00417", "paid.md"),
    ("what happened with invoice inv/2026/00417?", "paid.md"),
    ("00418", "open.md"),
    ("QX-7704", "Parts.md"),
    ("QX-7704NI-E1/4P/A", "Parts.md"),
    ("3.21.5", "Hosts.md"),
    ("v3.21", "Hosts.md"),
    ("10.9.8.7", "Hosts.md"),
    ("summary.final", "Hosts.md"),
    ("kolar", "People.md"),
    ("mira.kolar@example.org", "People.md"),
    ("DE02120300000000202051", "People.md"),
    ("metabolic", "Health.md"),
    ("ERR_CONN_RESET", "Health.md"),
]


@pytest.mark.parametrize(("query", "expected"), OF_IDENTIFIERS)
def test_identifiers_whole_and_by_parts(cast: Cast, query: str, expected: str) -> None:
    assert find(cast, IDENTIFIERS, query)[0] == expected


LANGUAGES = {
    "C.md": "# C notes\n\nManual memory in C, malloc and free.",
    "Cpp.md": "# C++ notes\n\nMove semantics in C++20, smart pointers.",
    "Csharp.md": "# C# notes\n\nRecords in C# 12.",
    "Dotnet.md": "# .NET upgrade\n\nMoving to .NET 8 and ASP.NET Core.",
    "Vitamin C.md": "# Vitamin C\n\nVitamin C in winter.",
}


OF_LANGUAGES = [
    ("C++", "Cpp.md"),
    ("c++20", "Cpp.md"),
    ("what did I write about C#?", "Csharp.md"),
    (".NET", "Dotnet.md"),
    ("dotnet", "Dotnet.md"),
    ("asp.net", "Dotnet.md"),
]


@pytest.mark.parametrize(("query", "expected"), OF_LANGUAGES)
def test_signs_that_count(cast: Cast, query: str, expected: str) -> None:
    assert find(cast, LANGUAGES, query)[0] == expected


SIGNS = {
    "Quotes.md": '# Quotes\n\nShe said don\'t move, the "blue pump" is at 100% and user_name is '
    "fixed; path C:\\tools\\pump.",
    "Url.md": "# Url\n\nSee https://example.com/a:b?x=1&y=2 for the plan.",
    "Username.md": "# Username\n\nThe username field and 100 pumps.",
}


OF_SIGNS = [
    ('"blue pump"', "Quotes.md"),
    ("don't move", "Quotes.md"),
    ("user_name", "Quotes.md"),
    ("100%", "Quotes.md"),
    ("C:\\tools\\pump", "Quotes.md"),
    ("https://example.com/a:b?x=1&y=2", "Url.md"),
]


@pytest.mark.parametrize(("query", "expected"), OF_SIGNS)
def test_operators_are_text(cast: Cast, query: str, expected: str) -> None:
    assert find(cast, SIGNS, query)[0] == expected


@pytest.mark.parametrize("query", ["'", "%", "_", "*", "<->", "()", "\\", "..."])
def test_signs_alone_find_nothing(cast: Cast, query: str) -> None:
    assert find(cast, SIGNS, query) == []


STOP_WORDS = {
    "Don Quixote.md": "# Don Quixote\n\nNotes on Don and the mills.",
    "IT.md": "# IT\n\nAsk IT for a laptop. Will signs.",
    "The Who.md": "# The Who\n\nConcert on Friday with The Who.",
    "X.md": "# X\n\nProject X starts.",
}


OF_STOP_WORDS = [
    ("The Who", "The Who.md"),
    ("don", "Don Quixote.md"),
    ("IT", "IT.md"),
    ("will", "IT.md"),
    ("X", "X.md"),
]


@pytest.mark.parametrize(("query", "expected"), OF_STOP_WORDS)
def test_names_that_are_stop_words(cast: Cast, query: str, expected: str) -> None:
    found = find(cast, STOP_WORDS, query)
    assert found[0] == expected
    assert len(found) < 5


ACCENTS = {
    "Ceuse.md": "# Céüse\n\nClimbing at Céüse in May, Łódź in June, Ångström lab.",
    "Decomposed.md": "# Cafe\u0301\n\nMenu of the cafe\u0301.",
    "Hanta.md": "# ハンタ\n\nハンタの話。",
    "Panda.md": "# パンダ\n\nパンダの写真。",
    "Strasse.md": "# Straße\n\nDie Straße ist gesperrt.",
    "Moy.md": "# Мой план\n\nМой план на май.",
}


OF_ACCENTS = [
    ("Ceuse", "Ceuse.md"),
    ("Céüse", "Ceuse.md"),
    ("lodz", "Ceuse.md"),
    ("angstrom", "Ceuse.md"),
    ("café", "Decomposed.md"),
    ("cafe", "Decomposed.md"),
    ("パンダ", "Panda.md"),
    ("ハンタ", "Hanta.md"),
    ("strasse", "Strasse.md"),
    ("мой план", "Moy.md"),
]


@pytest.mark.parametrize(("query", "expected"), OF_ACCENTS)
def test_accents_typed_and_not(cast: Cast, query: str, expected: str) -> None:
    assert find(cast, ACCENTS, query)[0] == expected


UNSPACED = {
    "contract.md": "# 會議\n\n中文合約轉換體驗課問題已經提交給法務。",
    "game.md": "# 遊び\n\n今日は成語しりとりをした。",
    "ko.md": "# 기록\n\n오늘 끝말잇기 게임을 했다. 청구서를 보냈다.",
    "mixed.md": "# 修复\n\n步2 重跑gen-itgc后50条悬空引用清零，修复已验证。",
    "th.md": "# บันทึก\n\nปั๊มน้ำสีฟ้าอยู่ในห้องใต้ดิน",
}


OF_UNSPACED = [
    ("合約", "contract.md"),
    ("中文合約", "contract.md"),
    ("しりとり", "game.md"),
    ("끝말잇기", "ko.md"),
    ("청구서", "ko.md"),
    ("悬空引用", "mixed.md"),
    ("gen-itgc", "mixed.md"),
    ("itgc", "mixed.md"),
    ("ห้องใต้ดิน", "th.md"),
]


@pytest.mark.parametrize(("query", "expected"), OF_UNSPACED)
def test_scripts_without_spaces(cast: Cast, query: str, expected: str) -> None:
    assert find(cast, UNSPACED, query)[0] == expected


TYPOS = {
    "K8s.md": "# Kubernetes\n\nOur kubernetes cluster runs the invoice service.",
    "Postgres.md": "# Postgres tuning\n\nThe postgres cluster needs more shared buffers; "
    "receive queue is full.",
    "OKR.md": "# OKR review\n\nQuarterly OKR review notes.",
}


OF_TYPOS = [
    ("postgers tuning", "Postgres.md"),
    ("kubernets", "K8s.md"),
    ("recieve queue", "Postgres.md"),
    ("okr", "OKR.md"),
]


@pytest.mark.parametrize(("query", "expected"), OF_TYPOS)
def test_typos_and_acronyms(cast: Cast, query: str, expected: str) -> None:
    assert find(cast, TYPOS, query)[0] == expected


def test_nonsense_finds_no_fuzzy_noise(cast: Cast) -> None:
    assert find(cast, TYPOS, "zzzzqqq") == []


ABSENT_WORDS = {
    "Export.md": "# Payroll export\n\nThe nightly export writes the staff file to the drop.",
    "Holiday.md": "# Payroll holiday\n\nNobody is paid on that day.",
}
OF_ABSENT_WORDS = [
    (
        "Which URL or format does the payroll nightly export use for the staff file?",
        "Export.md",
    )
]


@pytest.mark.parametrize(("query", "expected"), OF_ABSENT_WORDS)
def test_a_natural_question_with_absent_words(cast: Cast, query: str, expected: str) -> None:
    assert find(cast, ABSENT_WORDS, query)[0] == expected


MEANING = {
    "pompa.md": "# Pompa\n\nLa riparazione della pompa è stata spostata a giovedì 12 giugno.",
    "factura.md": "# Factura\n\nLa factura del taller se paga el último viernes del mes.",
    "棚卸.md": "# 棚卸\n\n来月の棚卸は第二倉庫から始める。",
    "Cluster.md": "# Kubernetes\n\nOur kubernetes cluster runs the web service.",
    "Payroll.md": "# Payroll export\n\nThe nightly job puts the employee file on the sftp drop.",
    "Seals.md": (
        "# Section on seals\n\nWhich seals a machine has, and when each of the seals is replaced."
    ),
    "Billing.md": "# Billing roles\n\nThe approver signs the batch. The owner answers for it.",
}

OF_MEANING = [
    ("When was the pump repair moved to?", "pompa.md"),
    ("On what day is the workshop invoice paid?", "factura.md"),
    ("коли оплачують рахунок майстерні", "factura.md"),
    ("which warehouse first in the stock count next month", "棚卸.md"),
    ("k8s", "Cluster.md"),
    ("Which staff file does the payroll write at night?", "Payroll.md"),
]

# Two turns of a conversation, and the note that the second one is about.
OF_FOLLOW_UPS = [
    (("What are the roles in billing?", "what about the approver?"), "Billing.md"),
    (("What are the roles in billing?", "and the owner?"), "Billing.md"),
    (("What are the roles in billing?", "wrong, I meant the section on seals"), "Seals.md"),
    (("What does the machine file say of seals?", "ERR_CONN_RESET"), "Health.md"),
]


@pytest.mark.slow
def test_meaning_crosses_languages_and_abbreviations(cast: Cast) -> None:
    from providers.presets import load_presets
    from providers.registry import default_embedding_model
    from vault.embedding import embed_pending

    load_presets()
    cast.vault.embedding_model = default_embedding_model()
    cast.vault.save()
    for path, text in {**FILLER, **MEANING}.items():
        write_markdown(cast.vault, path, text)
    assert embed_pending(cast.vault.pk, most_seconds=120).left == 0
    scope = scope_for(cast.owner)
    for query, expected in OF_MEANING:
        result = async_to_sync(search_notes)(query, scope=scope, mode=Mode.HYBRID, limit=5)
        assert result.hits[0].path == expected, query
    foreign = "Quelle est la capitale de la Mongolie ?"
    nothing = async_to_sync(search_notes)(foreign, scope=scope, mode=Mode.HYBRID, limit=5)
    assert nothing.hits == ()
    assert "near in meaning" in nothing.notices[0]
