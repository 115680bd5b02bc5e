"""A vault's own settings: what its `secondbrain.json` says, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

LONGEST_PROMPT = 20_000
LONGEST_NAME = 200
MOST_TOKENS = 10_000_000
# Where calls go and with which key is the site's to say: whoever may write notes could
# otherwise send a team's questions elsewhere.
PLACES_AND_KEYS = frozenset(
    {"api_base", "auth", "authorization", "base_url", "base_url_variable", "baseurl", "endpoint"}
    | {"headers", "host", "kind", "password", "proxy", "secret", "token", "url"}
)
_CHAT_KEYS = ("provider", "model", "system_prompt", "providers")
_MODEL_KEYS = ("name", "label", "context_window", "max_output_tokens")
_WHERE_TO_READ = "The handbook's page about providers shows the form."

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class SettingsProblem:
    """What is wrong with a settings file, how to mend it, and the line, from 1."""

    reason: str
    mend: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A chat model that the vault adds to a provider of the site, or overrides there.

    None and "": as the site has it. Sizes are in tokens.
    """

    provider: str
    name: str
    label: str = ""
    context_window: int | None = None
    max_output_tokens: int | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class VaultChat:
    """What stands under `chat`; "" and (): not chosen."""

    provider: str = ""
    model: str = ""
    system_prompt: str = ""
    models: tuple[ModelEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedSettings:
    """What of the file can be used, and its problems. `is_readable`: it is JSON at all."""

    chat: VaultChat
    problems: tuple[SettingsProblem, ...]
    is_readable: bool = True


def parse_settings(text: str) -> ParsedSettings:
    """What `text` settles. A wrong setting becomes a problem and the others hold."""
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except json.JSONDecodeError as error:
        return _unreadable(f"It is not JSON: {error.msg}.", error.lineno)
    except (ValueError, RecursionError):
        return _unreadable("It is not JSON that can be read: too deep, or too long a number.", None)
    reader = _Reader(text)
    chat = reader.read(document)
    return ParsedSettings(chat, tuple(reader.problems))


def _unreadable(reason: str, line: int | None) -> ParsedSettings:
    mend = "Correct the file; until then the settings that were read before hold."
    return ParsedSettings(VaultChat(), (SettingsProblem(reason, mend, line),), is_readable=False)


class _Reader:
    """Walks the document, and lists what is wrong with it."""

    def __init__(self, text: str) -> None:
        self.problems: list[SettingsProblem] = []
        self._text = text
        self._lines: dict[Place, int] | None = None

    def read(self, document: Any) -> VaultChat:
        top = self._object(document, ())
        self._refuse_others(top, ("chat",), ())
        chat = self._object(top.get("chat", {}), ("chat",))
        self._refuse_others(chat, _CHAT_KEYS, ("chat",))
        return VaultChat(
            provider=self._text_of(chat, "provider", ("chat",)),
            model=self._text_of(chat, "model", ("chat",)),
            system_prompt=self._text_of(chat, "system_prompt", ("chat",), most=LONGEST_PROMPT),
            models=tuple(self._models(chat.get("providers", {}))),
        )

    def _models(self, providers: Any) -> Iterator[ModelEntry]:
        place: Place = ("chat", "providers")
        for slug, section in self._object(providers, place).items():
            here = (*place, slug)
            fields = self._object(section, here)
            self._refuse_others(fields, ("models",), here)
            yield from self._models_of(slug, fields.get("models", []), (*here, "models"))

    def _models_of(self, slug: str, rows: Any, place: Place) -> Iterator[ModelEntry]:
        if not isinstance(rows, list):
            self._wrong(place, "must be a list of models")
            return
        seen: set[str] = set()
        for number, row in enumerate(rows):
            model = self._model(slug, row, (*place, number))
            if model is None:
                continue
            if model.name in seen:
                self._wrong((*place, number), f"names “{model.name}” a second time")
                continue
            seen.add(model.name)
            yield model

    def _model(self, slug: str, row: Any, place: Place) -> ModelEntry | None:
        """A model as an object, or its name alone; None for what has no name."""
        fields = {"name": row} if isinstance(row, str) else self._object(row, place)
        self._refuse_others(fields, _MODEL_KEYS, place)
        name = self._text_of(fields, "name", place)
        if not name:
            if isinstance(row, (str, dict)) and not isinstance(fields.get("name"), (int, list)):
                self._wrong(place, "has no name: the name by which the provider knows the model")
            return None
        return ModelEntry(
            provider=slug,
            name=name,
            label=self._text_of(fields, "label", place),
            context_window=self._tokens(fields, "context_window", place),
            max_output_tokens=self._tokens(fields, "max_output_tokens", place),
            line=self._line(place),
        )

    def _object(self, value: Any, place: Place) -> Mapping[str, Any]:
        if isinstance(value, dict):
            return value
        self._wrong(place, "must be an object, in braces")
        return {}

    def _text_of(
        self, fields: Mapping[str, Any], key: str, place: Place, *, most: int = LONGEST_NAME
    ) -> str:
        value = fields.get(key, "")
        if not isinstance(value, str):
            self._wrong((*place, key), "must be a text in quotes")
            return ""
        if len(value) > most:
            self._wrong((*place, key), f"has {len(value):,} characters; {most:,} are the most")
            return ""
        if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value):
            self._wrong((*place, key), "holds characters that are no text")
            return ""
        return value.strip()

    def _tokens(self, fields: Mapping[str, Any], key: str, place: Place) -> int | None:
        value = fields.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MOST_TOKENS:
            return value
        self._wrong((*place, key), f"must be a whole number of tokens from 1 to {MOST_TOKENS:,}")
        return None

    def _refuse_others(
        self, fields: Mapping[str, Any], known: tuple[str, ...], place: Place
    ) -> None:
        for key in fields:
            if key in known:
                continue
            if key.lower().replace("-", "_") in PLACES_AND_KEYS or "key" in key.lower():
                self._refuse_place(key, (*place, key))
            else:
                self._wrong((*place, key), f"is no setting; there are: {', '.join(known)}")

    def _refuse_place(self, key: str, place: Place) -> None:
        self.problems.append(
            SettingsProblem(
                f"{_path_of(place)} is refused: a file of a vault cannot say where questions "
                "are sent, nor with which key.",
                f"Remove “{key[:LONGEST_NAME]}”. An admin adds providers; then name their "
                "models here.",
                self._line(place),
            )
        )

    def _wrong(self, place: Place, what: str) -> None:
        subject = _path_of(place) or "The file"
        reason = f"{subject} {what}."
        self.problems.append(SettingsProblem(reason, _WHERE_TO_READ, self._line(place)))

    def _line(self, place: Place) -> int | None:
        if self._lines is None:
            self._lines = _lines_of(self._text)
        return self._lines.get(place)


def _path_of(place: Place) -> str:
    """`chat.providers.openai.models[1]`"""
    path = ""
    for part in place:
        path += f"[{part}]" if isinstance(part, int) else f".{part[:LONGEST_NAME]}"
    return path.removeprefix(".")


def _lines_of(text: str) -> dict[Place, int]:
    """The line of every key and element of a JSON text, which YAML can read as well."""
    try:
        root = yaml.compose(text.removeprefix("\ufeff").replace("\t", " "), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return {}
    lines: dict[Place, int] = {}
    todo: list[tuple[Place, Any]] = [((), root)]
    while todo:
        place, node = todo.pop()
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                here: Place = (*place, str(key.value))
                lines[here] = key.start_mark.line + 1
                todo.append((here, value))
        elif isinstance(node, yaml.SequenceNode):
            for number, value in enumerate(node.value):
                lines[(*place, number)] = value.start_mark.line + 1
                todo.append(((*place, number), value))
    return lines
