"""Where an answer that ended early goes on: its new words joined without doubled ones.

A model that goes on with a text is asked to repeat its last words first, so that it is
plain where the new ones belong, also in the middle of a word. Models do so more or less:
what they repeat is left out, and where they repeat nothing a missing space is put in.
"""

from __future__ import annotations

import regex

# Fewer characters may be the same by chance: "in" and "in|side".
LEAST_REPEATED = 3
TOLD_WORDS = 6
_LAST_WORDS = regex.compile(rf"(?:\S+[^\S\n]+){{0,{TOLD_WORDS - 1}}}\S+\s*\Z")
_WORD = regex.compile(r"\w")
# Scripts that put no space between words.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}、-〟！-｠]")
_BEGINS_WORD = regex.compile(r"[\w(\[“«„\"'`*]")
_ENDS_OPEN = regex.compile(r"[(\[{“«„`*_/\\@#-]\Z")


class Seam:
    """Takes what a model says after `kept`, and gives what is new in it.

    Words are held back for as long as they may repeat the end of `kept`; whatever the
    pieces they come in, the text is the same.
    """

    def __init__(self, kept: str) -> None:
        self._kept = kept
        self._held = ""
        self._is_joined = not kept

    def push(self, text: str) -> str:
        """The new words that are sure now."""
        if self._is_joined:
            return text
        self._held += text
        if self._held.strip() in self._kept:
            return ""
        return self.finish()

    def finish(self) -> str:
        """The new words that were held back: nothing more comes."""
        if self._is_joined:
            return ""
        self._is_joined = True
        return after(self._kept, self._held)


def after(kept: str, said: str) -> str:
    """What of `said` is to be put behind `kept`."""
    words, said_words = kept.rstrip(), said.lstrip()
    repeated = repeated_length(words, said_words)
    if repeated:
        rest = said_words[repeated:]
        return rest.lstrip(" ") if kept != words else rest
    if not kept or not said_words or kept != words or said != said_words:
        return said
    return f" {said}" if _needs_space(kept, said) else said


def repeated_length(kept: str, said: str) -> int:
    """How many characters at the beginning of `said` are whole last words of `kept`.

    The last one may be cut in the middle: `said` has the whole of it.
    """
    borders = _borders(f"{said}\0{kept}")
    most, length = min(len(kept), len(said)), borders[-1]
    while length >= LEAST_REPEATED:
        if length <= most and _begins_a_word(kept, len(kept) - length):
            return length
        length = borders[length - 1]
    return 0


def last_words(text: str) -> str:
    """The last few words of the last line, as a model is asked to repeat them."""
    found = _LAST_WORDS.search(text)
    return found[0].strip() if found else ""


def _borders(text: str) -> list[int]:
    """For each beginning of `text`: the longest one that is also its end (Knuth, Morris, Pratt)."""
    borders = [0] * len(text)
    for at in range(1, len(text)):
        length = borders[at - 1]
        while length and text[at] != text[length]:
            length = borders[length - 1]
        borders[at] = length + (text[at] == text[length])
    return borders


def _begins_a_word(text: str, at: int) -> bool:
    return at == 0 or not (_WORD.match(text[at - 1]) and _WORD.match(text[at]))


def _needs_space(kept: str, said: str) -> bool:
    if _UNSPACED.match(kept[-1]) or _UNSPACED.match(said[0]):
        return False
    return bool(_BEGINS_WORD.match(said)) and not _ENDS_OPEN.search(kept)
