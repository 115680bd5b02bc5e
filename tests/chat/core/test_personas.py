"""Personas written in files."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.core.personas import LONGEST_NAME, LONGEST_ROLE, parse_persona

FILE = """---
name: Archivist
description: Finds what was decided, and when
model: inherit
tools: search, get_section
vaults: [minutes, plans]
---

You answer from the minutes. Give the date of every decision.
"""


def test_front_matter_names_it_and_the_body_is_what_it_is_told() -> None:
    persona = parse_persona(FILE, path=".claude/agents/archivist.md")
    assert persona is not None
    assert (persona.name, persona.role) == ("Archivist", "Finds what was decided, and when")
    assert persona.prompt == "You answer from the minutes. Give the date of every decision."
    assert persona.tools == ("search", "get_section")
    assert persona.vaults == ("minutes", "plans")
    assert persona.model == ""


def test_without_front_matter_the_file_names_it() -> None:
    persona = parse_persona("Be brief.", path=".claude/agents/brief-one.md")
    assert persona is not None
    assert (persona.name, persona.prompt, persona.tools) == ("brief-one", "Be brief.", None)


def test_a_file_without_a_body_is_no_persona() -> None:
    assert parse_persona("---\nname: Nobody\n---\n\n  \n", path="a.md") is None


@given(st.text())
def test_any_file_can_be_read(text: str) -> None:
    persona = parse_persona(text, path="any.md")
    if persona is not None:
        assert persona.prompt
        assert 0 < len(persona.name) <= LONGEST_NAME
        assert len(persona.role) <= LONGEST_ROLE
