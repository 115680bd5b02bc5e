"""What somebody typed, made safe and taken apart."""

from __future__ import annotations

import re
from dataclasses import dataclass

import regex

from retrieval.core.filters import Filter, take_filters
from retrieval.core.foreign import UNSPACED
from retrieval.core.question_words import without_question_words
from vault.core.folding import visible
from vault.core.lexical import query_tokens

# A megabyte of text costs PostgreSQL's parser 25 seconds and then fails; no real question
# is longer than this.
LONGEST_QUERY = 1_000
# Of what is typed with operators as much is read, so that none of them is overlooked.
LONGEST_TYPED = 20_000
# Each is a condition on every row that is looked at.
MOST_OPERATORS = 50

# Control characters but tab and newline, and lone surrogates: PostgreSQL text cannot hold
# NUL, UTF-8 cannot hold surrogates, and neither means anything to a reader.
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
# Quotes as word processors, telephones and other languages set them.
_QUOTED = re.compile('“([^“”"]*)”|„([^„“”"]*)[“”]|«([^«»"]*)»|»([^«»"]*)«')
# A minus excludes only in front of a word of two characters or more: `-v` and `--exclude`
# are options that people look for. Both in one pattern, so that a minus in a phrase, or at the
# end of one ("fish bowl"-shaped), excludes nothing.
_OPERATOR = re.compile(r'(?:(?<!\S)(?P<minus>-))?"(?P<said>[^"]*)"|(?<!\S)-(?P<out>[^\W_][^\s\"]+)')
_WIKILINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_IDENTIFIER = re.compile(r"(?=.*\d)(?=.*\D).{5,}", re.DOTALL)
_SIGN = re.compile(r"[^\w\s.,;:!?'’]|\w['’]\w")
_WORD = re.compile(r"\w*[^\W_]\w*")
_PLAIN_WORDS = re.compile(rf"(?:[^\W\d_{UNSPACED}]+(?:\s+|$))+")
_SYMBOL = regex.compile(r"[^\p{ASCII}\p{L}\p{M}\p{N}\p{P}\p{Z}\p{C}]")
_LONG_NUMBER = re.compile(r"(?<![\w.,-])\d{5,18}(?![\w-]|[.,]\d)")
_AROUND = "\"'`.,;:!?()[]{}<>«»“”* \t\n"
# The shape of an identifier: is_valid, QuerySet, --exclude, a.b, E012, ADMINS.
_SHAPED = re.compile(
    r"\w_\w|[a-z][A-Z]|^--?[A-Za-z]|[A-Za-z]-?\d|\d[A-Za-z]|\w[./:\\]\w|^[A-Z]{4,}$"
)
# What of Markdown may stand between two words: marks around them, the address of a link, the
# mark of a quote or a list at the beginning of a line.
_BETWEEN_WORDS = r"[]*_~`]*(?:\([^()\s]*\))?\s+(?:[>|]\s*)*[*_~`\[]*"
# Signs that keyboards have in one form and texts in others; a hyphen comes first in brackets.
_FORMS = ("'’‘ʼ", '"“”„', "-‐‑–—")
_MOST_NAMES, _LONGEST_NAME = 8, 100
_QUESTION_MARKS = ("?", "？", "؟", "՞")
_UNSPACED_CHARACTER = re.compile(f"[{UNSPACED}]")
# So many words beside its quotes make a question a sentence; two characters are about a word
# where no spaces are written.
_WORDS_OF_A_SENTENCE = 3
# Around a name in a heading: where it stands, and what it is.
_BEFORE = (
    r"(?:^|[>/:|–—]\s*|\y(?:class|def|function|method|setting|option|the)\s+)\W{0,3}(?:\w+\.)*"
)
_AFTER = r"(?:\([^()]*\))?\W{0,3}$"


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query ready for the arms.

    `text` is what is ranked by: everything but what is excluded. `phrases` must stand
    in a passage as written; what a question in a sentence has in quotes is `quoted`, and need
    not. A note that has one of the words `excluded`, or one of `excluded_phrases` as written,
    is left out. `filters` say which notes may be found at all. With filters, or where all is
    excluded, `text` may be empty. `left_out` characters at the end of a longer text are not
    searched.
    """

    text: str
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    excluded_phrases: tuple[str, ...] = ()
    left_out: int = 0
    quoted: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Runs of letters and digits, in order."""
        return tuple(_WORD.findall(self.text))

    @property
    def is_findable(self) -> bool:
        """Whether its text has something to look for: a word, or a sign that is no
        punctuation, such as an emoji."""
        return bool(_WORD.search(self.text) or _SYMBOL.search(self.text))

    @property
    def operators(self) -> int:
        """How many conditions it sets."""
        return sum(map(len, (self.phrases, self.excluded, self.filters, self.excluded_phrases)))

    @property
    def narrows(self) -> bool:
        """Whether some of what is near may not be found."""
        return bool(self.phrases or self.excludes or self.filters)

    @property
    def excludes(self) -> bool:
        """Whether notes are left out for words or phrases that they hold."""
        return bool(self.excluded or self.excluded_phrases)

    @property
    def is_filters_alone(self) -> bool:
        """Whether notes are to be listed rather than ranked: less those that are excluded."""
        return bool(self.filters) and not self.text

    @property
    def is_exclusions_alone(self) -> bool:
        """Whether it says only what is not to be found."""
        return self.excludes and not self.text and not self.filters

    @property
    def has_signs(self) -> bool:
        """Whether more was typed than words and the marks between them: `100%`, `don't`."""
        return bool(_SIGN.search(self.text))


def clean(text: str, *, most: int = LONGEST_QUERY) -> str:
    """`text` as PostgreSQL and UTF-8 can hold it, without characters that nobody sees, at most
    `most` characters."""
    return visible(_UNSTORABLE.sub(" ", text[: most * 2])).strip()[:most]


def parse_query(text: str, *, operators: bool = False) -> ParsedQuery:
    """Take `text` apart. Any string is a query: nothing raises.

    With `operators`, as on the search page, `"quoted phrases"`, `-words`, `-"phrases"` and
    `tag:`, `path:`, `after:` and `before:` become filters; but a question in a sentence quotes
    what it asks about, and its quotes are text. Without, as in chat, every character is text.
    What is excluded is never a part of `text`. Operators are read to LONGEST_TYPED characters,
    also where what is left of the text is longer than a search.
    """
    if not operators:
        return ParsedQuery(clean(text))
    whole, filters = take_filters(straight_quotes(clean(text, most=LONGEST_TYPED)))
    whole = whole.strip()
    found = list(_OPERATOR.finditer(whole))
    quoted = [(bool(m["minus"]), _squeeze(m["said"])) for m in found if m["said"]]
    phrases, unwanted = (
        tuple(
            dict.fromkeys(said for is_out, said in quoted if is_out is out and _WORD.search(said))
        )
        for out in (False, True)
    )
    excluded = tuple(dict.fromkeys(m["out"] for m in found if m["out"]))
    quotes = _is_sentence(whole, beside=_OPERATOR.sub(" ", whole))
    ranked = _squeeze(_OPERATOR.sub(_kept if quotes else _unquoted, whole))
    if not _WORD.search(ranked):
        is_narrowed = excluded or unwanted or filters
        ranked = "" if is_narrowed and not _SYMBOL.search(ranked) else whole
    kept = _cut(ranked)
    return ParsedQuery(
        kept,
        () if quotes else phrases,
        excluded,
        filters,
        unwanted,
        left_out=len(ranked) - len(kept),
        quoted=phrases if quotes else (),
    )


def _is_sentence(whole: str, *, beside: str) -> bool:
    """Whether `whole` is a question in a sentence, which quotes what it asks about (When was
    the song "Fog on the Tyne" released?): `beside` is what it says beside its quotes."""
    asks = whole.rstrip('" ').endswith(_QUESTION_MARKS) or without_question_words(beside) != beside
    unspaced = len(_UNSPACED_CHARACTER.findall(beside))
    spaced = len(_WORD.findall(_UNSPACED_CHARACTER.sub(" ", beside)))
    return asks and spaced + unspaced // 2 >= _WORDS_OF_A_SENTENCE


def _kept(operator: re.Match[str]) -> str:
    return " " if operator["minus"] or operator["out"] else operator[0]


def _unquoted(operator: re.Match[str]) -> str:
    """The words of a phrase, in their place among the others: order says something."""
    return " " if operator["minus"] or operator["out"] else f" {operator['said']} "


def straight_quotes(text: str) -> str:
    """`text` with pairs of typographic quotes as `"`, as operators are written with."""
    return _QUOTED.sub(lambda pair: f'"{pair[pair.lastindex or 0]}"', text)


def names_in(query: ParsedQuery) -> tuple[str, ...]:
    """What in a query may be the name of a note: all of it, phrases, wikilinks, identifiers.

    An identifier has a digit and something that is none, as `INV/2026/00037` and
    `2026-03-01` do; a bare year would name a note in every other question.
    """
    linked = [target.split("|")[0].split("#")[0] for target in _WIKILINK.findall(query.text)]
    identifiers = [word.strip("\"'`.,;:!?()[]{}<>«»“”") for word in query.text.split()]
    found = [word for word in identifiers if _IDENTIFIER.match(word)]
    return tuple(dict.fromkeys((query.text, *query.phrases, *query.quoted, *linked, *found)))


def identifiers_in(text: str) -> tuple[str, ...]:
    """The lexemes of whole identifiers in `text`, such as `cvezz2021zz3281` for CVE-2021-3281,
    and of long numbers.

    Their joints are written as letters (vault/core/lexical.py), which words have as well:
    `pizza` is none. A number of four digits is mostly a year.
    """
    words = {word.casefold() for word in _WORD.findall(text)}
    made = (token for token in query_tokens(text) if "zz" in token or "zx" in token)
    numbers = _LONG_NUMBER.findall(text)
    return tuple(dict.fromkeys((*(token for token in made if token not in words), *numbers)))


def sections_meant(query: ParsedQuery) -> tuple[str, ...]:
    """Regular expressions (PostgreSQL's) of headings that a section has whose name is asked for.

    A name is the whole of a short query, or what has the shape of an identifier in it:
    `QuerySet`, `is_valid`, `--exclude`, `a.b`, `ADMINS`. A heading is a name when it says
    nothing else, but for where it stands (`Settings > ADMINS`), what it is (`class QuerySet`)
    and brackets.
    """
    parts = [word.strip(_AROUND) for word in query.text.split()]
    whole = [query.text.strip(_AROUND)] if len(parts) <= _MOST_NAMES else []
    names = dict.fromkeys((*whole, *(part for part in parts if _SHAPED.search(part))))
    usable = [name for name in names if _WORD.search(name) and len(name) <= _LONGEST_NAME]
    return tuple(_BEFORE + phrase_pattern(name) + _AFTER for name in usable[:_MOST_NAMES])


def phrase_pattern(phrase: str) -> str:
    """A PostgreSQL regular expression that finds `phrase` whatever its white space, across the
    marks of Markdown between its words: the end of a quoted line, bold text, a link.

    Every character that is no letter, digit or underscore stands for itself, quotes and dashes
    of any form for each other.
    """
    return _BETWEEN_WORDS.join(map(_written, phrase.split()))


def is_of_plain_words(phrase: str) -> bool:
    """Whether PostgreSQL's parser finds the words of `phrase` wherever it stands: letters of
    scripts with spaces between words."""
    return bool(_PLAIN_WORDS.fullmatch(phrase))


def like_pattern(text: str) -> str:
    """A LIKE pattern that finds `text` anywhere, with its wildcards taken literally."""
    return "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"


def _written(word: str) -> str:
    """A regular expression for a word as it may be written."""
    return "".join(
        next((f"[{forms}]" for forms in _FORMS if char in forms), "")
        or re.sub(r"([^\w])", r"\\\1", char, flags=re.ASCII)
        for char in word
    )


def _cut(text: str) -> str:
    """At most LONGEST_QUERY characters, and whole words where there are any."""
    if len(text) <= LONGEST_QUERY:
        return text
    whole, blank, _rest = text[: LONGEST_QUERY + 1].rpartition(" ")
    return whole if blank and whole.strip() else text[:LONGEST_QUERY]


def _squeeze(text: str) -> str:
    return " ".join(text.split())
