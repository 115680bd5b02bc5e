"""The knobs of a search as a form: what a page offers to turn, and what came back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from django.utils.translation import gettext as _

from retrieval.core.types import Fusion, Knobs, Mode

# Knobs that order candidates; the others choose what of them goes into an answer.
RANKING = (
    *("mode", "fusion", "keyword_weight", "depth", "rrf_k", "ef_search"),
    *("note_vectors", "code_path", "rerank"),
)
ASSEMBLY = ("alternates", "neighbours", "linked_notes", "chunks_per_note", "token_budget")
LIMITS = {
    "depth": (10, 500),
    "rrf_k": (1, 1000),
    "keyword_weight": (0, 100),
    "ef_search": (40, 1000),
    "neighbours": (0, 5),
    "chunks_per_note": (1, 20),
    "token_budget": (200, 200_000),
}
_OFF, _ON = "off", "on"


@dataclass(frozen=True, slots=True)
class KnobField:
    """One control. `kind` is "choice" (of `choices`: value, label) or "number"."""

    name: str
    label: str
    kind: str
    value: str
    help: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    least: int = 0
    most: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class KnobForm:
    """Controls with their values, and the knobs they stand for: where a value means
    nothing, its field says so and the knob keeps what it was."""

    fields: tuple[KnobField, ...]
    knobs: Knobs

    @property
    def is_valid(self) -> bool:
        return not any(field.error for field in self.fields)


def knob_form(
    data: Mapping[str, str], base: Knobs, *, prefix: str = "", names: Iterable[str] = RANKING
) -> KnobForm:
    """The controls of `names`, called `<prefix><name>`, with what `data` says of them.

    What `data` does not hold is as in `base`.
    """
    knobs = base
    made: list[KnobField] = []
    for name in names:
        given = data.get(prefix + name)
        value, error = getattr(base, name), ""
        if given is not None:
            try:
                value = _read(name, given, value)
            except ValueError as wrong:
                error = str(wrong)
        knobs = replace(knobs, **{name: value})
        shown = given[:40] if error and given is not None else _shown(value)
        made.append(_field(prefix + name, name, shown, error))
    return KnobForm(tuple(made), knobs)


def knob_query(knobs: Knobs, base: Knobs, *, prefix: str = "") -> dict[str, str]:
    """The parameters of an address that turn `base` into `knobs`."""
    return {
        prefix + each.name: _shown(getattr(knobs, each.name))
        for each in fields(Knobs)
        if getattr(knobs, each.name) != getattr(base, each.name)
    }


def describe(knobs: Knobs, base: Knobs) -> str:
    """In words what of `knobs` differs from `base`."""
    labels = _labels()
    values = {each.name: getattr(knobs, each.name) for each in fields(Knobs)}
    different = [
        f"{labels.get(name, (name,))[0]} {_choice_label(name, _shown(value))}"
        for name, value in values.items()
        if value != getattr(base, name)
    ]
    return ", ".join(different) or _("as set")


def _read(name: str, given: str, current: Any) -> Any:
    """A value as typed. Raises ValueError with what would be right."""
    if isinstance(current, StrEnum):
        kind = type(current)
        if given not in list(kind):
            raise ValueError(_("Choose one of %(all)s.") % {"all": ", ".join(kind)})
        return kind(given)
    if isinstance(current, bool):
        if given not in {_ON, _OFF}:
            raise ValueError(_("Choose on or off."))
        return given == _ON
    least, most = LIMITS[name]
    if not given.isascii() or not given.isdigit() or not least <= int(given) <= most:
        raise ValueError(
            _("Give a whole number from %(least)d to %(most)d.") % {"least": least, "most": most}
        )
    return int(given)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return _ON if value else _OFF
    if isinstance(value, tuple):
        return " ".join(each.raw for each in value)
    return str(value)


def _field(full_name: str, name: str, value: str, error: str) -> KnobField:
    label, help_text = _labels()[name]
    choices = _choices().get(name, ())
    least, most = LIMITS.get(name, (0, 0))
    kind = "choice" if choices else "number"
    return KnobField(full_name, label, kind, value, help_text, choices, least, most, error)


def _choice_label(name: str, value: str) -> str:
    return dict(_choices().get(name, ())).get(value, value)


def _labels() -> dict[str, tuple[str, str]]:
    return {
        "mode": (_("Arms"), _("Which ways of looking take part.")),
        "fusion": (_("Fusion"), _("How their lists become one: by rank is RRF.")),
        "keyword_weight": (_("Keywords count"), _("Percent of the score; the rest is meaning.")),
        "depth": (_("Depth"), _("Candidates of each arm, more than are shown.")),
        "ef_search": (_("ef_search"), _("Neighbours the vector index looks at, if asked.")),
        "code_path": (_("Code"), _("Looked for by itself, if a question may be about it.")),
        "note_vectors": (
            _("Whole notes"),
            _("Those that are near bring passages, where the vector index is asked."),
        ),
        "rrf_k": (_("RRF k"), _("Only for reciprocal rank.")),
        "rerank": (_("Rerank"), _("A model orders the best candidates again.")),
        "neighbours": (_("Neighbours"), _("Passages before and after a hit.")),
        "chunks_per_note": (_("Per note"), _("Passages of one note at most.")),
        "token_budget": (_("Tokens"), _("Of all passages together.")),
        "passages": (_("Passages"), _("Given to the model.")),
        "alternates": (_("Alternates"), _("Other wordings of a broad question.")),
        "linked_notes": (_("Linked notes"), _("Notes that a hit links to come along.")),
        "filters": (_("Filters"), _("Which notes may be found.")),
    }


def _choices() -> dict[str, tuple[tuple[str, str], ...]]:
    switch = ((_ON, _("on")), (_OFF, _("off")))
    return {
        "mode": (
            (str(Mode.HYBRID), _("both")),
            (str(Mode.KEYWORD), _("keywords alone")),
            (str(Mode.SEMANTIC), _("meaning alone")),
        ),
        "fusion": (
            (str(Fusion.CONVEX), _("by score")),
            (str(Fusion.RRF), _("by rank")),
        ),
        "code_path": switch,
        "note_vectors": switch,
        "rerank": switch,
        "alternates": switch,
        "linked_notes": switch,
    }
