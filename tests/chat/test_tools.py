"""The tools on real notes: what they reach, and what they never do."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.core.asking import Ask
from chat.core.events import RunIds
from chat.core.tools import Wanted
from chat.history import Turn
from chat.models import Conversation, Message, Source
from chat.offers import site_catalogue
from chat.options import turn_options
from chat.sources import add_sources
from chat.tools import Found, Toolbox, ToolFailed
from tests.cast import Cast, make_cast
from tests.chat.world import FixedRetrieval, make_model, make_passage, make_providing
from tests.vault.notes import make_model as make_embedding_model
from tests.vault.notes import make_note, make_vector
from vault.core.names import lookup_keys
from vault.models import Note, Vault, VaultMember
from vault.sections import PART_TOKENS

pytestmark = pytest.mark.django_db
BODY = "# Pump\n\nOld and red.\n\n## Failure\n\nThe seal was worn.\n\n## Repair\n\nAnn did it.\n"


@pytest.fixture
def cast() -> Cast:
    make_model()
    return make_cast()


def toolbox(
    user: User, *, question: str = "Why?", vaults: tuple[str, ...] | None = None
) -> Toolbox:
    conversation = Conversation.objects.create(owner=user)
    message = Message.objects.create(conversation=conversation, role="assistant")
    ask = Ask(text=question, vaults=vaults, tool_use="auto")
    turn = Turn(
        ids=RunIds(run=message.pk, conversation=conversation.pk, message=message.pk),
        user_id=user.pk,
        user_message=message.pk,
        ask=ask,
        question=question,
        history=(),
        vaults=vaults,
        title="",
        is_first=True,
    )
    options = turn_options(user, ask, site_catalogue(), vaults=vaults)
    return Toolbox(turn, options, make_providing(FixedRetrieval()))


def look_into(box: Toolbox, tool: str, sources: tuple[Source, ...] = (), **given: Any) -> Found:
    return box.look_into(Wanted(tool, given), sources)


def written(vault: Vault, path: str, body: str) -> Note:
    """A note as the index knows it: by its names, with its headings."""
    headings = [
        {"level": len(found[1]), "text": found[2], "start": found.start()}
        for found in re.finditer(r"^(#+) (.+)$", body, re.MULTILINE)
    ]
    title = path.rsplit("/", 1)[-1].removesuffix(".md")
    keys = lookup_keys(title=title, aliases=(), path=path)
    return make_note(vault, path, body, headings=headings, lookup_keys=keys)


def texts(found: Found) -> list[str]:
    return [passage.text for passage in found.passages]


def test_a_section_is_read_under_its_heading(cast: Cast) -> None:
    note = written(cast.vault, "Ops/Pump.md", BODY)
    found = look_into(toolbox(cast.mate), "get_section", note="Ops/Pump.md", heading="Failure")
    assert texts(found) == ["## Failure\n\nThe seal was worn."]
    (passage,) = found.passages
    assert note.body[passage.start : passage.end] == passage.text
    assert passage.heading_path[-1] == "Failure"


@pytest.mark.parametrize("place", ["Pump", "pump", "[[Pump]]", "Ops/Pump"])
def test_a_note_is_found_by_title_and_by_path(cast: Cast, place: str) -> None:
    written(cast.vault, "Ops/Pump.md", BODY)
    assert "Ann did it." in texts(look_into(toolbox(cast.mate), "get_section", note=place))[0]


def test_the_section_around_a_passage_is_read_by_its_number(cast: Cast) -> None:
    note = written(cast.vault, "Ops/Pump.md", BODY)
    box = toolbox(cast.mate)
    at = BODY.index("seal")
    passage = make_passage(cast.vault, number=7, text="seal", title="Other")
    (source,) = add_sources(box.turn.ids.message, [passage])
    Source.objects.filter(pk=source.pk).update(note=note, start=at, end=at + 4)
    source.refresh_from_db()
    found = look_into(box, "get_section", (source,), note="7")
    assert texts(found) == ["## Failure\n\nThe seal was worn."]


def test_a_missing_heading_is_told_with_those_that_are_there(cast: Cast) -> None:
    written(cast.vault, "Ops/Pump.md", BODY)
    with pytest.raises(ToolFailed, match="It has: Pump; Failure; Repair"):
        look_into(toolbox(cast.mate), "get_section", note="Pump", heading="Price")


def test_a_long_section_comes_in_parts_that_make_the_whole(cast: Cast) -> None:
    note = written(cast.vault, "Log.md", "".join(f"Day {n}: it ran.\n" for n in range(900)))
    box = toolbox(cast.mate)
    parts = [look_into(box, "get_section", note="Log", part=n).passages[0] for n in (1, 2)]
    assert parts[0].tokens <= PART_TOKENS
    assert parts[1].start > parts[0].end
    assert note.body[parts[0].start : parts[1].end].startswith(parts[0].text)
    with pytest.raises(ToolFailed, match="parts"):
        look_into(box, "get_section", note="Log", part=500)


def test_missing_and_forbidden_notes_are_told_alike(cast: Cast) -> None:
    written(cast.foreign_vault, "Secret.md", "The code is 4711.")
    for box in (toolbox(cast.mate), toolbox(cast.mate, vaults=("team", "foreign"))):
        said = []
        for place in ("Secret", "Nothing"):
            with pytest.raises(ToolFailed) as failed:
                look_into(box, "get_section", note=place)
            said.append(str(failed.value).replace(place, "…"))
        assert said[0] == said[1]


def test_rights_are_asked_at_every_call(cast: Cast) -> None:
    written(cast.vault, "Pump.md", BODY)
    box = toolbox(cast.mate)
    assert look_into(box, "get_section", note="Pump").passages
    VaultMember.objects.filter(user=cast.mate).delete()
    with pytest.raises(ToolFailed):
        look_into(box, "get_section", note="Pump")


def test_hidden_folders_stay_hidden(cast: Cast) -> None:
    written(cast.vault, "HR/Pay.md", "Ann earns much.")
    VaultMember.objects.filter(user=cast.mate).update(hidden_folders=["HR"])
    with pytest.raises(ToolFailed):
        look_into(toolbox(cast.mate), "get_section", note="HR/Pay.md")


def test_a_tool_never_reaches_past_the_vaults_and_folders_of_the_question(cast: Cast) -> None:
    written(cast.vault, "Ops/Pump.md", BODY)
    written(cast.vault, "Lab/Valve.md", "The valve sticks.")
    with pytest.raises(ToolFailed):
        look_into(toolbox(cast.mate, vaults=()), "get_section", note="Valve")
    narrowed = toolbox(cast.mate, question="Why? path:Ops/")
    assert look_into(narrowed, "get_section", note="Pump").passages
    with pytest.raises(ToolFailed):
        look_into(narrowed, "get_section", note="Valve")


def test_similar_notes_give_their_beginnings(cast: Cast) -> None:
    model = make_embedding_model(cast.vault)
    make_vector(written(cast.vault, "Pump.md", BODY), model, 1, 0, 0, 0)
    make_vector(written(cast.vault, "Valve.md", "The valve sticks. " * 200), model, 1, 0.1, 0, 0)
    found = look_into(toolbox(cast.mate), "similar_notes", note="Pump")
    (passage,) = found.passages
    assert passage.path == "Valve.md"
    assert passage.text.startswith("The valve sticks.")


def test_without_vectors_similar_notes_says_why(cast: Cast) -> None:
    written(cast.vault, "Pump.md", BODY)
    found = look_into(toolbox(cast.mate), "similar_notes", note="Pump")
    assert found.passages == ()
    assert "no vector" in found.notices[0]
