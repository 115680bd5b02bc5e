"""The tools of agents: small pointers, single sections, the rights of a token."""

from __future__ import annotations

from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from secondbrain.mcp_arguments import ToolRefused
from secondbrain.mcp_tools import Agent, as_text, call_tool, tools
from tests.cast import Cast
from tests.retrieval.library import embed, make_embedding_model, write_markdown
from vault.core.tokens import estimate_tokens
from vault.models import ApiToken, Note, Vault
from vault.note_vectors import write_note_vectors
from vault.sections import split_parts
from vault.tokens import create_token, find_token

pytestmark = pytest.mark.django_db(transaction=True)

LONG = "\n\n".join(f"Paragraph {n} about the boiler and its valves." for n in range(300))
NOTE = f"""---
tags: [ops]
status: draft
---
Before any heading stands the mill.

# Pumps

The pumps of the mill.

## Blue pump

The blue pump stands in the cellar.

### Seal

Its seal is worn.

## Boiler

{LONG}
"""


@pytest.fixture
def library(cast: Cast) -> Cast:
    write_markdown(cast.vault, "Ops/Pumps.md", NOTE)
    write_markdown(cast.vault, "Ops/Valves.md", "# Valves\n\nThe red valve of the mill.\n")
    write_markdown(cast.foreign_vault, "Secret.md", "# Secret\n\nThe blue pump of others.\n")
    embed(cast.vault, make_embedding_model())
    return cast


def agent_of(user: Any) -> Agent:
    token = find_token(create_token(user))
    assert token is not None
    return Agent(user_id=user.pk, token_id=token.pk)


def call(user: Any, name: str, **arguments: Any) -> dict[str, Any]:
    return async_to_sync(call_tool)(agent_of(user), name, arguments)


def refusal(user: Any, name: str, **arguments: Any) -> ToolRefused:
    with pytest.raises(ToolRefused) as refused:
        call(user, name, **arguments)
    return refused.value


def note_of(path: str) -> Note:
    return Note.objects.get(path=path)


def test_a_search_gives_pointers_with_what_following_them_costs(library: Cast) -> None:
    reply = call(library.owner, "search", query="blue pump cellar")
    first = reply["results"][0]
    number = note_of("Ops/Pumps.md").pk
    assert first["section"].startswith(f"{number}@")
    assert first["breadcrumb"] == "team > Ops/Pumps.md > Pumps > Blue pump"
    assert first["snippet"] == "The blue pump stands in the cellar."
    section = call(library.owner, "get_section", section=first["section"])
    assert first["section_tokens"] == estimate_tokens(section["text"])
    assert reply["tokens"] == estimate_tokens(
        as_text({name: value for name, value in reply.items() if name != "tokens"})
    )


def test_copies_are_one_pointer_that_names_a_few_of_them(library: Cast) -> None:
    for number in range(5):
        write_markdown(
            library.vault, f"Old/{number}.md", "# Valves\n\nThe red valve of the mill.\n"
        )
    reply = call(library.owner, "search", query="red valve", limit=20)
    names = [row["breadcrumb"] for row in reply["results"] if "Valves" in row["breadcrumb"]]
    assert len(names) == 1
    said = next(row["also_in"] for row in reply["results"] if row["breadcrumb"] == names[0])
    assert len(said) == 4
    assert said[-1] == "and 2 more"
    files = {"Ops/Valves.md", *(f"Old/{number}.md" for number in range(5))}
    told = {each.removeprefix("team > ") for each in said[:3]}
    assert told <= files
    assert not any(path in names[0] for path in told)


def test_around_a_hit_only_a_few_sentences_are_read_and_more_is_a_step_away(
    library: Cast,
) -> None:
    hit = call(library.owner, "search", query="boiler paragraph 150")["results"][0]
    assert hit["snippet"] == "Paragraph 150 about the boiler and its valves."
    around = call(library.owner, "get_section", section=hit["section"], around=True)
    assert "Paragraph 150 " in around["text"]
    assert around["more"] == "before and after"
    assert around["tokens"] < 130 < hit["section_tokens"]

    def step(steps: int) -> str:
        reply = call(library.owner, "get_section", section=hit["section"], around=True, steps=steps)
        return str(reply["text"])

    joined = "\n\n".join([step(-1), around["text"], step(1), step(2)])
    assert joined in note_of("Ops/Pumps.md").body


def test_no_step_leads_out_of_a_section(library: Cast) -> None:
    hit = call(library.owner, "search", query="blue pump cellar")["results"][0]
    refused = refusal(library.owner, "get_section", section=hit["section"], around=True, steps=-1)
    assert str(refused) == "The section has no more than 0 steps before this place."
    refused = refusal(library.owner, "get_section", section=hit["section"], steps=1)
    assert "around" in str(refused)


def test_a_window_ends_with_its_section(library: Cast) -> None:
    hit = call(library.owner, "search", query="blue pump cellar")["results"][0]
    around = call(library.owner, "get_section", section=hit["section"], around=True)
    assert around == {
        "text": "The blue pump stands in the cellar.",
        "tokens": around["tokens"],
    }


def test_a_pointer_to_a_text_that_is_gone_lists_the_sections_and_gives_no_text(
    library: Cast,
) -> None:
    pointer = call(library.owner, "search", query="blue pump cellar")["results"][0]["section"]
    note = note_of("Ops/Pumps.md")
    note.body = note.body.replace("The blue pump stands", "A blue pump stands now")
    note.save()
    for around in (True, False):
        refused = refusal(library.owner, "get_section", section=pointer, around=around)
        assert "has not the text that was found there any more" in str(refused)
        assert f"{note.pk}#Pumps > Boiler" in refused.more["sections"]
        assert "cellar" not in as_text({"error": str(refused), **refused.more})
    named = refusal(library.owner, "get_section", section=f"{note.pk}#Pumps", around=True)
    assert "names a whole section" in str(named)


def test_a_section_is_read_alone_and_tells_what_is_below(library: Cast) -> None:
    number = note_of("Ops/Pumps.md").pk
    reply = call(library.owner, "get_section", section=f"{number}#Pumps > Blue pump")
    assert reply["text"] == "## Blue pump\n\nThe blue pump stands in the cellar."
    assert reply["below"] == [f"{number}#Pumps > Blue pump > Seal"]
    whole = call(library.owner, "get_section", section=f"{number}#Blue pump", below=True)
    assert "Its seal is worn." in whole["text"]
    assert "below" not in whole
    start = call(library.owner, "get_section", section=f"{number}#")
    assert start["text"] == "Before any heading stands the mill."


def test_a_pointer_that_leads_nowhere_lists_the_sections_and_gives_no_text(library: Cast) -> None:
    number = note_of("Ops/Pumps.md").pk
    refused = refusal(library.owner, "get_section", section=f"{number}#Pumps > Green pump")
    assert "has no section “Pumps > Green pump”" in str(refused)
    assert refused.more["sections"] == [
        f"{number}#Pumps",
        f"{number}#Pumps > Blue pump",
        f"{number}#Pumps > Blue pump > Seal",
        f"{number}#Pumps > Boiler",
    ]
    assert "cellar" not in as_text({"error": str(refused), **refused.more})


def test_a_long_section_comes_in_parts_that_are_the_whole(library: Cast) -> None:
    pointer = f"{note_of('Ops/Pumps.md').pk}#Boiler"
    first = call(library.owner, "get_section", section=pointer)
    count = int(first["part"].split(" of ")[1])
    texts = [
        call(library.owner, "get_section", section=pointer, part=n + 1)["text"]
        for n in range(count)
    ]
    assert count > 1
    assert "".join(texts) == f"## Boiler\n\n{LONG}"
    assert "parts" in str(refusal(library.owner, "get_section", section=pointer, part=count + 1))


@given(st.text(max_size=400))
def test_parts_joined_are_the_text(text: str) -> None:
    assert "".join(split_parts(text, most=10)) == text


@pytest.mark.parametrize(
    "pointer", ["", "x", "12", "#Pumps", "9" * 30 + "#", "0#", "0@1-2", "@1-2"]
)
def test_what_is_no_pointer_is_refused(library: Cast, pointer: str) -> None:
    for name in ("get_section", "similar_notes"):
        assert "Take “section” from a result" in str(refusal(library.owner, name, section=pointer))


def test_a_forbidden_note_is_as_unknown_as_a_missing_one(library: Cast) -> None:
    secret = note_of("Secret.md").pk
    assert "others" not in as_text(call(library.owner, "search", query="blue pump of others"))
    forbidden = refusal(library.owner, "get_section", section=f"{secret}#Secret")
    missing = refusal(library.owner, "get_section", section="999999#Secret")
    assert (str(forbidden), forbidden.more) == (str(missing), missing.more)
    assert call(library.outsider, "get_section", section=f"{secret}#Secret")["text"]


def test_filters_are_arguments(library: Cast) -> None:
    assert len(call(library.owner, "search", query="mill", tag=["ops"])["results"]) == 1
    found = call(library.owner, "search", query="", prop="status=draft")["results"]
    assert [row["breadcrumb"].split(" > ")[1] for row in found] == ["Ops/Pumps.md"]
    assert call(library.owner, "search", query="mill", after=["2027"])["results"] == []
    assert "Did you mean tag:ops?" in str(
        refusal(library.owner, "search", query="mill", tag=["opps"])
    )
    assert "Did you mean team?" in str(
        refusal(library.owner, "search", query="mill", vaults=["foreign"])
    )


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("search", {"query": 3}, "“query” must be a string."),
        ("search", {"query": "x", "limit": 0}, "“limit” must be a whole number from 1 to 20."),
        ("search", {"query": "x", "limit": True}, "“limit” must be a whole number"),
        ("search", {"query": "x", "tag": [1]}, "“tag” must be a list"),
        ("search", {"query": "x", "mode": "odd"}, "There is no mode “odd”."),
        ("search", {"query": "x", "colour": "red"}, "“search” takes no “colour”."),
        ("get_section", {}, "“section” must be a string."),
        ("get_section", {"section": "1#", "below": "no"}, "“below” must be true or false."),
        ("get_section", {"section": "1#", "around": 1}, "“around” must be true or false."),
        ("dig", {}, "There is no tool “dig”."),
    ],
)
def test_a_call_that_means_nothing_is_told_what_would(
    library: Cast, name: str, arguments: dict[str, Any], said: str
) -> None:
    assert said in str(refusal(library.owner, name, **arguments))


def test_who_is_suspended_or_lost_the_token_may_do_nothing(library: Cast) -> None:
    agent = agent_of(library.owner)
    ApiToken.objects.all().delete()
    with pytest.raises(ToolRefused, match="make a new token"):
        async_to_sync(call_tool)(agent, "search", {"query": "mill"})
    agent = agent_of(library.mate)
    library.mate.is_active = False
    library.mate.save()
    for name in tools():
        arguments = {"query": "x", "question": "x", "section": "1#"}
        taken = {key: arguments[key] for key in tools()[name].required}
        with pytest.raises(ToolRefused, match="make a new token"):
            async_to_sync(call_tool)(agent, name, taken)


def test_similar_notes_are_pointers_too(library: Cast) -> None:
    pointer = f"{note_of('Ops/Pumps.md').pk}#Pumps"
    assert call(library.owner, "similar_notes", section=pointer)["notices"]
    model = Vault.objects.get(pk=library.vault.pk).embedding_model
    assert model is not None
    write_note_vectors(library.vault.pk, model)
    rows = call(library.owner, "similar_notes", section=pointer)["results"]
    assert [row["title"] for row in rows] == ["Valves"]
    assert rows[0]["section"] == f"{note_of('Ops/Valves.md').pk}#"


def test_without_chat_nothing_can_be_asked(settings: Any) -> None:
    assert "ask" in tools()
    settings.MODULES = []
    assert "ask" not in tools()


QUERIES = (
    "blue pump", "mill", "seal", "valve red", "boiler paragraph 7", "tag:ops mill", "Pumps",
    '"blue pump"', "mill -red", "kind:note", "[status:draft]", "where does the pump stand?",
)  # fmt: skip


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
def test_scripts_pages_and_agents_get_the_same_notes_in_the_same_order(
    library: Cast, mode: str
) -> None:
    client = Client()
    client.force_login(library.owner)
    for query in QUERIES:
        params: dict[str, str | int] = {"q": query, "mode": mode, "limit": 20}
        rest = client.get("/api/search", params).json()
        mine = call(library.owner, "search", query=query, mode=mode, limit=20)
        page = client.get("/search", {"q": query, "mode": mode}).content.decode()
        ids = [row["note_id"] for row in rest["results"]]
        assert [int(row["section"].split("@")[0]) for row in mine["results"]] == ids, query
        titles = [row["title"] for row in rest["results"]]
        places = [page.find(f"<h2>{title}</h2>") for title in titles]
        assert places == sorted(places), query
        assert -1 not in places, query
