"""What a search asks for, read from an address, a command line or a script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from django.utils.translation import gettext as _

from retrieval.core.filters import (
    KINDS,
    Filter,
    UnreadableFilter,
    as_filter,
    check_filters,
    take_filters,
)
from retrieval.core.query import (
    LONGEST_QUERY,
    LONGEST_TYPED,
    MOST_OPERATORS,
    clean,
    parse_query,
    straight_quotes,
)
from retrieval.core.types import Mode
from retrieval.filters import suggestions_for, unknown_filter
from vault.access import User, scope_for, visible_to
from vault.core.types import Scope

DEFAULT_LIMIT = 20
# Filters that may stand beside a query as parameters; vaults are chosen by `slugs`.
CHOSEN = ("folder", "path", "tag", "prop", "kind", "after", "before")


class Unreadable(ValueError):
    """A parameter that means nothing here; `str()` says which values would.

    Where it is a filter, `raw` is how it was typed and `near` what may have been meant.
    """

    def __init__(self, name: str, message: str, *, raw: str = "", near: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.raw = raw
        self.near = tuple(near)


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as wanted. `slugs` are the vaults it was narrowed to; none: all.

    `query` is what was typed, `chosen` the filters beside it by name, `text` both as one
    query, `filters` all filters of `text`.
    """

    query: str
    mode: Mode
    scope: Scope
    limit: int
    slugs: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    text: str = ""
    chosen: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A search as it came in: `chosen` are filters beside the query, by their name."""

    query: str
    mode: str = ""
    slugs: Sequence[str] = ()
    limit: str | int = ""
    chosen: Mapping[str, Sequence[str]] = field(default_factory=dict)


def read_asked(user: User, given: Given) -> Asked:
    """Check and resolve what was asked. Raises Unreadable with what would be right.

    A vault that exists but may not be read is as unknown as one that does not.
    """
    named = tuple(dict.fromkeys(slug for slug in given.slugs if slug))
    check_vaults(user, named)
    query = straight_quotes(clean(given.query, most=len(given.query)))
    chosen = tuple(
        (name, clean(value, most=len(value)))
        for name in CHOSEN
        for value in given.chosen.get(name, ())
        if clean(value)
    )
    _check_chosen(chosen)
    beside = [as_filter(name, value) for name, value in chosen]
    text = " ".join(filter(None, (query, *beside)))
    _check_size(text)
    asked = Asked(
        query=query,
        mode=_mode(given.mode),
        scope=scope_for(user, named or None),
        limit=_limit(given.limit),
        slugs=named,
        filters=take_filters(text)[1],
        text=text,
        chosen=chosen,
    )
    _check_filters(asked)
    return asked


def _check_size(text: str) -> None:
    """What is over a limit is refused: a filter that is cut away would let everything through."""
    if len(text) > LONGEST_TYPED:
        said = _("The query has %(length)d characters with its filters; at most %(most)d are read.")
        raise Unreadable("q", said % {"length": len(text), "most": LONGEST_TYPED})
    query = parse_query(text, operators=True)
    if query.operators > MOST_OPERATORS:
        said = _(
            "The query has %(count)d filters, phrases and excluded words; at most %(most)d can "
            "be put into one search."
        )
        raise Unreadable("q", said % {"count": query.operators, "most": MOST_OPERATORS})
    values = (each.value for each in query.filters)
    for part in (*query.phrases, *query.excluded, *query.excluded_phrases, *values):
        if len(part) > LONGEST_QUERY:
            said = _("“%(part)s” is too long: a phrase or filter has at most %(most)d characters.")
            raise Unreadable("q", said % {"part": _short(part), "most": LONGEST_QUERY})


def _check_chosen(chosen: Sequence[tuple[str, str]]) -> None:
    for name, value in chosen:
        try:
            check_filters(as_filter(name, value))
        except UnreadableFilter as error:
            raise Unreadable(name, _mend(error)) from error


def _check_filters(asked: Asked) -> None:
    try:
        check_filters(asked.query)
    except UnreadableFilter as error:
        raise Unreadable("q", _mend(error)) from error
    unknown = unknown_filter(asked.filters, asked.scope) if asked.scope else None
    if unknown is None:
        return
    near = [_as_typed(unknown, name) for name in suggestions_for(unknown, asked.scope)]
    mend = (
        _("Did you mean %(filters)s?") % {"filters": _listed(near)}
        if near
        else _("No note here has one.")
    )
    text = _("No note fits %(filter)s.") % {"filter": _short(unknown.raw)}
    raise Unreadable("q", f"{text} {mend}", raw=unknown.raw, near=near)


def _mend(error: UnreadableFilter) -> str:
    wanted = {
        "after": _("It takes a day, as in after:2026-01-31, and finds notes from that day on."),
        "before": _("It takes a day, as in before:2026-01-31, and finds notes before that day."),
        "tag": _("It takes a tag, as in tag:project/alpha."),
        "path": _("It takes the beginning of a path, as in path:Projects/."),
        "folder": _("It takes a folder, as in folder:Projects."),
        "prop": _("It takes a property and its value, as in [status:draft]."),
        "vault": _("It takes the short name of a vault, as in vault:handbook."),
        "kind": _("It takes %(kinds)s.") % {"kinds": _listed([f"kind:{kind}" for kind in KINDS])},
    }
    return _("“%(filter)s” is no filter. %(mend)s To search for it as text, put it in quotes.") % {
        "filter": _short(error.raw),
        "mend": wanted[error.name],
    }


def _as_typed(like: Filter, name: str) -> str:
    """A filter for `name` as one would type it."""
    if like.name == "prop":
        key, _equals, value = name.partition("=")
        return f"[{key}:{value}]"
    return as_filter(like.name, name)


def _mode(value: str) -> Mode:
    if not value:
        return Mode.HYBRID
    try:
        return Mode(value)
    except ValueError:
        raise Unreadable(
            "mode",
            _("There is no mode “%(value)s”. Choose %(modes)s.")
            % {"value": _short(value), "modes": _listed([str(mode) for mode in Mode])},
        ) from None


def _limit(value: str | int) -> int:
    if value == "":
        return DEFAULT_LIMIT
    try:
        return int(value)
    except ValueError:
        raise Unreadable(
            "limit",
            _("The limit “%(value)s” is not a whole number. Try limit=%(default)d.")
            % {"value": _short(str(value)), "default": DEFAULT_LIMIT},
        ) from None


def check_vaults(user: User, named: Iterable[str]) -> None:
    """Raise Unreadable for a slug of no vault that `user` may read, with what is like it.

    Missing and forbidden vaults get the same words, and only readable ones are named.
    """
    named = tuple(named)
    if not named:
        return
    readable = sorted(visible_to(user).values_list("slug", flat=True))
    for slug in named:
        if slug in readable:
            continue
        near = get_close_matches(slug, readable, n=3) or readable[:10]
        mend = (
            _("Did you mean %(vaults)s?") % {"vaults": _listed(near)}
            if near
            else _("There is no vault that you may read.")
        )
        raise Unreadable("vault", _("No vault “%(slug)s”.") % {"slug": _short(slug)} + " " + mend)


def _listed(values: Sequence[str]) -> str:
    if len(values) < 2:
        return "".join(values)
    return _("%(first)s or %(last)s") % {"first": ", ".join(values[:-1]), "last": values[-1]}


def _short(value: str) -> str:
    printable = clean(value)
    return printable if len(printable) <= 60 else printable[:59] + "…"
