"""Code with colours by CSS class."""

from __future__ import annotations

from functools import lru_cache
from html import escape

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, _TokenType
from pygments.util import ClassNotFound

# Pygments reads 0.8 MB a second; longer code is shown without colours.
LONGEST_COLOURED = 60_000
LONGEST_LABEL = 24


def highlight_code(code: str, language: str, *, cited: tuple[int, int] | None = None) -> str:
    """A `<pre>` of `code` under the name of its language, coloured where it is known.

    `cited` are the characters of `code` to wrap in `<mark class="cited">`.
    """
    label = language[:LONGEST_LABEL]
    head = f'<div class="code-language">{escape(label)}</div>' if label else ""
    pieces = "".join(_piece(text, css, part) for text, css, part in _pieces(code, language, cited))
    return f'<div class="code-block">{head}<pre tabindex="0"><code>{pieces}</code></pre></div>\n'


def _pieces(code: str, language: str, cited: tuple[int, int] | None) -> list[tuple[str, str, bool]]:
    """(text, CSS class, is cited), cut where the cited characters begin and end."""
    start, end = cited or (0, 0)
    pieces = []
    offset = 0
    for text, css in _coloured(code, language):
        edges = [0, *sorted({min(max(edge - offset, 0), len(text)) for edge in (start, end)})]
        for left, right in zip(edges, [*edges[1:], len(text)], strict=True):
            if left < right:
                pieces.append((text[left:right], css, start <= offset + left < end))
        offset += len(text)
    return pieces


def _piece(text: str, css: str, is_cited: bool) -> str:  # noqa: FBT001 -- one of three columns
    html = escape(text, quote=False)
    html = f'<span class="{css}">{html}</span>' if css else html
    return f'<mark class="cited">{html}</mark>' if is_cited else html


def _coloured(code: str, language: str) -> list[tuple[str, str]]:
    lexer = _lexer(language.lower()) if 0 < len(code) <= LONGEST_COLOURED else None
    if lexer is None:
        return [(code, "")]
    pieces = [(text, _css_class(kind)) for kind, text in lexer.get_tokens(code)]
    # A lexer that drops or rewrites characters must not decide what a reader sees.
    return pieces if "".join(text for text, _ in pieces) == code else [(code, "")]


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    if not language:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _css_class(kind: _TokenType) -> str:
    while kind not in STANDARD_TYPES and kind.parent is not None:
        kind = kind.parent
    return STANDARD_TYPES.get(kind, "")
