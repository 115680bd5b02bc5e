"""Properties at the top of a note: read, refused or taken for text, and nothing lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.front_matter import FrontMatter, read_front_matter


def read(header: str) -> FrontMatter:
    return read_front_matter(f"---\n{header}\n---\nBody\n")


def body_of(text: str) -> str:
    return text[read_front_matter(text).body_start :]


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("no header\n", "no header\n"),
        ("---\na: 1\n---\nBody", "Body"),
        ("---\na: 1\n...\nBody", "Body"),
        ("---  \na: 1\n---\t\nBody", "Body"),
        ("---\na: 1\n---", ""),
        ("---\n---\nBody", "Body"),
        ("---\n# only a comment\n---\nBody", "Body"),
        (" ---\na: 1\n---\nBody", " ---\na: 1\n---\nBody"),
        ("----\na: 1\n----\nBody", "----\na: 1\n----\nBody"),
        ("\n---\na: 1\n---\nBody", "\n---\na: 1\n---\nBody"),
        ("---\nA letter.\n\n---\nMore", "---\nA letter.\n\n---\nMore"),
        ("---\n- a\n- b\n---\nBody", "---\n- a\n- b\n---\nBody"),
        ("---\na: 1\n\nBody", "---\na: 1\n\nBody"),
        ("---\n\nA “quoted: and [broken\n\n---\n", "---\n\nA “quoted: and [broken\n\n---\n"),
        ("---\n\nWe: @broken\n\n---\n", "---\n\nWe: @broken\n\n---\n"),
        ("---\n\nstatus: draft\n\n---\nBody", "Body"),
    ],
)
def test_the_body_begins_after_properties_and_nowhere_else(text: str, body: str) -> None:
    assert body_of(text) == body


def test_the_line_of_the_body_is_a_line_of_the_file() -> None:
    assert read_front_matter("---\na: 1\nb: 2\n---\nBody").body_line == 5
    assert read_front_matter("Body").body_line == 1


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("text", "text"),
        ("'12'", "12"),
        ("12", 12),
        ("-3", -3),
        ("1.10", 1.1),
        ("1e3", 1000.0),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("2026-05-26", "2026-05-26"),
        ("2026-5-6", "2026-05-06"),
        ("2026-05-26 10:30", "2026-05-26T10:30:00"),
        ("2026-05-26T10:30:05Z", "2026-05-26T10:30:05+00:00"),
        ("No", "No"),
        ("12:30", "12:30"),
        ("01234", "01234"),
        ("1_000", "1_000"),
        ("0x1DA7430", "0x1DA7430"),
        (".nan", ".nan"),
        ("-.inf", "-.inf"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        ("1234567890123456789", "1234567890123456789"),
        ("[a, 1, [b]]", ["a", 1, ["b"]]),
        ("{a: {b: 1}}", {"a": {"b": 1}}),
        ("!!python/object:os.system x", "x"),
        ("|\n  two\n  lines", "two\nlines\n"),
        ("<% tp.date %>", "<% tp.date %>"),
    ],
)
def test_values_are_what_the_writer_meant_and_json_holds_them(written: str, value: Any) -> None:
    front = read(f"key: {written}")
    assert front.properties == {"key": value}
    assert json.loads(json.dumps(front.properties, allow_nan=False)) == front.properties


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("up:\n- [[Home]] main", 3),
        ("by: @me", 2),
        ("title: Plan: two", 2),
        ("path: `C:\\x`", 2),
        ("title: *Draft*", 2),
        ("a: &x 1\nb: *x", 3),
        ("bell: \x07", 2),
    ],
)
def test_broken_properties_are_a_warning_with_its_line_and_the_body_stays(
    header: str, line: int
) -> None:
    front = read(header)
    assert front.properties == {}
    ((reason, warned_line),) = front.warnings
    assert reason.startswith("the properties could not be read: ")
    assert warned_line == line
    assert body_of(f"---\n{header}\n---\nBody\n") == "Body\n"


def test_an_unfilled_placeholder_costs_only_its_own_value() -> None:
    front = read("created: {{date}}\ntags: [book]")
    assert front.properties == {"created": "{{date}}", "tags": ["book"]}
    assert front.warnings == (("a list or mapping used as a key", 2),)


def test_a_key_given_twice_warns_and_the_last_one_counts() -> None:
    front = read("tags: [one]\nstatus: draft\ntags: [two]")
    assert front.properties == {"status": "draft", "tags": ["two"]}
    assert front.warnings == (("“tags” is given twice; the last one counts", 4),)


def test_a_date_that_is_none_warns_and_stays_text() -> None:
    front = read("title: J\ndate: 2026-02-30")
    assert front.title == "J"
    assert front.properties["date"] == "2026-02-30"
    ((reason, line),) = front.warnings
    assert "“2026-02-30” is not a date" in reason
    assert line == 3


def test_a_tab_after_a_key_warns() -> None:
    front = read("a: 1\nkey:\tvalue")
    assert front.properties == {"a": 1, "key": "value"}
    assert front.warnings == (("a tab after the colon; write a space", 3),)


def test_properties_that_never_end_are_text_with_a_warning() -> None:
    front = read_front_matter("---\ntitle: Never closed\n\n# Heading\n")
    assert front.body_start == 0
    assert front.warnings == (("the properties at the top are never closed with ---", 1),)


def test_a_rule_at_the_top_is_no_warning() -> None:
    assert read_front_matter("---\n\nA letter.\n") == FrontMatter()


def test_a_header_too_large_stays_text() -> None:
    front = read_front_matter("---\n" + "key: value\n" * 7000 + "---\nBody")
    assert front.body_start == 0
    assert "larger than 64000 characters" in front.warnings[0][0]


@pytest.mark.parametrize(
    "header",
    [
        "a: " + "[" * 40 + "]" * 40,
        "a: [" + "1, " * 10_001 + "1]",
        "a: &a [x]\nb: &b [*a, *a]",
        "a: " + "{a: " * 2000 + "1" + "}" * 2000,
    ],
)
def test_bombs_are_refused(header: str) -> None:
    front = read(header)
    assert front.properties == {}
    assert "could not be read" in front.warnings[0][0]


@pytest.mark.parametrize(
    ("header", "title"),
    [
        ("title: Plan", "Plan"),
        ("Title: Plan", "Plan"),
        ("title: 0", "0"),
        ("title: false", "false"),
        ("title: 2026-05-26", "2026-05-26"),
        ("title: 0.90", "0.90"),
        ("title: '  two\n  lines '", "two lines"),
        ("title: ~", ""),
        ("title:", ""),
        ("title: ''", ""),
        ("title: [a, b]", ""),
        ("title: '{{title}}'", ""),
        ("title: <% tp.file.title %>", ""),
        ("other: 1", ""),
    ],
)
def test_the_title_is_the_text_as_written(header: str, title: str) -> None:
    assert read(header).title == title


@pytest.mark.parametrize(
    ("header", "tags"),
    [
        ("tags: one", ("one",)),
        ("tags: one, two three", ("one", "two", "three")),
        ("tags: [one, two]", ("one", "two")),
        ("tags:\n- one\n- two/three", ("one", "two/three")),
        ("tags: ['#one', '##two']", ("one", "two")),
        ("tag: one\ntags: two", ("two", "one")),
        ("tags: [One, one, ONE]", ("One",)),
        (
            "tags: [2024, 1.5, 2026-01-01, true, No, 0]",
            ("2024", "1.5", "2026-01-01", "true", "No", "0"),
        ),
        ("tags: [~, '', null]", ()),
        ("tags:\n  -", ()),
        ("tags: #foo", ()),
        ("tags: {x: 1}", ()),
        ("tags: [a, [b, c], {d: 1}]", ("a", "b", "c")),
        ("tags: [machine learning]", ("machine learning",)),
        ("tags: [cafe\u0301]", ("café",)),
    ],
)
def test_tags_of_every_shape_are_read_and_none_is_called_none(
    header: str, tags: tuple[str, ...]
) -> None:
    assert read(header).tags == tags


@pytest.mark.parametrize(
    ("header", "aliases"),
    [
        ("aliases: One", ("One",)),
        ("aliases: One, Two", ("One", "Two")),
        ("aliases: 'Smith, John'", ("Smith, John",)),
        (
            "aliases: [No, 12:30, 0x1DA7430, 01234, 1_000]",
            ("No", "12:30", "0x1DA7430", "01234", "1_000"),
        ),
        ("alias: [Solo]", ("Solo",)),
        ("aliases:\n- Copy: Files & Folders", ("Copy: Files & Folders",)),
        ("aliases: [~, False]", ("False",)),
        ("aliases:", ()),
    ],
)
def test_aliases_are_texts_as_written(header: str, aliases: tuple[str, ...]) -> None:
    assert read(header).aliases == aliases


PIECES = st.sampled_from(
    [
        "a: 1",
        "- x",
        "b:",
        "  c: [1",
        "]",
        "{",
        "}",
        "'",
        '"',
        ": ",
        "? ",
        "& ",
        "*a",
        "|",
        ">",
        "\t",
        "!!x",
        "%Y",
        "---",
        "...",
    ]
)


@given(st.lists(PIECES | st.text(max_size=8), max_size=12).map("\n".join))
def test_no_header_raises_and_its_values_are_json(header: str) -> None:
    text = f"---\n{header}\n---\nBody"
    front = read_front_matter(text)
    assert json.loads(json.dumps(front.properties, allow_nan=False)) == front.properties
    assert text[front.body_start :].endswith("Body")
    assert text.count("\n", 0, front.body_start) + 1 == front.body_line
    assert "None" not in (front.title, *front.tags, *front.aliases) or "None" in header
