"""How each token becomes HTML, for notes and answers alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from vault.core.rendering.anchors import anchor_id
from vault.core.rendering.code import highlight_code
from vault.core.rendering.math import render_math
from vault.core.rendering.targets import Resolve, Resolved, ShowEmbedded, resolve_nothing

# (tokens, index, env) -> HTML
Rule = Callable[[Sequence[Token], int, dict[str, Any]], str]

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_SIZE = re.compile(r"(\d{1,4})(?:x(\d{1,4}))?$")
_PDF_PAGE = re.compile(r" > page=(\d{1,6})$")
_REPLACED = re.compile(r"⟦secret:([a-z-]{1,40})⟧")
_REPLACED_HTML = (
    r'<span class="secret" title="A secret stood here. It was never stored.">⟦secret:\1⟧</span>'
)
# Obsidian's other names of a callout's kind.
_FAMILIES = {
    "summary": "abstract", "tldr": "abstract", "hint": "tip", "important": "tip",
    "check": "success", "done": "success", "help": "question", "faq": "question",
    "caution": "warning", "attention": "warning", "fail": "failure", "missing": "failure",
    "error": "danger", "cite": "quote",
}  # fmt: skip
_TASK_SIGNS = {" ": ("open", "open"), "x": ("done", "done"), "X": ("done", "done")}


def add_render_rules(parser: MarkdownIt) -> None:
    """Give `parser` the rules of this module."""
    for name, rule in _RULES.items():
        parser.add_render_rule(name, _as_method(rule))


def _as_method(rule: Rule) -> Callable[..., str]:
    def method(
        renderer: object, tokens: Sequence[Token], index: int, options: object, env: dict[str, Any]
    ) -> str:
        return rule(tokens, index, env)

    return method


def _resolve(env: dict[str, Any]) -> Resolve:
    return cast("Resolve", env.get("resolve", resolve_nothing))


def _link_open(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    href = str(tokens[index].attrs.get("href", ""))
    title = str(tokens[index].attrs.get("title", ""))
    if _SCHEME.match(href):
        return _outside_link(href, title)
    target, _, anchor = href.partition("#")
    return _inside_link(unquote(target), unquote(anchor), env)


def _outside_link(href: str, title: str) -> str:
    """A link that says where it leads before anybody follows it."""
    host = host_of(href)
    shown = f"{title} ({host})" if title and host else title or host
    return f'<a class="outside" href="{escape(href)}" title="{escape(shown)}">'


def host_of(address: str) -> str:
    """The host of an address, or what it has instead of one."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    return parts.hostname or parts.path


def _inside_link(target: str, anchor: str, env: dict[str, Any]) -> str:
    if not target:
        return f'<a class="link" href="#{escape(anchor_id(anchor))}">'
    resolved = _resolve(env)(target, is_embed=False)
    if resolved is None:
        return f'<a class="link broken" title="{escape(f"No note called {target}")}">'
    return f'<a class="link" href="{escape(_with_anchor(resolved.url, anchor))}">'


def _with_anchor(url: str, anchor: str) -> str:
    return f"{url}#{quote(anchor_id(anchor))}" if anchor else url


def _wikilink_open(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    meta = tokens[index].meta
    return _inside_link(meta["target"], meta["anchor"], env)


def _embed(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    """A picture of the vault, or a card that leads to the embedded note."""
    meta = tokens[index].meta
    resolved = _resolve(env)(meta["target"], is_embed=True) if meta["target"] else None
    if resolved is not None and resolved.is_image:
        return _picture(resolved, meta["alias"], meta["target"])
    link = _inside_link(meta["target"], meta["anchor"], env)
    # The size of a picture that is not there says nothing.
    shown = meta["target"] if _SIZE.match(meta["alias"]) else meta["shown"]
    return f'<span class="embed">{link}{escape(_page_in_words(shown))}</a></span>'


def _embed_card(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    """An embed that is a paragraph of its own: the embedded text under a link to its note."""
    meta = tokens[index].meta
    show = cast("ShowEmbedded | None", env.get("embedded"))
    html = show(meta["target"], meta["anchor"]) if show else ""
    if not html:
        return f"<p>{_embed(tokens, index, env)}</p>\n"
    link = _inside_link(meta["target"], meta["anchor"], env)
    title = meta["alias"] or _page_in_words(meta["shown"])
    return f'<div class="embed"><p class="embed-head">{link}{escape(title)}</a></p>\n{html}</div>\n'


def _page_in_words(shown: str) -> str:
    """`paper.pdf > page=2` as people say it."""
    return _PDF_PAGE.sub(r", page \1", shown)


def _image(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    source = str(tokens[index].attrs.get("src", ""))
    alt, _, size = tokens[index].content.rpartition("|")
    if not _SIZE.match(size):
        alt, size = tokens[index].content, ""
    if source.lower().startswith("data:"):
        return _placeholder("", alt or "picture inside the text")
    if _SCHEME.match(source):
        return _placeholder(source, alt)
    resolved = _resolve(env)(unquote(source), is_embed=True)
    if resolved is None or not resolved.is_image:
        return f'<span class="image-missing">{escape(alt or unquote(source))}</span>'
    return _picture(resolved, size, alt)


def _picture(resolved: Resolved, size: str, alt: str) -> str:
    match = _SIZE.match(size)
    width = f' width="{match[1]}"' if match else ""
    height = f' height="{match[2]}"' if match and match[2] else ""
    caption = escape(alt if match or not size else size)
    return f'<img src="{escape(resolved.url)}" alt="{caption}"{width}{height} loading="lazy">'


def _placeholder(source: str, alt: str) -> str:
    """What stands for a picture of another site, which is never loaded by itself."""
    host = host_of(source) if source else ""
    words = f"Picture from {host}" if host else "Picture"
    text = f"{words}: {alt}" if alt else words
    if not host or not source.lower().startswith(("http://", "https://")):
        return f'<span class="image-outside">{escape(text)}</span>'
    return f'<span class="image-outside">{_outside_link(source, "")}{escape(text)}</a></span>'


def _text(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    html = escape(tokens[index].content, quote=False)
    return _REPLACED.sub(_REPLACED_HTML, html)


def _fence(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    token = tokens[index]
    words = token.info.split(maxsplit=1)
    language = words[0].strip("{}.") if words else ""
    return highlight_code(token.content, language, cited=token.meta.get("cited"))


def _math(*, is_display: bool, tag: str) -> Rule:
    def rule(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
        html = render_math(tokens[index].content.strip(), is_display=is_display)
        css = "math display" if is_display else "math"
        return f'<{tag} class="{css}">{html}</{tag}>'

    return rule


def _cell_open(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    token = tokens[index]
    align = str(token.attrs.get("style", "")).removeprefix("text-align:")
    css = f' class="align-{align}"' if align in {"left", "center", "right"} else ""
    scope = ' scope="col"' if token.tag == "th" else ""
    return f"<{token.tag}{css}{scope}>"


def _footnote_caption(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    """The same number wherever the same footnote is named."""
    return f"[{tokens[index].meta['id'] + 1}]"


def _callout_open(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    token = tokens[index]
    ident = f' id="{escape(str(token.attrs["id"]))}"' if "id" in token.attrs else ""
    kind = token.meta["kind"]
    css = f'class="callout callout-{_FAMILIES.get(kind, kind)}"{ident}'
    if not token.meta["is_foldable"]:
        return f"<div {css}>\n"
    return f"<details {css}{' open' if token.meta['is_open'] else ''}>\n"


def _callout_close(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    return "</details>\n" if tokens[index].meta["is_foldable"] else "</div>\n"


def _callout_title_open(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    return f'<{tokens[index].tag} class="callout-title">'


def _callout_title_close(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    return f"</{tokens[index].tag}>\n"


def _task_box(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    sign = tokens[index].meta["sign"]
    css, said = _TASK_SIGNS.get(sign, ("other", f"marked {sign}"))
    shown = "" if css != "other" else escape(sign)
    label = escape(said)
    return f'<span class="box box-{css}" role="img" aria-label="{label}">{shown}</span>'


def _tag_open(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    tag_url = env.get("tag_url")
    name = tokens[index].meta["tag"]
    return f'<a class="tag" href="{escape(tag_url(name))}">' if tag_url else '<a class="tag">'


def _simple_tag(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    return str(tokens[index].meta["html"])


def _link_close(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    return "</a>"


def _cited_open(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    return '<mark class="cited">'


def _cited_anchor(tokens: Sequence[Token], index: int, env: dict[str, Any]) -> str:
    return '<mark class="cited cited-here"></mark>'


_RULES: dict[str, Rule] = {
    "callout_close": _callout_close,
    "callout_open": _callout_open,
    "callout_title_close": _callout_title_close,
    "callout_title_open": _callout_title_open,
    "cited_anchor": _cited_anchor,
    "cited_open": _cited_open,
    "code_block": _fence,
    "embed": _embed,
    "embed_card": _embed_card,
    "fence": _fence,
    "footnote_caption": _footnote_caption,
    "image": _image,
    "link_open": _link_open,
    "math_block": _math(is_display=True, tag="div"),
    "math_inline": _math(is_display=False, tag="span"),
    "math_inline_double": _math(is_display=True, tag="span"),
    "simple_tag": _simple_tag,
    "tag_close": _link_close,
    "tag_open": _tag_open,
    "task_box": _task_box,
    "td_open": _cell_open,
    "text": _text,
    "text_special": _text,
    "th_open": _cell_open,
    "wikilink_close": _link_close,
    "wikilink_open": _wikilink_open,
}
