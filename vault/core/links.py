"""Which note a link means, by Obsidian's rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from vault.core.names import file_name, folder_of, lookup_key, normalise_path, without_suffix
from vault.core.types import Heading

# What Obsidian replaces by a blank when it writes the heading of a link.
_ANCHOR_SIGNS = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")


class LinkIndex:
    """Every file of a vault by path, name and alias. Built once, asked often."""

    def __init__(self, paths_with_aliases: Mapping[str, Sequence[str]]) -> None:
        """Take the paths of a vault (notes and attachments) with the aliases of each."""
        self._by_path: dict[str, list[str]] = {}
        self._by_name: dict[str, list[str]] = {}
        self._by_alias: dict[str, list[str]] = {}
        for path in sorted(paths_with_aliases, key=lambda path: (path.count("/"), len(path), path)):
            for form in _forms(path):
                self._by_path.setdefault(_key(form), []).append(path)
                self._by_name.setdefault(_key(file_name(form)), []).append(path)
            for alias in paths_with_aliases[path]:
                self._by_alias.setdefault(lookup_key(alias), []).append(path)

    def resolve(self, target: str, *, source_path: str) -> str | None:
        """Path of the file that `target`, written in `source_path`, means; None if none.

        In this order: the source itself for an empty target; the exact path from the
        folder of the source for `./` and `../`, or from the root; the path relative to
        the source; the end of a path anywhere in the vault; an alias. Among several, one at
        or below the source's folder, then one spelled exactly so, then the shortest.
        """
        wanted = unicodedata.normalize("NFC", target).strip()
        if not wanted:
            return source_path
        folder = folder_of(source_path)
        if wanted.startswith("/"):
            return self._at(wanted, folder)
        is_relative = wanted.startswith(("./", "../"))
        if is_relative:
            return self._at(f"{folder}/{wanted}", folder)
        return (
            self._at(wanted, folder)
            or self._at(f"{folder}/{wanted}", folder)
            or self._ending_with(wanted, folder)
            or self._nearest(self._by_alias.get(lookup_key(wanted), []), wanted, folder)
        )

    def _at(self, path: str, folder: str) -> str | None:
        try:
            path = normalise_path(path)
        except ValueError:
            return None
        return self._nearest(self._by_path.get(_key(path), []), path, folder)

    def _ending_with(self, wanted: str, folder: str) -> str | None:
        try:
            wanted = normalise_path(wanted)
        except ValueError:
            return None
        named = self._by_name.get(_key(file_name(wanted)), [])
        ending = "/" + _key(wanted)
        matching = [
            path
            for path in named
            if any(f"/{_key(form)}".endswith(ending) for form in _forms(path))
        ]
        return self._nearest(matching, wanted, folder)

    def _nearest(self, paths: Sequence[str], wanted: str, folder: str) -> str | None:
        below = f"{folder}/" if folder else ""

        def rank(path: str) -> tuple[bool, bool, int, int, str]:
            spelled = unicodedata.normalize("NFC", path)
            is_spelled_so = spelled.endswith(wanted) or without_suffix(spelled).endswith(wanted)
            return (
                not path.startswith(below),
                not is_spelled_so,
                path.count("/"),
                len(path),
                path,
            )

        return min(paths, key=rank, default=None)


def _forms(path: str) -> tuple[str, ...]:
    """What a link may call a file: the whole of it, or without a suffix that says its kind."""
    # The bare form first would let `a.md` hide behind a folder note `a.md.md`.
    return tuple(dict.fromkeys((path, path.removesuffix(".md"), without_suffix(path))))


def heading_at(anchor: str, headings: Iterable[Heading], *, body: str = "") -> Heading | None:
    """The heading that a link's anchor means, as written, as shown, or as Obsidian writes it.

    Of `Heading#Sub` the last part counts. `body`, when given, lets an anchor made from the
    source of a heading, with the address of a link in it, be found as well.
    """
    wanted = _anchor_key(anchor)
    last = _anchor_key(anchor.rpartition("#")[2])
    listed = list(headings)
    for key in (wanted, last):
        for heading in listed:
            if key and key in {_anchor_key(heading.text), _anchor_key(_source(heading, body))}:
                return heading
    return None


def _source(heading: Heading, body: str) -> str:
    end = body.find("\n", heading.start)
    return body[heading.start : end if end >= 0 else len(body)]


def _anchor_key(text: str) -> str:
    plain = _ANCHOR_SIGNS.sub(" ", unicodedata.normalize("NFC", text))
    return plain.replace("_", " ").replace("-", " ").strip().casefold()


def _key(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())
