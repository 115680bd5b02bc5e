"""Golden questions as they stand in a note: `question -> [[expected note]], [[other]]`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

LONGEST_QUESTION = 1_000

_ITEM = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[.\]\s+)?")
_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_ARROW = re.compile(r"\s*(?:-+>|=+>|→)\s*")
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|%%.*?(?:%%|\Z)", re.DOTALL)
_LINK = re.compile(
    r"\[\[(?P<wiki>[^\[\]|#]*)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]"
    r"|\[[^\[\]]*\]\(<?(?P<url>[^()<>#]+)(?:#[^()<>]*)?>?\)"
)
_BETWEEN = re.compile(r"^[\s,;.&+/]*(?:(?:and|or|und|и|или)[\s,;]*)*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class GoldenQuestion:
    """A question and the links to the notes that should answer it. `line` is the body's."""

    text: str
    targets: tuple[str, ...]
    question_class: str
    line: int


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that was meant as a question and is none; `reason` says how to mend it."""

    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Golden:
    """What a note of golden questions holds."""

    questions: tuple[GoldenQuestion, ...]
    broken: tuple[BrokenLine, ...]


def parse_golden(body: str) -> Golden:
    """The questions of a note's body, each under the class that its heading names.

    A list item or a line with an arrow is a question; other lines are remarks. Nothing
    raises: a line that cannot be read is listed with its number, from 1.
    """
    questions: list[GoldenQuestion] = []
    broken: list[BrokenLine] = []
    seen: dict[str, int] = {}
    for number, line, question_class in _lines(body):
        read = _read(line)
        if read is None:
            continue
        if isinstance(read, str):
            broken.append(BrokenLine(number, line.strip()[:200], read))
            continue
        text, targets = read
        key = " ".join(text.casefold().split())
        if key in seen:
            reason = f"The same question stands in line {seen[key]}: put all notes there."
            broken.append(BrokenLine(number, line.strip()[:200], reason))
            continue
        seen[key] = number
        questions.append(GoldenQuestion(text, targets, question_class, number))
    return Golden(tuple(questions), tuple(broken))


def golden_line(text: str, targets: list[str]) -> str:
    """A question as one line of such a note."""
    links = ", ".join(f"[[{target.removesuffix('.md')}]]" for target in targets)
    return f"- {' '.join(text.split())} -> {links}"


def _lines(body: str) -> Iterator[tuple[int, str, str]]:
    """(number, line, class) of every line that is neither heading, code nor comment."""
    visible = _HIDDEN.sub(lambda hidden: "\n" * hidden[0].count("\n"), body)
    fence, question_class, is_first = "", "", True
    for number, line in enumerate(visible.split("\n"), start=1):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        heading = None if fence else _HEADING.match(line)
        if heading:
            # The first heading of level 1 is the note's title and no class.
            is_title = is_first and len(heading[1]) == 1
            question_class, is_first = ("" if is_title else heading[2].strip()), False
        elif not fence:
            yield number, line, question_class


def _read(line: str) -> tuple[str, tuple[str, ...]] | str | None:
    """A question with its targets, or why it is none, or None for a remark."""
    item = _ITEM.match(line)
    text = line[item.end() :] if item else line.strip()
    arrows = list(_ARROW.finditer(text))
    if not text.strip() or (not arrows and not item):
        return None
    if not arrows:
        return "There is no arrow: write “question -> [[note]]”."
    question, right = text[: arrows[-1].start()].strip(), text[arrows[-1].end() :]
    if not re.search(r"\w", question):
        return "There is no question before the arrow."
    if len(question) > LONGEST_QUESTION:
        return f"The question is longer than {LONGEST_QUESTION} characters."
    targets = [
        (link["wiki"] or unquote(link["url"] or "")).strip() for link in _LINK.finditer(right)
    ]
    if not targets:
        return "There is no note after the arrow: write its name in [[double brackets]]."
    if not all(targets):
        return "A link is empty: write the note's name in it."
    rest = [piece for piece in _LINK.sub("\n", right).split("\n") if not _BETWEEN.match(piece)]
    if rest:
        return f"“{rest[0].strip(' ,;')[:60]}” is no note: write names in [[double brackets]]."
    return question, tuple(dict.fromkeys(targets))
