"""A vault with three notes and a note of golden questions."""

from __future__ import annotations

from tests.retrieval.library import embed, make_embedding_model, write_markdown
from vault.models import Note, Vault

QUESTIONS = """---
tags: [team]
---
# Golden questions

- Where does the grey heron sleep? -> [[Heron]]

## Pumps

- Which pump stands in the cellar? -> [[Pumps]]
- Wer wartet die Pumpe im Keller? -> [[Pumps]], [[Valves]]
"""


def write_golden_vault(vault: Vault, questions: str = QUESTIONS) -> Note:
    """Notes of two subjects, searchable by words and meaning; returns the golden note."""
    write_markdown(vault, "Birds/Heron.md", "# Heron\n\nThe grey heron sleeps in the old oak.\n")
    write_markdown(vault, "Ops/Pumps.md", "# Pumps\n\nThe blue pump stands in the cellar.\n")
    write_markdown(vault, "Ops/Valves.md", "# Valves\n\nDie Pumpe im Keller wartet der Verein.\n")
    note = write_markdown(vault, "golden-questions.md", questions)
    embed(vault, make_embedding_model())
    return note
