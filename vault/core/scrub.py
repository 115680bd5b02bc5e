"""Secrets out of a text before anything stores, embeds, logs or sends it.

A secret becomes a typed mark, `⟦secret:jwt⟧`, so that a reader sees what stood there and
where. Formats that cannot be mistaken (keys of vendors, PEM, JWT, passwords in URLs) are
always replaced; what merely stands behind a label ("password: …") must look like a secret
and not like prose, a placeholder or a program.
"""

from __future__ import annotations

import base64
import binascii
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from vault.core import secret_shapes as shapes
from vault.core.labelled_secrets import find_labelled, looks_random
from vault.core.secret_spans import Span, merge_spans
from vault.core.types import Finding

# A replaced value may uncover another one ("key: <mark> token: …"); in practice one more
# look finds nothing. The bound keeps hostile text linear.
MOST_ROUNDS = 6
# Part of a note's indexed hash: raise it when the rules change, and files are read again.
SCRUBBER_VERSION = 3

_AUTHORIZATION = re.compile(
    r"\bauthorization[\"'`*]{0,3}\s{0,3}[:=|]\s{0,3}[\"'`]?"
    r"(?:(?:bearer|basic|token|apikey|api-key|digest|key)\s{1,3})?"
    r"(?P<value>[^\s\"'`⟦⟧<>|,]{6,2000})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\bbearer\s{1,3}[\"'`]?(?P<value>[\w.~+/=-]{16,2000})", re.IGNORECASE)
_BASIC = re.compile(r"\bbasic\s{1,3}[\"'`]?(?P<value>[A-Za-z0-9+/]{8,400}={0,2})", re.IGNORECASE)
_CURL_USER = re.compile(r"-(?:u|-user)[ =][\"']?[^\s:\"'⟦⟧]{1,60}:(?P<value>[^\s\"'⟦⟧]{3,200})")


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """A text without secrets, and where they stood.

    A finding's offsets are those of its mark in `text`; its line is the line of the text
    that was given, from 1. `taken` are the secrets themselves, one for each finding: to
    look for the same value elsewhere, never to be kept, shown or logged.
    """

    text: str
    findings: tuple[Finding, ...]
    taken: tuple[str, ...] = field(default=(), repr=False, compare=False)


def scrub(text: str, *, emails: bool = False) -> Scrubbed:
    """Replace every secret in `text` by a mark that names its kind.

    Scrubbing a scrubbed text changes nothing. Time grows with the length of the text.
    `emails` also replaces addresses.
    """
    spans: list[Span] = []
    for _ in range(MOST_ROUNDS):
        scrubbed = _replace(text, spans)
        found = _find_all(scrubbed.text, emails=emails)
        if not found:
            return scrubbed
        spans = merge_spans([*spans, *_in_original(found, spans, scrubbed.findings)])
    return _replace(text, spans)


def mark_for(kind: str) -> str:
    """What stands in the text in place of a secret of this kind."""
    return f"⟦secret:{kind}⟧"


def _find_all(text: str, *, emails: bool) -> list[Span]:
    """In order of trust: of two spans that overlap, the first names the kind."""
    finders = [_pem_keys, _tokens_of_vendors, _json_web_tokens, _url_passwords, _authorization]
    spans = [span for finder in finders for span in finder(text)]
    spans.extend(find_labelled(text))
    spans.extend(_year_passwords(text))
    if emails and "@" in text:
        spans.extend(Span(*match.span(), "email") for match in shapes.EMAIL.finditer(text))
    return spans


def _pem_keys(text: str) -> Iterator[Span]:
    """Closed blocks, and the key lines after a BEGIN whose END is missing."""
    if "PRIVATE KEY" not in text:
        return
    begins = [match.span() for match in shapes.PEM_BEGIN.finditer(text)]
    ends = [match.span() for match in shapes.PEM_END.finditer(text)]
    end_starts = [start for start, _ in ends]
    for index, (start, body) in enumerate(begins):
        next_begin = begins[index + 1][0] if index + 1 < len(begins) else len(text)
        place = bisect_left(end_starts, body)
        is_closed = place < len(ends) and ends[place][0] < next_begin
        stop = ends[place][1] if is_closed else _unclosed_end(text, body, next_begin)
        if shapes.PEM_BODY.search(text, body, stop):
            yield Span(start, stop, "private-key")


def _unclosed_end(text: str, position: int, limit: int) -> int:
    """Where the key lines after `position` end: the last line that holds a piece of key."""
    end = position
    empty_lines = 0
    while position < limit and empty_lines < 2:
        match = shapes.PEM_LINE.match(text, position, limit)
        if match is None or match.end() == position:
            break
        if match["key"]:
            end = match.end("key")
        empty_lines = 0 if match.group().strip() else empty_lines + 1
        position = match.end()
    return end


def _tokens_of_vendors(text: str) -> Iterator[Span]:
    for shape in shapes.VENDOR_SHAPES:
        if not any(hint in text for hint in shape.hints):
            continue
        for match in shape.pattern.finditer(text):
            # `ghp_xxxxxxxx…` and `sk-0000…` stand in manuals.
            if len(set(match.group()[8:])) > 2:
                yield Span(match.start(), match.end(), shape.kind)


def _json_web_tokens(text: str) -> Iterator[Span]:
    if "eyJ" in text:
        for match in shapes.JWT.finditer(text):
            yield Span(match.start(), match.end(), "jwt")


def _url_passwords(text: str) -> Iterator[Span]:
    for match in shapes.URL_PASSWORD.finditer(text):
        host = text[match.end() : match.end() + 100]
        if not shapes.is_example_login(match["user"], match["value"], host):
            yield Span(*match.span("value"), "url-password")


def _authorization(text: str) -> Iterator[Span]:
    """Credentials of HTTP headers and of curl."""
    folded = text.lower()
    rules: tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...] = (
        ("authorization", _AUTHORIZATION, _is_credential),
        ("bearer", _BEARER, _is_bearer_token),
        ("basic", _BASIC, _is_user_and_password),
        ("curl", _CURL_USER, _is_credential),
    )
    for hint, pattern, is_secret in rules:
        if hint in folded:
            for match in pattern.finditer(text):
                if is_secret(match["value"]):
                    yield Span(*match.span("value"), "authorization")


def _is_bearer_token(value: str) -> bool:
    return looks_random(value, minimum=16) and _is_credential(value)


def _is_credential(value: str) -> bool:
    value = value.strip(".,;:")
    is_word = value.isalpha() and (value.islower() or value.istitle())
    ordinary = value.lower().rstrip(".,;:") in shapes.ORDINARY_WORDS
    return not is_word and not ordinary and not shapes.PLACEHOLDER.search(value)


def _is_user_and_password(value: str) -> bool:
    try:
        decoded = base64.b64decode(value, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return False
    return ":" in decoded and decoded.isprintable()


def _year_passwords(text: str) -> Iterator[Span]:
    """`Company2026!`, but not `founded2026!`: the name is capitalised."""
    for year in shapes.YEAR.finditer(text):
        start, stop = max(0, year.start() - 32), year.end() + 56
        match = shapes.YEAR_PASSWORD.search(text, start, stop)
        if match and any(letter.isupper() for letter in match.group()):
            yield Span(*match.span(), "year-password")


def _replace(text: str, spans: list[Span]) -> Scrubbed:
    """Put marks in place of `spans`, which are sorted and apart."""
    pieces: list[str] = []
    findings: list[Finding] = []
    position = length = newlines = 0
    for span in spans:
        kept = text[position : span.start]
        mark = mark_for(span.kind)
        newlines += kept.count("\n")
        length += len(kept)
        findings.append(Finding(span.kind, newlines + 1, length, length + len(mark)))
        pieces += [kept, mark]
        length += len(mark)
        newlines += text.count("\n", span.start, span.end)
        position = span.end
    pieces.append(text[position:])
    taken = tuple(text[span.start : span.end] for span in spans)
    return Scrubbed("".join(pieces), tuple(findings), taken)


def _in_original(
    found: list[Span], spans: list[Span], marks: tuple[Finding, ...]
) -> Iterator[Span]:
    """Spans of the scrubbed text as spans of the text before: `marks` stand for `spans`."""
    mark_ends = [mark.end for mark in marks]

    def original(position: int) -> int:
        before = bisect_right(mark_ends, position)
        if before == 0:
            return position
        return spans[before - 1].end + position - mark_ends[before - 1]

    for span in found:
        yield Span(original(span.start), original(span.end), span.kind)
