"""A vault's own settings: what holds, and what is listed as wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault.core.settings_json import ModelEntry, VaultChat, parse_settings

WHOLE = """{
  "chat": {
    "provider": "openai",
    "model": "gpt-x",
    "system_prompt": "Answer as a gardener.",
    "providers": {
      "openai": {
        "models": [
          "gpt-x",
          {"name": "gpt-y", "label": "Y", "context_window": 32000, "max_output_tokens": 900}
        ]
      }
    }
  }
}"""


def reasons(document: Any) -> list[str]:
    return [problem.reason for problem in parse_settings(json.dumps(document)).problems]


def test_everything_that_may_be_settled_is_read() -> None:
    parsed = parse_settings(WHOLE)
    assert parsed.problems == ()
    assert parsed.chat == VaultChat(
        provider="openai",
        model="gpt-x",
        system_prompt="Answer as a gardener.",
        models=(
            ModelEntry("openai", "gpt-x", line=9),
            ModelEntry("openai", "gpt-y", "Y", 32000, 900, line=10),
        ),
    )


@pytest.mark.parametrize("text", ["{}", '{"chat": {}}', "\ufeff{}", ' {"chat":{"providers":{}}} '])
def test_a_file_that_settles_nothing_is_fine(text: str) -> None:
    parsed = parse_settings(text)
    assert (parsed.chat, parsed.problems, parsed.is_readable) == (VaultChat(), (), True)


def test_what_is_no_json_names_the_line_and_settles_nothing() -> None:
    parsed = parse_settings('{\n  "chat": {\n    "model": "x",\n  }\n}')
    assert not parsed.is_readable
    assert parsed.chat == VaultChat()
    [problem] = parsed.problems
    assert problem.line in {3, 4}
    assert problem.reason.startswith("It is not JSON: ")
    assert problem.mend


@pytest.mark.parametrize("text", ["[" * 100_000, '{"chat": ' * 20_000, "1" * 100_000])
def test_what_would_exhaust_a_reader_is_refused(text: str) -> None:
    assert not parse_settings(text).is_readable


PLACES = ["base_url", "baseUrl", "api_key", "API-Key", "key", "url", "headers", "kind", "api_base"]


@pytest.mark.parametrize("key", PLACES)
def test_a_vault_cannot_say_where_questions_go(key: str) -> None:
    section = {key: "https://elsewhere.example/v1", "models": [{"name": "m", key: "x"}]}
    document = {"chat": {key: "x", "providers": {"openai": section}}}
    parsed = parse_settings(json.dumps(document))
    assert parsed.chat == VaultChat(models=(ModelEntry("openai", "m", line=1),))
    refused = [problem.reason for problem in parsed.problems if "is refused" in problem.reason]
    assert len(refused) == 3
    assert f"chat.providers.openai.{key} is refused" in " ".join(refused)
    assert "elsewhere" not in str(parsed)


@pytest.mark.parametrize(
    ("chat", "reason"),
    [
        ({"modle": "x"}, "chat.modle is no setting; there are: provider, model"),
        ({"model": 3}, "chat.model must be a text in quotes."),
        ({"system_prompt": "x" * 20_001}, "chat.system_prompt has 20,001 characters"),
        ({"model": "a\0b"}, "chat.model holds characters that are no text"),
        ({"model": "\ud800"}, "chat.model holds characters that are no text"),
        ({"providers": []}, "chat.providers must be an object, in braces."),
        ({"providers": {"a": []}}, "chat.providers.a must be an object, in braces."),
        ({"providers": {"a": {"models": "m"}}}, "chat.providers.a.models must be a list of models"),
        ({"providers": {"a": {"models": [{}]}}}, "chat.providers.a.models[0] has no name"),
        ({"providers": {"a": {"models": [" "]}}}, "chat.providers.a.models[0] has no name"),
        ({"providers": {"a": {"models": [7]}}}, "chat.providers.a.models[0] must be an object"),
        ({"providers": {"a": {"models": ["m", "m"]}}}, "models[1] names “m” a second time"),
        (
            {"providers": {"a": {"models": [{"name": "m", "context_window": True}]}}},
            "models[0].context_window must be a whole number of tokens from 1 to 10,000,000",
        ),
        (
            {"providers": {"a": {"models": [{"name": "m", "max_output_tokens": -1}]}}},
            "models[0].max_output_tokens must be a whole number",
        ),
    ],
)
def test_a_wrong_setting_is_named_by_its_place(chat: Any, reason: str) -> None:
    assert any(reason in told for told in reasons({"chat": chat}))


@pytest.mark.parametrize("document", [[], "text", 3, None, True, {"chat": []}, {"chat": None}])
def test_another_form_is_a_problem_and_no_error(document: Any) -> None:
    assert len(reasons(document)) == 1


def test_what_is_wrong_in_one_place_leaves_the_rest_in_force() -> None:
    text = '{\n "chat": {\n\t"provider": 5,\n\t"model": "x",\n  "extra": 1\n }\n}'
    parsed = parse_settings(text)
    assert parsed.chat.model == "x"
    assert [(problem.line, bool(problem.mend)) for problem in parsed.problems] == [
        (5, True),
        (3, True),
    ]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["chat", "providers", "openai", "models", "name", "model", "label", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(json_values)
def test_no_document_is_an_error(document: Any) -> None:
    parsed = parse_settings(json.dumps({"chat": {"providers": document, "model": document}}))
    assert all(model.name for model in parsed.chat.models)


@given(st.text(max_size=200))
def test_no_text_is_an_error(text: str) -> None:
    parse_settings(text)
