"""Source files: cut at their definitions, under the names that people look for."""

from __future__ import annotations

import time

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from vault.core.chunking import chunk_note
from vault.core.code import LARGEST_CODE, UnreadableCode, parse_code
from vault.core.types import ChunkDraft, ChunkLimits, NoteKind

SMALL = ChunkLimits(target=120, overlap=20, minimum=20, maximum=150)

PYTHON = '''"""Pumps."""
import os

LIMIT = 3


# How a pump is started.
@cached
def start(pump):
    def inner():
        return pump
    return inner


class Pump(Base):
    """A pump."""

    async def drain(self, litres: int) -> None:
        pass

    @property
    def level(self):
        return 1


if __name__ == "__main__":
    start(None)
'''
TYPESCRIPT = """import { a } from "./a";

export interface Pump { name: string }

export const limit = 3;
export const start = async (pump: Pump): Promise<void> => {
  if (pump) {
    run(pump);
  }
};

export default class Engine extends Base {
  private static count = 0;
  constructor(name: string) {
    super(name);
  }
  async drain(litres: number): Promise<number> {
    for (const x of y) {
      z(x);
    }
    return litres;
  }
}
function* walk(tree) {
}
"""
GO = """package pump

type Pump struct {
\tname string
}

// Drain empties it.
func (p *Pump) Drain(litres int) error {
\treturn nil
}

func main() {
}
"""
RUST = """use std::io;

pub struct Pump<T> { name: T }

impl Read for Pump<u8> {
    fn read(&mut self) -> usize { 0 }
}

pub(crate) async fn drain() {}
macro_rules! pump { () => {} }
"""
JAVA = """package org.example;

@Service
public class Pump extends Engine {
    private int level = 3;
    public Pump(String name) {
        this.name = name;
    }
    @Override
    public List<String> drain(int litres) throws IOException {
        return call(litres);
    }
}
"""
C = """#include <stdio.h>

static int level = 3;

struct pump {
    int level;
};

int
main(void)
{
    return 0;
}

static void drain(struct pump *p, int litres) {
    if (litres) {
        call(p);
    }
}
"""
SQL = """CREATE TABLE IF NOT EXISTS pump (id int);

create or replace function drain(litres int) returns int as $$
  select 1
$$;
"""
SHELL = """#!/bin/sh
set -e

start() {
  echo up
}

function stop {
  echo down
}
"""
RUBY = """module Pumps
  class Pump < Base
    def drain!(litres)
      litres
    end
  end
end
"""


def names(path: str, text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in parse_code(text, path=path).headings]


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("a.py", PYTHON, ["start", "Pump", " drain", " level"]),
        ("a.ts", TYPESCRIPT,
         ["Pump", "start", "Engine", " constructor", " drain", "walk"]),
        ("a.go", GO, ["Pump", "Pump.Drain", "main"]),
        ("a.rs", RUST, ["Pump", "Read for Pump<u8>", " read", "drain", "pump"]),
        ("A.java", JAVA, ["Pump", " Pump", " drain"]),
        ("a.c", C, ["pump", "main", "drain"]),
        ("a.sql", SQL, ["pump", "drain"]),
        ("a.sh", SHELL, ["start", "stop"]),
        ("a.rb", RUBY, ["Pumps", " Pump", "  drain!"]),
    ],
    ids=["python", "typescript", "go", "rust", "java", "c", "sql", "shell", "ruby"],
)  # fmt: skip
def test_definitions_are_found_with_their_nesting(path: str, text: str, found: list[str]) -> None:
    wanted = [(len(n) - len(n.lstrip()) + 1, n.strip()) for n in found]
    assert names(path, text) == wanted


def test_a_definition_begins_with_its_comments_and_decorators() -> None:
    note = parse_code(PYTHON, path="lib/a.py")
    starts = {heading.text: PYTHON[heading.start :] for heading in note.headings}
    assert starts["start"].startswith("# How a pump is started.\n@cached\ndef start")
    assert starts["level"].startswith("    @property\n    def level")
    assert [PYTHON.count("\n", 0, h.start) + 1 for h in note.headings] == [
        h.line for h in note.headings
    ]


def test_the_path_of_a_chunk_is_file_and_definition() -> None:
    body = "\n".join(f"        value_{n} = compute({n})" for n in range(5))
    text = f"class Pump:\n    def drain(self):\n{body}\n\n    def fill(self):\n{body}\n"
    chunks = cut(text, path="lib/pump.py")
    assert [chunk.heading_path for chunk in chunks] == [
        ("lib/pump.py", "Pump", "drain"),
        ("lib/pump.py", "Pump", "fill"),
    ]
    assert all(chunk.is_code for chunk in chunks)


def test_definitions_of_a_few_lines_stand_together_under_their_names() -> None:
    (chunk,) = cut("def one():\n    pass\n\n\ndef two():\n    pass\n", path="a.py")
    assert chunk.heading_path == ("a.py", "one, two")
    assert chunk.content == "def one():\n    pass\n\n\ndef two():\n    pass"


def test_a_long_definition_is_cut_at_its_empty_lines() -> None:
    step = "\n".join(f"    value_{n} = compute({n})" for n in range(3))
    chunks = cut("def long():\n" + "\n\n".join([step] * 8), path="a.py")
    assert len(chunks) > 2
    assert all(chunk.content.startswith("    value_0") for chunk in chunks[1:])
    assert {chunk.heading_path for chunk in chunks} == {("a.py", "long")}


def test_kind_language_and_title_come_from_the_path() -> None:
    note = parse_code("x = 1", path="lib/Deep/a.TSX")
    assert (note.kind, note.language, note.title) == (NoteKind.CODE, "typescript", "lib/Deep/a.TSX")
    assert parse_code("x", path="a.zig").language == "zig"


def test_generated_and_oversized_files_are_refused_with_the_reason() -> None:
    with pytest.raises(UnreadableCode, match="looks generated"):
        parse_code("x=1;" * 10_000, path="a.js")
    with pytest.raises(UnreadableCode, match=r"over 1,000 kB"):
        parse_code("x = 1\n" * (LARGEST_CODE // 5), path="a.py")


def cut(text: str, *, path: str, limits: ChunkLimits = SMALL) -> list[ChunkDraft]:
    return chunk_note(parse_code(text, path=path), limits=limits)


LINES = st.sampled_from(
    ["def one():", "class Two:", "    def three(self):", "        return 1", "", "# words",
     "@wrap", "function four() {", "}", "  get(key) {", "\tcase x:", "x = (a) => {",
     "ünïcode = '名前'", "long_name = " + "value + " * 40, " ", "\x0c", "fn f()",
     "create table t (", "func (a *B) c() {"]
) | st.text(max_size=40)  # fmt: skip
FILES = st.lists(LINES, max_size=60).map("\n".join)
PATHS = st.sampled_from(["a.py", "b.js", "c.go", "d.sql", "e.sh", "f.txt", "g.c", "h.rs"])


@given(FILES, PATHS)
def test_every_character_that_is_seen_is_in_a_chunk_and_spans_are_exact(
    text: str, path: str
) -> None:
    covered = bytearray(len(text))
    for chunk in cut(text, path=path):
        assert chunk.content == text[chunk.start : chunk.end]
        assert chunk.tokens <= SMALL.maximum
        covered[chunk.start : chunk.end] = b"\1" * (chunk.end - chunk.start)
    lost = "".join(char for char, is_in in zip(text, covered, strict=True) if not is_in)
    assert not regex.search(r"[^\s\p{Cf}\p{Cc}]", lost)


@pytest.mark.parametrize(
    "line",
    ["public " * 50, "a(" * 180, "def " + "a." * 190, "x<" * 190, "const a = (" + "b, " * 100,
     "\t" * 390 + "x", "create or replace " + "w " * 150, "async " * 60 + "(",
     "a(" + " " * 390 + "=;"],
)  # fmt: skip
def test_hostile_lines_take_no_time(line: str) -> None:
    text = (line + "\n") * 2000
    began = time.process_time()
    for path in ("a.ts", "a.sql", "a.py"):
        parse_code(text, path=path)
    assert time.process_time() - began < 5
