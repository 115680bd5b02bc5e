"""What a repository can be in the way of a reader. `str()` says why and what to do."""

from __future__ import annotations


class GitOffline(Exception):
    """It cannot be read just now; it may be later."""


class GitUnavailable(Exception):
    """It cannot be read until somebody decides or mends something."""


class AddressRefused(Exception):
    """The server's address may not be called from here."""


class FetchTooLarge(Exception):
    """The server sends more, or for longer, than a vault may cost."""
