"""Titles of conversations: from the question at once, from a model when it gives a good one."""

from __future__ import annotations

import regex

from chat.core.marks import without_markers
from chat.core.refusals import is_refusal
from providers.core.callouts import CALLOUT

LONGEST = 60
LONGEST_FROM_MODEL = 80

TITLE_PROMPT = (
    "Write a title of at most six words for this conversation, in the language of the "
    "question. Answer with the title alone: no quotes, no full stop, no explanation."
)

_SENTENCE = regex.compile(r".+?(?:[.!?](?=\s|$)|[。！？])|.+", regex.DOTALL)
_THINKING = regex.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", regex.DOTALL | regex.IGNORECASE)
_LABEL = regex.compile(
    r"^(?:title|question|titel|titre|заголовок|назва)\s*[:：]\s*", regex.IGNORECASE
)
# How models begin when they talk about the task instead of doing it.
_CHATTER = regex.compile(
    r"^(?:here(?:'s| is| are)|sure\b|okay\b|ok[,.]|the user\b|let me\b"
    r"|i(?:'ll| will| need| should)\b|(?:http|error)\s*:?\s*\d{3}\b)|</?think",
    regex.IGNORECASE,
)
# A quote, a callout or an item, where a title was asked for.
_BEGINNING = regex.compile(rf"^(?:>\s*|[-*+]\s+|\d+[.)]\s+|{CALLOUT}\s*)+")
_MARKS = "*_#`~\"'“”„«»‘’ \t"


def title_from_question(question: str) -> str:
    """The first sentence of `question`, cut at a word, at most LONGEST graphemes."""
    text = " ".join(question.split())
    match = _SENTENCE.match(text)
    return _shorten(match[0] if match else text, LONGEST)


def title_from_model(output: str) -> str | None:
    """The title in a model's output, None when it is none."""
    text = without_markers(_THINKING.sub("", output))
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    line = _BEGINNING.sub("", line)
    line = _LABEL.sub("", line.strip(_MARKS)).strip(_MARKS)
    line = " ".join(line.split()).removesuffix(".").strip(_MARKS)
    if not line or _CHATTER.match(line) or is_refusal(line):
        return None
    return _shorten(line, LONGEST_FROM_MODEL)


def _shorten(text: str, longest: int) -> str:
    """`text`, or its beginning of at most `longest` graphemes, ended at a word with "…"."""
    graphemes = regex.findall(r"\X", text)
    if len(graphemes) <= longest and len(text) <= 200:
        return text
    cut = ""
    for grapheme in graphemes[: longest - 1]:
        if len(cut) + len(grapheme) > 199:  # the column holds 200 characters
            break
        cut += grapheme
    head, space, _ = cut.rpartition(" ")
    ends_at_word = text[len(cut) : len(cut) + 1] == " "
    if space and not ends_at_word and len(head) > len(cut) // 2:
        cut = head
    return cut.rstrip(" ,;:–—-") + "…"
