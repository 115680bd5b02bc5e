"""Pictures inside a vault: found by a note's embed, served as what they really are."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import lru_cache

from django.core.cache import cache

from vault.core.links import LinkIndex
from vault.core.types import Scope
from vault.models import Vault
from vault.sources import FileUnreadable, SourceOffline, SourceUnavailable, source_of

LARGEST_PICTURE = 20 * 1024 * 1024
# A folder is not walked again for every page that shows a picture.
KEEP_LIST_SECONDS = 60

# The first bytes decide, never the name: a page of HTML called x.png stays unseen.
_SIGNATURES: tuple[tuple[str, Callable[[bytes], bool]], ...] = (
    ("image/png", lambda data: data.startswith(b"\x89PNG\r\n\x1a\n")),
    ("image/jpeg", lambda data: data.startswith(b"\xff\xd8\xff")),
    ("image/gif", lambda data: data.startswith((b"GIF87a", b"GIF89a"))),
    ("image/webp", lambda data: data[:4] == b"RIFF" and data[8:12] == b"WEBP"),
    ("image/avif", lambda data: data[4:12] in (b"ftypavif", b"ftypavis")),
)


def picture_finder(vault: Vault, scope: Scope) -> Callable[[str, str], str | None]:
    """A function (target, path of the note) -> path of the picture that an embed means.

    Pictures in folders that `scope` does not open are as if they were not there: a page
    would tell where they lie. The folder is looked at when it is first called.
    """

    @lru_cache(maxsize=1)
    def index() -> LinkIndex:
        return LinkIndex(dict.fromkeys((it for it in _listed(vault) if is_open(it)), ()))

    def is_open(path: str) -> bool:
        return scope.opens(vault.pk, unicodedata.normalize("NFC", path))

    return lambda target, source_path: index().resolve(target, source_path=source_path)


def read_picture(vault: Vault, path: str) -> tuple[bytes, str] | None:
    """The bytes of a picture and its media type. None: there is none to show at `path`."""
    try:
        data = source_of(vault).read_picture(path, largest=LARGEST_PICTURE)
    except (FileUnreadable, SourceOffline, SourceUnavailable):
        return None
    media_type = next((kind for kind, is_it in _SIGNATURES if is_it(data)), None)
    return (data, media_type) if media_type else None


def _listed(vault: Vault) -> tuple[str, ...]:
    key = f"pictures:{vault.pk}"
    listed: tuple[str, ...] | None = cache.get(key)
    if listed is None:
        try:
            listed = source_of(vault).pictures()
        except (SourceOffline, SourceUnavailable):
            listed = ()
        cache.set(key, listed, KEEP_LIST_SECONDS)
    return listed
