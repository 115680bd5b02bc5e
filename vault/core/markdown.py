"""From the text of a note to its title, properties, headings, links, tags and blocks."""

from __future__ import annotations

from vault.core.front_matter import FrontMatter, distinct, is_placeholder, read_front_matter
from vault.core.inline import Inline, read_comments, read_inline, whole_wikilink
from vault.core.layout import Layout, Region, read_layout
from vault.core.names import file_name, without_suffix
from vault.core.plain_text import heading_text
from vault.core.types import BlockAnchor, BlockKind, Heading, LinkDraft, ParsedNote
from vault.core.yaml_values import texts_in

Span = tuple[int, int]


def parse_markdown(text: str, *, path: str) -> ParsedNote:
    """Read a scrubbed note with LF line ends. Never raises; doubts are warnings of the note.

    Title is the property, else the first heading of level 1, else the file's name. Links,
    tags and anchors in code, comments, formulas and raw HTML are not read.
    """
    header = read_front_matter(text)
    body = text[header.body_start :]
    layout = read_layout(body)
    inline = Inline()
    for region in layout.regions:
        _read_region(body, region, inline)
    headings = tuple(
        Heading(found.level, heading_text(found.source), found.start, found.line)
        for found in layout.headings
    )
    return ParsedNote(
        title=_title(header, headings, path),
        body=body,
        body_line=header.body_line,
        properties=header.properties,
        tags=distinct((*header.tags, *inline.tags)),
        aliases=header.aliases,
        headings=headings,
        links=(*_property_links(header), *_links(inline, layout)),
        warnings=header.warnings,
        anchors=tuple(
            BlockAnchor(name, start, layout.lines.line_at(start)) for name, start in inline.anchors
        ),
        blocks=tuple(layout.blocks),
        hidden=merged_spans([*inline.hidden, *layout.payloads]),
    )


def merged_spans(spans: list[Span]) -> tuple[Span, ...]:
    """The same characters as spans in order that do not touch."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _read_region(body: str, region: Region, into: Inline) -> None:
    text = body[region.start : region.end]
    if region.kind is BlockKind.HTML:
        read_comments(text, region.start, into)
    elif region.kind is BlockKind.COMMENT:
        opener, closer = text.find("%%"), text.rfind("%%")
        into.hidden.append((region.start + opener, region.start + closer + 2))
    elif region.kind is BlockKind.TABLE:
        # A code span or a comment does not reach into the next row.
        offset = region.start
        for row in text.split("\n"):
            read_inline(row, offset, into)
            offset += len(row) + 1
    else:
        read_inline(text, region.start, into)


def _title(header: FrontMatter, headings: tuple[Heading, ...], path: str) -> str:
    if header.title:
        return header.title
    for heading in headings:
        if heading.level == 1 and heading.text and not is_placeholder(heading.text):
            return heading.text
    return file_name(without_suffix(path))


def _property_links(header: FrontMatter) -> tuple[LinkDraft, ...]:
    """Properties that are a wikilink and nothing else, as Obsidian links them."""
    found = (whole_wikilink(text) for text in texts_in(header.properties))
    return tuple(
        LinkDraft(target=target, anchor=anchor, alias=alias)
        for target, anchor, alias in filter(None, found)
        if target
    )


def _links(inline: Inline, layout: Layout) -> tuple[LinkDraft, ...]:
    return tuple(
        LinkDraft(
            target=link.target,
            anchor=link.anchor,
            alias=link.alias,
            is_embed=link.is_embed,
            start=link.start,
            line=layout.lines.line_at(link.start),
        )
        for link in inline.links
    )
