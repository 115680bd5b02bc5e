"""How a callout begins, in Obsidian's form: a quote whose first line has `[!type]`."""

from __future__ import annotations

# Its type, what may be told of its look behind a bar, and whether it folds.
CALLOUT = r"\[!(?P<kind>[\w -]{1,40})(?:\|[^\]\n]{0,80})?\](?P<fold>[+-]?)"
