"""The tree of errors: codes are unique, and each says what to mend."""

from __future__ import annotations

import re

from providers.core import errors
from providers.core.errors import ProviderError


def tree() -> list[type[ProviderError]]:
    """The errors of this module; apps above may add their own below them."""
    return [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, ProviderError)
    ]


def test_codes_are_unique_and_every_error_has_its_own_mend() -> None:
    kinds = tree()
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert len({kind.mend for kind in kinds}) == len(kinds)
    assert all(re.fullmatch(r"[a-z_]{4,30}", kind.code) for kind in kinds)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = re.findall(r"[├└]── (\w+) ", errors.__doc__ or "")
    assert set(drawn) == {kind.__name__ for kind in tree()} - {"ProviderError"}


def test_the_docstring_says_truly_what_is_permanent() -> None:
    permanent, _, transient = (errors.__doc__ or "").partition("transient:")
    for kind in set(tree()) - {ProviderError}:
        assert kind.permanent == (f" {kind.__name__} " in permanent), kind
        assert kind.permanent != (f" {kind.__name__} " in transient), kind
