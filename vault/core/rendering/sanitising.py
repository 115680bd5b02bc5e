"""The one allow-list that every piece of HTML passes, last."""

from __future__ import annotations

import nh3

_TEXT_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt",
    "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "ins", "kbd", "li", "mark", "ol",
    "p", "pre", "s", "section", "small", "span", "strong", "sub", "summary", "sup", "table",
    "tbody", "td", "th", "thead", "tr", "u", "ul",
}  # fmt: skip
_MATH_TAGS = {
    "math", "menclose", "merror", "mfrac", "mi", "mmultiscripts", "mn", "mo", "mover",
    "mpadded", "mphantom", "mprescripts", "mroot", "mrow", "ms", "mspace", "msqrt", "mstyle",
    "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr", "munder", "munderover",
}  # fmt: skip
# What latex2mathml writes, less href and style.
_MATH_ATTRIBUTES = {
    "accent", "accentunder", "align", "columnalign", "columnlines", "columnspacing", "depth",
    "display", "displaystyle", "fence", "form", "frame", "height", "largeop", "linethickness",
    "lspace", "mathcolor", "mathsize", "mathvariant", "maxsize", "minsize", "movablelimits",
    "notation", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy",
    "symmetric", "voffset", "width",
}  # fmt: skip
_ATTRIBUTES = {
    "*": {"class", "id"},
    "a": {"href", "title", "aria-label", "data-n", "data-where"},
    "details": {"open"},
    "img": {"src", "alt", "title", "width", "height", "loading"},
    "ol": {"start"},
    "pre": {"tabindex"},
    "span": {"title", "role", "aria-label"},
    "td": {"colspan"},
    "th": {"colspan", "scope"},
} | dict.fromkeys(_MATH_TAGS, _MATH_ATTRIBUTES)


def sanitise(html: str) -> str:
    """`html` with nothing in it that could run, load from elsewhere, or style itself.

    Pictures come from this site only. Links open on a click only, and tell nobody where
    the reader came from.
    """
    return _CLEANER.clean(html)


def _keep_own_pictures(tag: str, attribute: str, value: str) -> str | None:
    """A path of this site: one slash, and no way to read a host out of it."""
    if tag == "img" and attribute == "src":
        is_own = value.startswith("/") and not value.startswith(("//", "/\\"))
        return value if is_own else None
    return value


_CLEANER = nh3.Cleaner(
    tags=_TEXT_TAGS | _MATH_TAGS,
    clean_content_tags={"script", "style", "iframe", "object", "template"},
    attributes=_ATTRIBUTES,
    attribute_filter=_keep_own_pictures,
    link_rel="noreferrer nofollow noopener",
    url_schemes={"http", "https", "mailto", "tel"},
)
