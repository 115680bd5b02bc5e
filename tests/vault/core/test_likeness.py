"""Which missing note a new file is: surely the same, or not taken."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from vault.core.likeness import moved_pairs, shingles

WORDS = [
    "pump",
    "valve",
    "cellar",
    "winter",
    "harbour",
    "ledger",
    "copper",
    "lantern",
    "orchard",
    "paper",
    "river",
    "salt",
    "timber",
    "valley",
    "window",
    "yarn",
    "zinc",
    "answer",
    "bridge",
    "engine",
]
TEMPLATE = "## Tasks\n\n- [ ] water the plants\n\n## Notes\n\n" + "What did you learn today? " * 10


def text(seed: int, sentences: int = 20) -> str:
    dice = random.Random(seed)
    return "\n\n".join(
        " ".join(dice.choices(WORDS, k=9)) + f" {seed}-{number}." for number in range(sentences)
    )


def edited(original: str, seed: int, share: float) -> str:
    dice = random.Random(seed)
    parts = original.split("\n\n")
    for place in dice.sample(range(len(parts)), int(len(parts) * share)):
        parts[place] = " ".join(dice.choices(WORDS, k=9)) + f" new {dice.random()}."
    return "\n\n".join(parts)


@given(st.integers(0, 10_000), st.floats(0, 0.25))
def test_a_note_of_which_a_quarter_was_rewritten_is_the_same_note(seed: int, share: float) -> None:
    original = text(seed)
    missing = {"a.md": original, "b.md": text(seed + 1)}
    arrived = {"x.md": text(seed + 2), "y.md": edited(original, seed, share)}
    assert moved_pairs(missing, arrived) == {"a.md": "y.md"}


@given(st.lists(st.integers(0, 10_000), min_size=2, max_size=6, unique=True))
def test_different_notes_are_never_taken_for_one(seeds: list[int]) -> None:
    half = len(seeds) // 2
    missing = {f"old {seed}.md": TEMPLATE + text(seed) for seed in seeds[:half]}
    arrived = {f"new {seed}.md": TEMPLATE + text(seed) for seed in seeds[half:]}
    assert moved_pairs(missing, arrived) == {}


def test_notes_of_one_template_are_not_the_same_note() -> None:
    missing = {"2026-01-01.md": TEMPLATE}
    arrived = {"2026-02-01.md": TEMPLATE + "One line."}
    assert moved_pairs(missing, arrived, others=[TEMPLATE + "Another line."]) == {}


def test_of_two_copies_neither_is_taken() -> None:
    original = text(1)
    copies = {"x.md": original + " more", "y.md": original + " other"}
    assert moved_pairs({"a.md": original}, copies) == {}
    assert moved_pairs({"a.md": original, "b.md": original}, {"x.md": original + " m"}) == {}
    assert moved_pairs({"a.md": original}, {"x.md": original + " m"}, others=[original]) == {}


def test_a_note_as_short_as_a_line_is_no_proof() -> None:
    assert moved_pairs({"a.md": "buy milk and bread"}, {"b.md": "buy milk and bread!"}) == {}


def test_a_name_in_another_case_is_the_same_note_whatever_it_says() -> None:
    assert moved_pairs({"Sub/pump.md": "x"}, {"sub/Pump.md": "y"}) == {"Sub/pump.md": "sub/Pump.md"}
    assert moved_pairs({"A.md": "x", "a.md": "x"}, {"á.md": "y"}) == {}


def test_of_a_swap_with_edits_each_goes_its_way() -> None:
    one, two = text(1), text(2)
    arrived = {"x.md": edited(two, 3, 0.2), "y.md": edited(one, 4, 0.2)}
    assert moved_pairs({"a.md": one, "b.md": two}, arrived) == {"a.md": "y.md", "b.md": "x.md"}


@given(st.text(max_size=80))
def test_any_text_has_shingles_by_its_words_alone(wild: str) -> None:
    assert shingles(wild) == shingles(f"  {wild}\n")
