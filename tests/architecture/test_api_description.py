"""The published description of the API against what the addresses answer."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import resolve, reverse
from jsonschema import Draft202012Validator

from chat.core.events import EventType
from tests.architecture.permissions import ROWS, Row
from tests.architecture.things import World, make_world
from tests.cast import make_cast
from tests.conftest import Written
from tests.retrieval.library import embed, make_embedding_model, write_note

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parents[1] / "chat" / "golden"
# The description itself.
NOT_DESCRIBED = {"schema", "api-docs"}
ANSWERS = [
    row
    for row in ROWS
    if row.name.startswith("api-")
    and row.name not in NOT_DESCRIBED
    and row.expected[0] in {200, 201}
    and "export" not in row.name
]


@cache
def description() -> dict[str, Any]:
    """The published description; a warning while it is made is a failure."""
    out = io.StringIO()
    command = ("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json")
    call_command(*command, stdout=out)
    made: dict[str, Any] = json.loads(out.getvalue())
    return made


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation)
        for path, methods in description()["paths"].items()
        for method, operation in methods.items()
    ]


def strict(schema: Any) -> Any:
    """The schema, where an object has no field but those that are described."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(value) for name, value in schema.items()}
    if isinstance(made.get("properties"), dict) and made.get("type") == "object":
        made.setdefault("additionalProperties", False)
    if made.get("nullable"):
        made = {"anyOf": [made, {"type": "null"}]}
    return made


@cache
def strict_components() -> Any:
    return strict(description()["components"])


def check(data: Any, schema: dict[str, Any]) -> None:
    """Fails, naming the place, when `data` is not as `schema` says."""
    whole = {**strict(schema), "components": strict_components()}
    problems = [
        f"{'/'.join(map(str, each.absolute_path))}: {each.message[:300]}"
        for each in Draft202012Validator(whole).iter_errors(data)
    ]
    assert not problems, "\n".join(problems[:5])


def described(row: Row, kwargs: dict[str, Any], status: int) -> dict[str, Any]:
    """What the description says of this call's answer."""
    match = resolve(reverse(row.name, kwargs=kwargs))
    pattern = "/" + match.route
    for name in kwargs:
        for kind in ("uuid", "int", "slug", "str"):
            pattern = pattern.replace(f"<{kind}:{name}>", f"{{{name}}}")
    answers = description()["paths"][pattern][row.method]["responses"]
    schema: dict[str, Any] = answers[str(status)]["content"]["application/json"]["schema"]
    return schema


@pytest.fixture(scope="module")
def kept_world(kept_rows: Written) -> World:
    with kept_rows():
        made = make_world(make_cast())
        write_note(made.cast.vault, "Ops/Pumps.md", "# Pumps\n\nThe heron stands by the blue pump.")
        embed(made.cast.vault, make_embedding_model())
    return made


@pytest.fixture
def world(db: None, kept_world: World) -> World:
    """The same for every test; what a test does to it is undone."""
    return kept_world


def test_every_address_is_described_with_its_answer() -> None:
    paths = {path for path, _method, _operation in operations()}
    assert {"/api/search", "/api/notes/{note_id}/section", "/v1/chat/completions"} <= paths
    for path, method, operation in operations():
        where = f"{method} {path}"
        assert operation.get("description") or operation.get("summary"), where
        assert {"token": []} in operation["security"], where
        for status, answer in operation["responses"].items():
            for content in answer.get("content", {}).values():
                free = content["schema"].get("additionalProperties") == {}
                assert not free, f"{where}: {status} says nothing of its shape"


@pytest.mark.parametrize("row", ANSWERS, ids=str)
def test_answers_are_as_described(row: Row, world: World) -> None:
    client, kwargs = Client(), row.kwargs(world)
    client.force_login(world.cast.owner)
    options = {"content_type": "application/json"} if row.method != "get" else {}
    reply = getattr(client, row.method)(reverse(row.name, kwargs=kwargs), row.data, **options)
    assert reply.status_code == row.expected[0]
    check(reply.json(), described(row, kwargs, reply.status_code))


def test_examples_are_as_described() -> None:
    checked = 0
    for _path, _method, operation in operations():
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        for content in (body.get("content", {}).get("application/json", {}) for body in bodies):
            for example in content.get("examples", {}).values():
                check(example["value"], content["schema"])
                checked += 1
    assert checked >= 8


@pytest.mark.parametrize("kind", list(EventType))
def test_events_are_as_described(kind: EventType) -> None:
    event = json.loads((GOLDEN / f"{kind}.json").read_text())
    schemas = description()["components"]["schemas"]
    name = schemas["AnswerEvent"]["discriminator"]["mapping"][str(kind)].rsplit("/", 1)[-1]
    check(event, schemas[name])


def test_what_is_not_described_is_noticed() -> None:
    event = json.loads((GOLDEN / "delta.json").read_text())
    delta = description()["components"]["schemas"]["DeltaEvent"]
    with pytest.raises(AssertionError, match="colour"):
        check({**event, "colour": "red"}, delta)
    del event["text"]
    with pytest.raises(AssertionError, match="text"):
        check(event, delta)
