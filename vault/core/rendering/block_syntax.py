"""Obsidian's syntax of blocks: callouts, tasks, block ids, hidden comments."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from providers.core.callouts import CALLOUT
from vault.core.rendering.anchors import anchor_id

_CALLOUT = re.compile(rf"{CALLOUT}[ \t]*(?P<title>[^\n]*)(?:\n|$)")
_TASK = re.compile(r"\[(.)\][ \t]+(?=\S)")
# In an answer any other sign may be the number of a passage.
_PLAIN_TASK = re.compile(r"\[([ xX])\][ \t]+(?=\S)")
_BLOCK_ID = re.compile(r"(?:^|[ \t\n])\^([A-Za-z0-9-]{1,80})[ \t]*$")


def block_syntax(parser: MarkdownIt) -> None:
    """A markdown-it plugin with the rules of this module."""
    parser.block.ruler.before(
        "fence", "hidden_comment", hidden_comment, {"alt": ["paragraph", "blockquote"]}
    )
    # Before the inline rules: these change what the text of a block is.
    parser.core.ruler.after("block", "callouts", callouts)
    parser.core.ruler.after("callouts", "tasks", tasks)
    parser.core.ruler.after("tasks", "block_ids", block_ids)
    parser.core.ruler.after("inline", "heading_ids", heading_ids)


def answer_blocks(parser: MarkdownIt) -> None:
    """A markdown-it plugin: what of this a model writes too, callouts and plain tasks."""
    parser.core.ruler.after("block", "callouts", callouts)
    parser.core.ruler.after("callouts", "tasks", plain_tasks)


def hidden_comment(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001
    """A comment over several lines, `%%` … `%%` or `<!--` … `-->`."""
    line = _line(state, start)
    close = "%%" if line.startswith("%%") else "-->" if line.startswith("<!--") else ""
    if not close or close in line[2:] or not _is_ahead(state, close, start):
        return False
    for number in range(start + 1, end):
        if close in _line(state, number):
            if not silent:
                state.line = number + 1
            return True
    return False


def _is_ahead(state: StateBlock, close: str, line: int) -> bool:
    """Whether the sign that closes a comment stands below; looked for once in vain at most."""
    missing: set[str] = state.env.setdefault("missing_signs", set())
    if close not in missing and state.src.find(close, state.eMarks[line]) < 0:
        missing.add(close)
    return close not in missing


def _line(state: StateBlock, number: int) -> str:
    return state.src[state.bMarks[number] + state.tShift[number] : state.eMarks[number]]


def callouts(state: StateCore) -> None:
    """A quote that begins with `[!type]` becomes a callout with a title."""
    tokens: list[Token] = []
    closing: list[str] = []
    source = state.tokens
    index = 0
    while index < len(source):
        token = source[index]
        if token.type == "blockquote_open":
            match = _callout_at(source, index)
            closing.append("callout_close" if match else "blockquote_close")
            if match:
                tokens.extend(_open_callout(token, source[index + 2], match))
                index = _skip_title(source, index + 2, match)
                continue
        elif token.type == "blockquote_close":
            token.type = closing.pop()
        tokens.append(token)
        index += 1
    state.tokens = tokens
    _pair_callouts(tokens)


def _callout_at(tokens: list[Token], index: int) -> re.Match[str] | None:
    if index + 2 >= len(tokens) or tokens[index + 2].type != "inline":
        return None
    return _CALLOUT.match(tokens[index + 2].content)


def _open_callout(quote: Token, inline: Token, match: re.Match[str]) -> list[Token]:
    kind = match["kind"].strip().lower()
    fold = match["fold"]
    quote.type = "callout_open"
    quote.meta = {
        "kind": re.sub(r"[^a-z0-9-]", "-", kind),
        "is_foldable": bool(fold),
        "is_open": fold != "-",
    }
    title = Token("inline", "", 0, level=quote.level + 2, children=[], block=True)
    title.content = match["title"].strip() or kind.capitalize()
    title.map = [inline.map[0], inline.map[0] + 1] if inline.map else None
    tag = "summary" if fold else "p"
    return [
        quote,
        Token("callout_title_open", tag, 1, level=quote.level + 1, block=True),
        title,
        Token("callout_title_close", tag, -1, level=quote.level + 1, block=True),
    ]


def _skip_title(tokens: list[Token], index: int, match: re.Match[str]) -> int:
    """Where to go on: at the paragraph, less its first line, or behind it when it is empty."""
    inline = tokens[index]
    inline.content = inline.content[match.end() :]
    if not inline.content.strip():
        return index + 2
    lines = [tokens[index - 1], inline]
    for token in lines:
        token.map = [token.map[0] + 1, token.map[1]] if token.map else None
    return index - 1


def _pair_callouts(tokens: list[Token]) -> None:
    """Tell each end which element it ends."""
    opened: list[Token] = []
    for token in tokens:
        if token.type == "callout_open":
            opened.append(token)
        elif token.type == "callout_close":
            token.meta = opened.pop().meta


def tasks(state: StateCore) -> None:
    """`- [ ] open`, `- [x] done`, `- [/] half`: a box in front of the item's text."""
    _put_boxes(state, _TASK)


def plain_tasks(state: StateCore) -> None:
    """The same of `[ ]` and `[x]` alone."""
    _put_boxes(state, _PLAIN_TASK)


def _put_boxes(state: StateCore, sign: re.Pattern[str]) -> None:
    tokens: list[Token] = []
    for index, token in enumerate(state.tokens):
        is_first_text = (
            index >= 2
            and token.type == "inline"
            and state.tokens[index - 1].type == "paragraph_open"
            and state.tokens[index - 2].type == "list_item_open"
        )
        match = sign.match(token.content) if is_first_text else None
        if match:
            token.content = token.content[match.end() :]
            is_done = match[1] in "xX"
            state.tokens[index - 2].attrJoin("class", "task task-done" if is_done else "task")
            box = Token("task_box", "", 0, level=token.level)
            box.meta = {"sign": match[1]}
            tokens.append(box)
        tokens.append(token)
    state.tokens = tokens


def block_ids(state: StateCore) -> None:
    """`text ^id` gives its block an id; the sign itself is not shown."""
    for index, token in enumerate(state.tokens):
        if token.type != "inline" or index == 0:
            continue
        match = _BLOCK_ID.search(token.content)
        if match is None:
            continue
        token.content = token.content[: match.start()]
        owner = next(
            candidate
            for candidate in reversed(state.tokens[:index])
            if candidate.nesting == 1 and not candidate.hidden
        )
        owner.attrSet("id", anchor_id("^" + match[1]))


def heading_ids(state: StateCore) -> None:
    """An id for the first heading of each text."""
    seen: set[str] = set()
    for index, token in enumerate(state.tokens):
        if token.type != "heading_open" or "id" in token.attrs:
            continue
        ident = anchor_id(visible_text(state.tokens[index + 1].children or []))
        token.meta = {"id": ident}
        if ident not in seen:
            seen.add(ident)
            token.attrSet("id", ident)


def visible_text(children: list[Token]) -> str:
    """The words of inline tokens, without any markup."""
    words = {"text", "text_special", "code_inline", "math_inline"}
    return "".join(
        token.content if token.type in words else " " if token.type.endswith("break") else ""
        for token in children
    )
