"""Wild notes for property tests: pieces of Markdown in any order, and any text at all."""

from __future__ import annotations

from hypothesis import strategies as st

_LINES = [
    "# Top",
    "## Second ##",
    "### C#",
    "#",
    "#### ",
    "Setext",
    "===",
    "---",
    "***",
    "```",
    "```python",
    "~~~",
    "~~~~ js",
    "# not a heading",
    "    # code",
    "> quoted",
    "> ```",
    "> > deeper",
    "> [!note]- Callout",
    "- item",
    "- ```sh",
    "  more of it",
    "   - nested",
    "1. one",
    "- [ ] task",
    "| a | b |",
    "|---|---|",
    "| 1 | [[Note\\|n]] |",
    "<!-- comment -->",
    "<!--",
    "-->",
    "<div>",
    "</div>",
    "%%",
    "%% hidden %%",
    "text %%",
    "$$",
    "[^1]: footnote",
    "[ref]: http://example.org",
    "![p](data:image/png;base64," + "QUJD" * 20 + ")",
    "[[Link#Part|shown]] and [x](a%20b.md)",
    "`code # not` and #tag",
    "A sentence. Another one! A third?",
    "来月の棚卸し。次の文！最後",
    "ที่ประชุมตกลงเลื่อน กำหนด",
    "e\u0301\u0301 👩‍👩‍👧 नमस्ते",
    "word " * 60,
    "名" * 300,
    "x" * 700,
    "block ^id1",
    "",
    "",
    "\t",
    "\u200b",
]

lines = st.sampled_from(_LINES) | st.text(max_size=40)
notes = st.lists(lines, max_size=40).map("\n".join)
with_header = st.tuples(st.lists(lines, max_size=4).map("\n".join), notes).map(
    lambda parts: f"---\n{parts[0]}\n---\n{parts[1]}"
)
texts = st.text() | notes | with_header
