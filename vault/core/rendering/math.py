"""LaTeX as MathML. What comes out still has to pass the sanitiser (`\\href` makes links)."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape

LONGEST_FORMULA = 4_000
# Braces nested deeper than people write, and below the limit of Python's stack.
DEEPEST_FORMULA = 40
# Environments that the library does not know, and the one it knows that looks the same.
_ENVIRONMENTS = {
    "aligned": "align*",
    "alignat": "align*",
    "alignat*": "align*",
    "alignedat": "align*",
    "dcases": "cases",
    "gather": "array",
    "gather*": "array",
    "gathered": "array",
    "multline": "array",
    "multline*": "array",
}
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([a-z]+\*?)\}(?:(?<=at\})\{\d+\}|(?<=at\*\})\{\d+\})?")
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)


@lru_cache(maxsize=2048)
def render_math(latex: str, *, is_display: bool) -> str:
    """MathML of `latex`, or the LaTeX itself where it cannot be read."""
    if len(latex) > LONGEST_FORMULA or _depth(latex) > DEEPEST_FORMULA:
        return _as_written(latex)
    from latex2mathml.converter import convert

    try:
        return str(convert(_known(latex), display="block" if is_display else "inline"))
    except Exception:  # noqa: BLE001 -- the library raises a dozen types for what people write
        return _as_written(latex)


def _known(latex: str) -> str:
    """`latex` in environments that the library knows."""

    def rename(found: re.Match[str]) -> str:
        name = _ENVIRONMENTS.get(found[2])
        if name is None:
            return found.group()
        columns = "{c}" if name == "array" and found[1] == "begin" else ""
        return f"\\{found[1]}{{{name}}}{columns}"

    return _ENVIRONMENT.sub(rename, latex)


def _depth(latex: str) -> int:
    depth = deepest = 0
    for match in _BRACES.finditer(latex):
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        deepest = max(deepest, depth)
    return deepest


def _as_written(latex: str) -> str:
    return f'<code class="formula">{escape(latex, quote=False)}</code>'
