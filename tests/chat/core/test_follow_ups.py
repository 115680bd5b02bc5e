"""Questions that could follow an answer."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from chat.core.follow_ups import (
    MOST_OFFERED,
    ReadNote,
    follow_ups_from_model,
    follow_ups_from_notes,
)


def test_a_models_lines_are_taken_without_their_marks() -> None:
    said = "Here are some:\n1. Who repaired it?\n- **What did it cost?**\n“Когда?”\nAnd more.\nX?"
    found = follow_ups_from_model(said, question="x?")
    assert found == ("Who repaired it?", "What did it cost?", "Когда?")


def test_what_was_asked_is_not_offered_again() -> None:
    assert follow_ups_from_model("When?\nwhen?\nWho?", question="When? ") == ("Who?",)


def test_headings_beside_what_was_read_are_offered() -> None:
    pump = ReadNote("Pump", ("Pump", "Failure", "Repair", "Cost", "Spare parts"))
    notes = [pump, ReadNote("Plan", ("Why so?",))]
    found = follow_ups_from_notes(notes, question="When?", told={"Pump", "Failure"})
    asked = (
        "What should I know about “Spare parts” in “Pump”?",
        "What should I know about “Repair” in “Pump”?",
    )
    assert found == (*asked, "Why so?")


@given(st.text(), st.text())
def test_never_more_than_three_whatever_is_said(said: str, question: str) -> None:
    found = follow_ups_from_model(said, question=question)
    assert len(found) <= MOST_OFFERED
    assert question.strip().casefold() not in {each.casefold() for each in found}
