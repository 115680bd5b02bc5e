"""The faults of test_cases.py again, among 3,000 other notes in nine languages.

The vectors are those of the bundled embedder. Of the crowd it embeds five texts a language; the
others stand near one of those, in the same language, as texts do that say the same in other
words (a cosine of about 0.98).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
import pytest
from asgiref.sync import async_to_sync

from providers.core.protocols import Vectors
from providers.core.types import ChatMessage
from providers.presets import load_presets
from providers.registry import default_embedding_model, embedder
from retrieval.core.types import Knobs, Mode
from retrieval.pipeline import retrieve
from retrieval.search import search_notes
from tests.cast import Cast, make_cast
from tests.conftest import Written
from tests.retrieval import test_cases as cases
from tests.retrieval.library import MODIFIED, write_markdown
from vault.access import scope_for
from vault.core.language import text_config
from vault.core.lexical import made_tokens
from vault.core.names import lookup_keys
from vault.embedding import embed_pending
from vault.lexemes import know_lexemes, refresh_lexemes
from vault.models import Chunk, ChunkVector, Note, Vault
from vault.staleness import fingerprint

pytestmark = pytest.mark.django_db
CROWD = 3_000
# Texts of the crowd that are embedded: as many of each language.
EMBEDDED = 45
_NEARNESS = 0.01

# For each language the slots of a sentence; every note takes another combination.
_SENTENCES: tuple[tuple[tuple[str, ...], ...], ...] = (
    (
        ("The meeting", "A letter", "The report", "Our plan", "The old list"),
        ("about the roof", "of the harbour", "on travel costs", "for the new kitchen"),
        ("was moved to spring", "needs another look", "is kept in the drawer", "was agreed"),
    ),
    (
        ("Die Sitzung", "Ein Brief", "Der Bericht", "Unser Plan", "Die alte Liste"),
        ("über das Dach", "vom Hafen", "zu den Reisekosten", "für die neue Küche"),
        ("wurde verschoben", "braucht noch Zeit", "liegt im Schrank", "ist beschlossen"),
    ),
    (
        ("Встреча", "Письмо", "Отчёт", "Наш список", "Старая запись"),
        ("о крыше", "о гавани", "о поездках", "для новой кухни"),
        ("перенесена на весну", "требует внимания", "лежит в ящике", "согласован"),
    ),
    (
        ("La réunion", "Une lettre", "Le rapport", "Notre projet", "La vieille liste"),
        ("sur le toit", "du port", "des frais de voyage", "pour la cuisine"),
        ("est remise au printemps", "attend encore", "reste dans le tiroir", "est acceptée"),
    ),
    (
        ("La reunión", "Una carta", "El informe", "Nuestro proyecto", "La lista vieja"),
        ("sobre el tejado", "del puerto", "de los viajes", "para la cocina"),
        ("se aplaza a primavera", "necesita otra lectura", "queda en el cajón", "está cerrada"),
    ),
    (
        ("会议", "信件", "报告", "我们的计划", "旧清单"),
        ("关于屋顶", "关于港口", "关于差旅费", "关于新厨房"),
        ("推迟到春天。", "需要再看一遍。", "放在抽屉里。", "已经同意。"),
    ),
    (
        ("会議の記録", "手紙の写し", "報告書", "私たちの計画", "古い一覧"),
        ("は屋根について", "は港について", "は旅費について", "は新しい台所について"),
        ("春に延期された。", "もう一度読む。", "引き出しにある。", "合意した。"),
    ),
    (
        ("회의록은", "편지는", "보고서는", "우리 계획은", "옛 목록은"),
        ("지붕에 대해", "항구에 대해", "출장비에 대해", "새 부엌에 대해"),
        ("봄으로 미뤘다.", "다시 읽는다.", "서랍에 있다.", "합의했다."),
    ),
    (
        ("การประชุม", "จดหมาย", "รายงาน", "แผนของเรา", "รายการเก่า"),
        ("เรื่องหลังคา", "เรื่องท่าเรือ", "เรื่องค่าเดินทาง", "เรื่องครัวใหม่"),
        ("เลื่อนไป", "ต้องอ่านอีกครั้ง", "อยู่ในลิ้นชัก", "ตกลงแล้ว"),
    ),
)
# Look like what is looked for, and are something else: numbers, parts, versions, addresses.
_NEAR = (
    "Invoice INV/2024/{n:05} and part RX-{n}NI-B{n}.",
    "Build v7.{n}.1 on 172.16.{n}.9, file draft.{n}.png.",
    "person{n}@example.net, box {n} of 12, a_b_{n}, D# {n}, .ENV {n}.",
    "100 {n} metres, see https://example.net/q:{n}?x=2.",
)


def crowd_texts() -> Iterator[str]:
    """Different texts without end, each in one language."""
    for number in count():
        slots = _SENTENCES[number % len(_SENTENCES)]
        turn = number // len(_SENTENCES)
        first = " ".join(slot[(turn // 7**place) % len(slot)] for place, slot in enumerate(slots))
        second = " ".join(slot[(turn + place) % len(slot)] for place, slot in enumerate(slots))
        yield f"{first} {second} {_NEAR[number % len(_NEAR)].format(n=1_000 + number)}"


def write_crowd(vault: Vault, size: int) -> None:
    """Notes of one chunk each, with what the index would write beside their text."""
    texts = [text for _number, text in zip(range(size), crowd_texts(), strict=False)]
    notes = Note.objects.bulk_create(
        Note(
            vault=vault, path=f"Crowd/{number:04}.md", title=f"Entry {number:04}", body=text,
            lookup_keys=lookup_keys(
                title=f"Entry {number:04}", aliases=(), path=f"Crowd/{number:04}.md"
            ),
            status=Note.Status.INDEXED, content_hash="x", file_modified=MODIFIED,
        )
        for number, text in enumerate(texts)
    )  # fmt: skip
    Chunk.objects.bulk_create(
        Chunk(
            vault=vault, note=note, ordinal=0, heading_path=[note.title], heading_text=note.title,
            content=note.body, made_tokens=made_tokens(note.body), start=0, end=len(note.body),
            start_line=1, end_line=1, tokens=len(note.body) // 4, embed_hash="x",
            text_config=text_config(note.body),
        )
        for note in notes
    )  # fmt: skip
    know_lexemes([note.pk for note in notes])


def write_vectors(vault: Vault) -> None:
    """Vectors of the bundled embedder for every chunk of the crowd (see above)."""
    load_presets()
    model = default_embedding_model()
    assert model is not None
    crowd = Chunk.objects.filter(vault=vault, note__path__startswith="Crowd/")
    chunks = list(crowd.order_by("pk"))
    texts = [chunk.content for chunk in chunks[:EMBEDDED]]
    real = np.asarray(async_to_sync(embedder(model).embed_passages)(texts))
    apart = np.random.default_rng(7)
    ChunkVector.objects.bulk_create(
        ChunkVector(
            vault=vault, chunk=chunk, embedding_model=model, embed_hash=chunk.embed_hash,
            fingerprint=fingerprint(model), vector=_near(real, number, apart),
        )
        for number, chunk in enumerate(chunks)
    )  # fmt: skip
    vault.embedding_model = model
    vault.save()


def _near(real: Vectors, number: int, apart: np.random.Generator) -> Vectors:
    """The vector of a text itself, or one of its language moved a little."""
    vector = real[number % len(real)]
    if number >= len(real):
        vector = vector + apart.normal(0, _NEARNESS, len(vector)).astype(np.float32)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


NOTES = {
    **cases.FILLER,
    **cases.IDENTIFIERS,
    **cases.LANGUAGES,
    **cases.SIGNS,
    **cases.STOP_WORDS,
    **cases.ACCENTS,
    **cases.UNSPACED,
    **cases.TYPOS,
    **cases.ABSENT_WORDS,
    # The others say what a note of another group says as well.
    **{path: cases.MEANING[path] for path in ("pompa.md", "factura.md", "Billing.md", "Seals.md")},
}
EXPECTED = (
    *cases.OF_IDENTIFIERS,
    *cases.OF_LANGUAGES,
    *cases.OF_SIGNS,
    *cases.OF_STOP_WORDS,
    *cases.OF_ACCENTS,
    *cases.OF_UNSPACED,
    *cases.OF_TYPOS,
    *cases.OF_ABSENT_WORDS,
)


@pytest.fixture(scope="module")
def crowd(kept_rows: Written) -> Cast:
    """The crowd with the notes of every group in it."""
    with kept_rows():
        cast = make_cast()
        write_crowd(cast.vault, CROWD)
        for path, text in NOTES.items():
            write_markdown(cast.vault, path, text)
        refresh_lexemes(force=True)
    return cast


@pytest.fixture(scope="module")
def meaning(crowd: Cast, kept_rows: Written) -> Cast:
    """The crowd with vectors: all that is not of the crowd has its own."""
    with kept_rows():
        write_vectors(crowd.vault)
        while embed_pending(crowd.vault.pk, most_seconds=60).left:
            pass
    return crowd


def find(cast: Cast, query: str, mode: Mode = Mode.KEYWORD) -> list[str]:
    scope = scope_for(cast.owner)
    result = async_to_sync(search_notes)(query, scope=scope, mode=mode, limit=5)
    return [hit.path for hit in result.hits]


def missed(cast: Cast, expected: Sequence[tuple[str, str]], mode: Mode) -> dict[str, list[str]]:
    """What came in place of each note that did not come first."""
    return {
        query: found for query, path in expected if (found := find(cast, query, mode))[:1] != [path]
    }


def test_every_case_comes_first_in_a_crowd_too(crowd: Cast) -> None:
    assert missed(crowd, EXPECTED, Mode.KEYWORD) == {}


@pytest.mark.parametrize("query", ["'", "%", "_", "*", "<->", "()", "\\", "...", "zzzzqqq"])
def test_nothing_is_found_for_nothing_in_a_crowd_too(crowd: Cast, query: str) -> None:
    assert find(crowd, query) == []


# Embedding a question takes longer than searching 3,000 notes for it: some of every group.
SOME = EXPECTED[::6]


@pytest.mark.slow
def test_meaning_hides_no_name_or_number_in_a_crowd(meaning: Cast) -> None:
    assert missed(meaning, SOME, Mode.HYBRID) == {}


@pytest.mark.slow
def test_meaning_crosses_languages_and_abbreviations_in_a_crowd_too(meaning: Cast) -> None:
    crossing = [("When was the pump repair moved to?", "pompa.md"), ("k8s", "K8s.md")]
    assert missed(meaning, crossing, Mode.SEMANTIC) == {}
    ukrainian = [("коли оплачують рахунок майстерні", "factura.md")]
    assert missed(meaning, ukrainian, Mode.HYBRID) == {}


@pytest.mark.slow
@pytest.mark.parametrize(("turns", "expected"), cases.OF_FOLLOW_UPS)
def test_a_follow_up_finds_its_note_in_a_crowd(
    meaning: Cast, turns: tuple[str, str], expected: str
) -> None:
    before = [ChatMessage("user", turns[0]), ChatMessage("assistant", "The notes say.")]
    found = async_to_sync(retrieve)(
        turns[1], history=before, scope=scope_for(meaning.owner), knobs=Knobs()
    )
    assert found.passages[0].path == expected
