"""Which missing note a new file is, when it was moved and edited at once.

Only what no other note says counts: daily notes of one template are alike and are not the
same. Two texts of which one was copied from the other are as alike as two versions of one
(release notes of neighbouring versions: up to 0.98), so likeness alone proves nothing: the
one must be gone, the other new, and no third may say it too. With a fifth of its sentences
rewritten a note keeps a likeness of 0.52 (median of 1,155 texts), with a third 0.41.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from zlib import crc32

# Characters of one shingle: three or four words, or a dozen signs of Chinese.
WIDTH = 16
# Shingles that are this note's own: about three sentences. Less is no proof.
LEAST_OWN = 120
LEAST_LIKENESS = 0.4
LONGEST = 100_000


def shingles(text: str) -> frozenset[int]:
    """Every run of WIDTH characters of a text, case and blanks apart, as numbers."""
    folded = unicodedata.normalize("NFC", text[:LONGEST]).casefold()
    plain = " ".join(folded.split()).encode("utf-32-le", "surrogatepass")
    size = WIDTH * 4
    return frozenset(crc32(plain[at : at + size]) for at in range(0, len(plain) - size + 1, 4))


def moved_pairs(
    missing: Mapping[str, str], arrived: Mapping[str, str], *, others: Iterable[str] = ()
) -> dict[str, str]:
    """Path of the new file by path of the missing note, where they are surely the same.

    All are texts by path; `others` are texts that stay. A path that differs in case or
    Unicode form alone is the same note whatever it says now. Otherwise most of what only
    these two say must be said by both; what a third text says too never counts, so of two
    copies neither is taken.
    """
    pairs = _same_names(missing, arrived)
    taken = set(pairs.values())
    old = {path: shingles(text) for path, text in missing.items()}
    new = {path: shingles(text) for path, text in arrived.items()}
    times_old, times_new = _times(old.values()), _times(new.values())
    common: set[int] = set()
    for text in others:
        common |= shingles(text)
    own_old = {path: _own(found, times_old) - common for path, found in old.items()}
    own_new = {path: _own(found, times_new) - common for path, found in new.items()}
    holder = {shingle: path for path, found in own_new.items() for shingle in found}
    for path, own in own_old.items():
        found = Counter(holder[shingle] for shingle in own if shingle in holder).most_common(1)
        if path in pairs or not found or found[0][0] in taken or len(own) < LEAST_OWN:
            continue
        target, shared = found[0]
        if shared >= LEAST_LIKENESS * len(own | own_new[target]):
            pairs[path] = target
            taken.add(target)
    return pairs


def _same_names(missing: Iterable[str], arrived: Iterable[str]) -> dict[str, str]:
    by_key: dict[str, list[str]] = {}
    for path in arrived:
        by_key.setdefault(_key(path), []).append(path)
    wanted = Counter(_key(path) for path in missing)
    return {
        path: by_key[_key(path)][0]
        for path in missing
        if wanted[_key(path)] == 1 and len(by_key.get(_key(path), ())) == 1
    }


def _key(path: str) -> str:
    return unicodedata.normalize("NFKC", path).casefold()


def _times(sets: Iterable[frozenset[int]]) -> Counter[int]:
    return Counter(shingle for found in sets for shingle in found)


def _own(found: frozenset[int], times: Counter[int]) -> set[int]:
    return {shingle for shingle in found if times[shingle] == 1}
