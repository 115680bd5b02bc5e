"""Golden questions in a note: what is read, what is told to be broken."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.core.golden import golden_line, parse_golden

NOTE = """# Golden questions

Every line is a question with the notes that answer it.

- Where does the heron sleep? -> [[Birds/Heron]]

## Pumps

1. Which pump is blue? → [[Pumps#Cellar|the pumps]], [[Valves]] and [Seals](Parts/My%20seals.md)
* [ ] a -> b, which way? -> [[Arrows]]
"""


def test_questions_are_read_with_their_notes_and_the_class_of_their_heading() -> None:
    golden = parse_golden(NOTE)
    read = [(q.text, q.targets, q.question_class, q.line) for q in golden.questions]
    assert read == [
        ("Where does the heron sleep?", ("Birds/Heron",), "", 5),
        ("Which pump is blue?", ("Pumps", "Valves", "Parts/My seals.md"), "Pumps", 9),
        ("a -> b, which way?", ("Arrows",), "Pumps", 10),
    ]
    assert golden.broken == ()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("- Who is Ottokar?", "There is no arrow"),
        ("- Who? -> Heron", "There is no note after the arrow"),
        ("- Who? ->", "There is no note after the arrow"),
        ("-> [[Heron]]", "There is no question"),
        ("- ?? -> [[Heron]]", "There is no question"),
        ("- Who? -> [[Heron]], Otter", "“Otter” is no note"),
        ("- Who? -> [[]]", "A link is empty"),
        (f"- {'w' * 1001} -> [[Heron]]", "longer than 1000"),
    ],
)
def test_a_broken_line_is_listed_with_its_number_and_the_mend(line: str, reason: str) -> None:
    golden = parse_golden(f"# Questions\n\n{line}\n\n- Good? -> [[Heron]]\n")
    assert [(b.line, reason in b.reason) for b in golden.broken] == [(3, True)]
    assert [q.text for q in golden.questions] == ["Good?"]


def test_a_question_asked_twice_is_told() -> None:
    golden = parse_golden("- Who? -> [[A]]\n- who? -> [[B]]\n")
    assert len(golden.questions) == 1
    assert golden.broken[0].line == 2
    assert "line 1" in golden.broken[0].reason


def test_remarks_code_and_comments_are_no_questions() -> None:
    body = (
        "A remark.\n\n```\n- Who? -> [[A]]\n# No heading\n```\n"
        "%% - Who? -> [[B]]\n - What? %%\n<!-- - Who? -> [[C]] -->\n- Who? -> [[D]]\n"
    )
    golden = parse_golden(body)
    assert [(q.targets, q.line, q.question_class) for q in golden.questions] == [(("D",), 10, "")]
    assert golden.broken == ()


def test_a_second_heading_of_level_one_is_a_class() -> None:
    golden = parse_golden("# Title\n# Names\n- Who? -> [[A]]\n")
    assert golden.questions[0].question_class == "Names"


@given(st.text())
def test_any_text_is_read_without_an_error(text: str) -> None:
    golden = parse_golden(text)
    numbers = range(1, text.count("\n") + 2)
    assert all(question.line in numbers for question in golden.questions)
    assert all(line.line in numbers for line in golden.broken)
    assert all(each.targets for each in golden.questions)


@given(
    st.from_regex(r"\w[\w ?]{0,40}\w\?", fullmatch=True),
    st.from_regex(r"[A-Za-z]\w{0,9}", fullmatch=True),
)
def test_a_line_that_we_write_is_read_again(text: str, name: str) -> None:
    golden = parse_golden(golden_line(text, [f"Folder/{name}.md"]))
    assert [(" ".join(q.text.split()), q.targets) for q in golden.questions] == [
        (" ".join(text.split()), (f"Folder/{name}",))
    ]
