"""Filters are taken out of a query; everything else stays text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.filters import (
    Filter,
    UnreadableFilter,
    as_filter,
    check_filters,
    take_filters,
    without_filter,
)
from retrieval.core.query import parse_query


@pytest.mark.parametrize(
    ("typed", "name", "value"),
    [
        ("tag:project", "tag", "project"),
        ("tag:#Project/Alpha/", "tag", "project/alpha"),
        ("TAG:a", "tag", "a"),
        ("path:Ops/Pumps", "path", "ops/pumps"),
        ("path:/Ops/", "path", "ops/"),
        ("path:./Ops", "path", "ops"),
        ('path:"My notes/"', "path", "my notes/"),
        ("after:2026-03-01", "after", "2026-03-01"),
        ("before:2026-3-1", "before", "2026-03-01"),
        ("after:2026-03", "after", "2026-03-01"),
        ("before:2026", "before", "2026-01-01"),
        ("tag:日本/東京", "tag", "日本/東京"),
        ("folder:/Ops/Pumps/", "folder", "ops/pumps"),
        ('folder:"My notes"', "folder", "my notes"),
        ("kind:Code", "kind", "code"),
        ("vault:handbook", "vault", "handbook"),
        ("prop:Status=Draft", "prop", "status=draft"),
        ('prop:"due date=2026-01-31"', "prop", "due date=2026-01-31"),
        ("prop:status", "prop", "status="),
        ("[status:draft]", "prop", "status=draft"),
        ("[Due date: next week]", "prop", "due date=next week"),
        ('[status:"in review"]', "prop", "status=in review"),
        ("[status:]", "prop", "status="),
    ],
)
def test_a_filter_is_read(typed: str, name: str, value: str) -> None:
    assert take_filters(typed) == (" ", (Filter(name, value, typed),))
    check_filters(typed)


def test_a_minus_turns_paths_and_tags_around() -> None:
    _, filters = take_filters("-tag:draft -path:Archive/ pump")
    assert [(each.name, each.value, each.is_excluding) for each in filters] == [
        ("tag", "draft", True), ("path", "archive/", True)
    ]  # fmt: skip


def test_the_rest_is_the_question() -> None:
    parsed = parse_query('blue tag:project "in the cellar" after:2026-01-01 -red', operators=True)
    assert parsed.text == "blue in the cellar"
    assert parsed.phrases == ("in the cellar",)
    assert parsed.excluded == ("red",)
    assert [each.value for each in parsed.filters] == ["project", "2026-01-01"]
    assert parsed.narrows
    assert not parsed.is_filters_alone


def test_filters_alone_list_notes() -> None:
    assert parse_query("tag:a path:b", operators=True).is_filters_alone
    assert not parse_query("tag:a pump", operators=True).is_filters_alone
    assert not parse_query("", operators=True).is_filters_alone


@pytest.mark.parametrize(
    "text",
    [
        '"tag:project"', 'see "the tag:project here"', "hashtag:x", "https://example.org/path:x",
        "path: Ops", "tag:", "before: the war",
    ],
)  # fmt: skip
def test_text_that_only_looks_like_a_filter_stays_text(text: str) -> None:
    assert take_filters(text) == (text, ())
    check_filters(text)


def test_in_chat_a_filter_is_text() -> None:
    parsed = parse_query("What does tag:project mean?")
    assert (parsed.text, parsed.filters) == ("What does tag:project mean?", ())


@pytest.mark.parametrize(
    ("text", "raw", "name"),
    [
        ("pump after:yesterday", "after:yesterday", "after"),
        ("before:2026-02-30", "before:2026-02-30", "before"),
        ("before:2026-13", "before:2026-13", "before"),
        ("after:0000", "after:0000", "after"),
        ("-after:2026-01-01", "-after:2026-01-01", "after"),
        ("tag:#", "tag:#", "tag"),
        ('path:""', 'path:""', "path"),
    ],
)
def test_a_value_that_means_nothing_is_told_and_stays_text(text: str, raw: str, name: str) -> None:
    with pytest.raises(UnreadableFilter) as refused:
        check_filters(text)
    assert (refused.value.raw, refused.value.name) == (raw, name)
    assert take_filters(text) == (text, ())


def test_a_filter_can_be_taken_away_again() -> None:
    _, (first, second) = take_filters('blue tag:a pump path:"B c/"')
    assert without_filter('blue tag:a pump path:"B c/"', first) == 'blue pump path:"B c/"'
    assert without_filter('blue tag:a pump path:"B c/"', second) == "blue tag:a pump"


@given(st.text(alphabet=st.sampled_from('tagpathbefore:"-# /2026\n.x'), max_size=60))
def test_any_text_can_be_taken_apart(text: str) -> None:
    rest, filters = take_filters(text)
    assert len(rest) <= len(text) + len(filters)
    assert all(each.raw in text and each.value for each in filters)
    assert take_filters(rest)[1] == () or filters


@pytest.mark.parametrize(
    "text",
    ["[ERROR]", "[10:42]", "[[Note: one]]", "[a link: to](https://example.com)", "x[status:draft]"],
)
def test_brackets_of_other_kinds_stay_text(text: str) -> None:
    assert take_filters(text) == (text, ())
    check_filters(text)


@pytest.mark.parametrize("text", ["kind:song", "folder:/", "prop:=x", "-after:2026-01-01"])
def test_a_filter_whose_value_means_nothing_stays_text_and_is_told(text: str) -> None:
    assert take_filters(text) == (text, ())
    with pytest.raises(UnreadableFilter) as refused:
        check_filters(text)
    assert refused.value.raw == text


def test_a_minus_turns_a_property_and_a_kind_around() -> None:
    _, filters = take_filters("-[status:draft] -kind:code -folder:Archive")
    assert [(each.name, each.is_excluding) for each in filters] == [
        ("prop", True), ("kind", True), ("folder", True)
    ]  # fmt: skip


@given(st.sampled_from(["tag", "folder", "prop", "vault"]), st.text(min_size=1))
def test_a_filter_that_we_write_is_read_as_one(name: str, value: str) -> None:
    written = as_filter(name, value)
    rest, filters = take_filters(written)
    assert rest in {" ", written}
    assert all(each.name == name and each.raw == written for each in filters)
