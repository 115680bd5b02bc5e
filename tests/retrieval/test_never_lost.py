"""What a reader knows exactly is found, whatever else a vault holds."""

from __future__ import annotations

import re

import pytest
from asgiref.sync import async_to_sync
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from retrieval.core.types import Mode
from retrieval.search import search_notes
from tests.cast import Cast
from tests.retrieval.library import embed, make_embedding_model, write_note
from vault.access import scope_for
from vault.core.names import lookup_key
from vault.models import Note, Vault

pytestmark = pytest.mark.django_db

# One vault for all examples of a test: each empties it first.
few = settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

IDENTIFIERS = st.one_of(
    st.from_regex(r"[A-Z]{2,4}/20[0-9]{2}/[0-9]{4,6}", fullmatch=True),
    st.from_regex(r"[A-Z]{2,3}-[1-9][0-9]{3,4}", fullmatch=True),
    st.from_regex(r"v[1-9]\.[0-9]{1,2}\.[0-9]{1,2}", fullmatch=True),
    st.from_regex(r"[a-z]{4,8}\.[a-z]{4,8}@example\.(com|org)", fullmatch=True),
    st.from_regex(r"[a-z]{3,8}_[a-z]{3,8}_[0-9]{1,3}", fullmatch=True),
    st.sampled_from(["C++", "C#", ".NET", "F#", "CVE-2021-3281", "10.9.8.7", "2026-03-04"]),
)
# Words that surround it, in several scripts.
TALK = st.lists(
    st.sampled_from(
        ["the", "pump", "invoice", "version", "part", "mail", "net", "насос", "счёт", "水泵",
         "发票", "2026", "00", "3", "com", "example", "C", "Pumpe", "Ordner", "ปั๊มน้ำ"]
    ),
    min_size=1,
    max_size=12,
).map(" ".join)  # fmt: skip
CROWD = st.lists(TALK, min_size=1, max_size=5)
NAMES = st.text("abcXYZ äöé яжщ 水泵 0129.,&()+#'", min_size=1, max_size=24).filter(
    lambda name: re.search(r"\w", name) and len(lookup_key(name)) > 1
)


def fresh(vault: Vault, crowd: list[str]) -> None:
    Note.objects.filter(vault=vault).delete()
    for number, text in enumerate(crowd):
        write_note(vault, f"Crowd/{number}.md", text)


def like(identifier: str) -> str:
    """Another identifier of the same form: other digits, else the other way round."""
    other = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), identifier)
    return other if other != identifier else identifier[::-1]


def first(cast: Cast, query: str, mode: Mode) -> str:
    scope = scope_for(cast.owner)
    hits = async_to_sync(search_notes)(query, scope=scope, mode=mode, limit=3).hits
    return hits[0].path if hits else ""


@few
@given(identifier=IDENTIFIERS, before=TALK, after=TALK, crowd=CROWD)
def test_the_note_with_an_identifier_comes_first(
    cast: Cast, identifier: str, before: str, after: str, crowd: list[str]
) -> None:
    texts = [*crowd, f"{like(identifier)} and {like(identifier)}"]
    assume(not any(identifier.casefold() in text.casefold() for text in texts))
    fresh(cast.vault, texts)
    write_note(cast.vault, "Answer.md", f"{before} {identifier} {after}")
    assert first(cast, identifier, Mode.KEYWORD) == "Answer.md"


@few
@given(identifier=st.from_regex(r"[A-Z]{2,4}/20[0-9]{2}/[0-9]{4,6}", fullmatch=True), crowd=CROWD)
def test_the_last_part_of_an_identifier_is_enough(
    cast: Cast, identifier: str, crowd: list[str]
) -> None:
    fresh(cast.vault, crowd)
    write_note(cast.vault, "Answer.md", f"Paid: {identifier}.")
    assert first(cast, identifier.rpartition("/")[2], Mode.KEYWORD) == "Answer.md"


@few
@given(title=NAMES, alias=NAMES, crowd=CROWD)
def test_a_note_that_is_named_comes_first_by_title_alias_and_path(
    cast: Cast, title: str, alias: str, crowd: list[str]
) -> None:
    # Others speak of nothing else, and are nearer in words and in meaning.
    fresh(cast.vault, [*crowd, f"{title} {title} {alias} {alias}", f"{alias} {title}"])
    write_note(cast.vault, "Ops/Named one.md", "Nothing.", title=title, aliases=(alias,))
    model = cast.vault.embedding_model or make_embedding_model()
    embed(cast.vault, model)
    # In a link, `#` leads to a heading.
    linked = [f"[[{name}]]" for name in (title, alias) if "#" not in name]
    for query in (title, alias, "Ops/Named one.md", "Ops/Named one", *linked):
        assert first(cast, query, Mode.HYBRID) == "Ops/Named one.md", query


HAN = st.text(
    "水泵修理计划会议报告发票工厂厨房屋顶港口旅行费用春天抽屉信件清单", min_size=6, max_size=20
)
KANA = st.text("あいうえおかきくけこさしすせそたちつてとなにぬねの", min_size=6, max_size=20)
THAI = st.text("กขคงจฉชซฌญดตถทธนบปผพฟมยรลวสหอฮ", min_size=8, max_size=20)
HANGUL = st.text("가나다라마바사아자차카타파하거너더러머버서어", min_size=6, max_size=20)


@few
@given(text=HAN | KANA | THAI | HANGUL, crowd=CROWD, data=st.data())
def test_any_part_of_a_text_without_spaces_finds_it(
    cast: Cast, text: str, crowd: list[str], data: st.DataObject
) -> None:
    size = data.draw(st.integers(4, 5))
    start = data.draw(st.integers(0, len(text) - size))
    part = text[start : start + size]
    assume(not any(part in other for other in crowd))
    fresh(cast.vault, crowd)
    write_note(cast.vault, "Answer.md", f"{text}。", text_config="simple")
    assert first(cast, part, Mode.KEYWORD) == "Answer.md"
