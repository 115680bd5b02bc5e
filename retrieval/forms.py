"""What a search asks for, read from an address, a command line or a script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from django.utils.translation import gettext as _

from retrieval.core.query import clean
from retrieval.core.types import Mode
from vault.access import User, scope_for, visible_to
from vault.core.types import Scope

DEFAULT_LIMIT = 20


class Unreadable(ValueError):
    """A parameter that means nothing here; `str()` says which values would."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as wanted. `slugs` are the vaults it was narrowed to; none: all."""

    query: str
    mode: Mode
    scope: Scope
    limit: int
    slugs: tuple[str, ...] = ()


def read_asked(
    user: User, *, query: str, mode: str = "", slugs: Sequence[str] = (), limit: str | int = ""
) -> Asked:
    """Check and resolve what was asked. Raises Unreadable with what would be right.

    A vault that exists but may not be read is as unknown as one that does not.
    """
    named = tuple(dict.fromkeys(slug for slug in slugs if slug))
    _check_vaults(user, named)
    return Asked(
        query=clean(query),
        mode=_mode(mode),
        scope=scope_for(user, named or None),
        limit=_limit(limit),
        slugs=named,
    )


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


def _check_vaults(user: User, named: Sequence[str]) -> None:
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
